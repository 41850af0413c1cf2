# SPDX-License-Identifier: Apache-2.0
"""Questions to a daemon over HTTP, and waiting for what must come about."""

import http.client
import json
import os
import select
import socket
import time

PATIENCE = 60  # seconds, for whatever must come about; nothing is waited for longer than it takes


def wait_until(condition, what: str):
    """Gives the first true answer of `condition`."""
    end = time.monotonic() + PATIENCE
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.01)


class Lines:
    """Reads lines from a descriptor, and gives up on a writer that says nothing for too long."""

    def __init__(self, descriptor: int, patience: float | None = PATIENCE):
        self.descriptor, self.patience, self.buffer, self.ended = descriptor, patience, b"", False

    def next(self) -> str | None:
        while b"\n" not in self.buffer and not self.ended:
            poll = select.poll()
            poll.register(self.descriptor, select.POLLIN)
            if not poll.poll(self.patience and self.patience * 1000):
                raise AssertionError(f"no line within {self.patience} s")
            chunk = os.read(self.descriptor, 65536)
            self.buffer, self.ended = self.buffer + chunk, not chunk
        if b"\n" not in self.buffer:
            return None
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(where: str | int, path: str, **headers: str) -> tuple[int, dict]:
    """Status and document of one question, to a Unix socket or to a port."""
    connection = UnixConnection(where) if isinstance(where, str) else \
        http.client.HTTPConnection("127.0.0.1", where, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


class Stream:
    """A stream of server-sent events, message by message."""

    def __init__(self, where: str, path: str, **headers: str):
        self.connection = UnixConnection(where)
        self.connection.request("GET", path, headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()

    def next(self) -> dict:
        message = {}
        while True:
            line = self.response.readline().decode().rstrip("\n")
            if line.startswith(":"):
                continue
            if not line and "data" in message:
                return message | {"data": json.loads(message["data"])}
            if line:
                name, value = line.split(": ", 1)
                message[name] = value

    def close(self):
        self.response.close()
        self.connection.close()
