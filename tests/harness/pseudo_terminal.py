# SPDX-License-Identifier: Apache-2.0
"""The output of a program on a terminal of a given size."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def output_of(command: list[str], environment: dict[str, str], rows: int = 24, columns: int = 80) -> str:
    """Everything that the command writes to the terminal until it ends."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(command, stdout=slave, stderr=slave, env={"TERM": "xterm"} | environment)
    os.close(slave)
    output = read_to_end(master)
    os.close(master)
    process.wait()
    return output.decode()


def read_to_end(master: int) -> bytes:
    """All that comes from a terminal until the other end is closed."""
    output = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end is closed
            return output
        if not chunk:
            return output
        output += chunk
