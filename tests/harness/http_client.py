# SPDX-License-Identifier: Apache-2.0
"""HTTP requests to a daemon, over its Unix socket or a TCP port."""

import contextlib
import http.client
import json
import socket

from harness.waiting import TIMEOUT


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str):
        super().__init__("localhost", timeout=TIMEOUT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)  # without a time limit: connect() fails at once on a full queue if there is one
        self.sock.settimeout(self.timeout)


def http_get_text(where: str | int, path: str, **headers: str) -> tuple[int, str, str]:
    """Status, content type and body of the answer; `where` is the path of a Unix socket or a port."""
    connection = UnixConnection(where) if isinstance(where, str) else \
        http.client.HTTPConnection("127.0.0.1", where, timeout=TIMEOUT)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read().decode()


def http_get(where: str | int, path: str, **headers: str) -> tuple[int, dict]:
    """Status and JSON document of the answer."""
    status, _, text = http_get_text(where, path, **headers)
    return status, json.loads(text)


class EventStream:
    """A stream of server-sent events, read message by message."""

    def __init__(self, socket_path: str, path: str, **headers: str):
        self.connection = UnixConnection(socket_path)
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
