# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of a given size."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def written_to(command: list[str], environment: dict[str, str], rows: int = 24, columns: int = 80) -> str:
    """All that the command writes to somebody at a terminal, until it ends."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(command, stdout=slave, stderr=slave, env={"TERM": "xterm"} | environment)
    os.close(slave)
    seen = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(master)
    process.wait()
    return seen.decode()
