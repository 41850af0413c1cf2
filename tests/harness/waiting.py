# SPDX-License-Identifier: Apache-2.0
"""Waiting for conditions. No test waits for time to pass."""

import os
import select
import time

from harness.sanitizers import SLOWNESS

TIMEOUT = 60 * SLOWNESS  # seconds until a test gives up on a condition


def wait_until(condition, what: str, interval: float = 0.01):
    """Returns the first true result of `condition`."""
    end = time.monotonic() + TIMEOUT
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"not within {TIMEOUT} s: {what}")
        time.sleep(interval)


class LineReader:
    """Reads lines from a descriptor. Gives up on a writer that writes nothing for `timeout` seconds."""

    def __init__(self, descriptor: int, timeout: float | None = TIMEOUT):
        self.descriptor, self.timeout, self.buffer, self.ended = descriptor, timeout, b"", False

    def next(self) -> str | None:
        """The next line, or None at the end."""
        while b"\n" not in self.buffer and not self.ended:
            poll = select.poll()
            poll.register(self.descriptor, select.POLLIN)
            if not poll.poll(self.timeout and self.timeout * 1000):
                raise AssertionError(f"no line within {self.timeout} s")
            chunk = os.read(self.descriptor, 65536)
            self.buffer, self.ended = self.buffer + chunk, not chunk
        if b"\n" not in self.buffer:
            return None
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()
