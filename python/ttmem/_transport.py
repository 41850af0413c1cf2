# SPDX-License-Identifier: Apache-2.0
"""How a question reaches ttmem: over the daemon's Unix socket or TCP, or by running the `ttmem` program where no daemon runs.
Each question has its own connection or process, so threads and forked children need no care."""

from __future__ import annotations

import errno
import os
import stat
import time

from ._errors import (
    TtmemBadRequest,
    TtmemError,
    TtmemNotFound,
    TtmemNotPermitted,
    TtmemNotRunning,
    TtmemNotSupported,
    TtmemTimeout,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import http.client
    import socket
    from typing import Any, Iterator, Mapping

    Parameters = Mapping[str, str]

_ERRORS: dict[int, type[TtmemError]] = {
    400: TtmemBadRequest,
    401: TtmemNotPermitted,
    403: TtmemNotPermitted,
    404: TtmemNotFound,
}
_LONGEST_PATH = 107  # of a Unix socket


# Exit codes of `ttmem` (docs/CLI.md).
_USAGE_ERROR, _NOT_FOUND, _UNKNOWN_COMMAND = 2, 4, 5


class NoDaemon(Exception):
    """No daemon answers at any of the sockets."""


def runtime_directories() -> list[str]:
    """Where a daemon's sockets may be: the rule of all programs of ttmem."""
    named = os.environ.get("TTMEM_RUNTIME_DIR")
    if named:
        return [named]
    directories = ["/run/ttmem"]
    own = os.environ.get("XDG_RUNTIME_DIR")
    if own:
        directories.append(f"{own}/ttmem")
    else:
        in_tmp = f"/tmp/ttmem-{os.geteuid()}"
        try:
            info = os.lstat(in_tmp)
        except OSError:
            return directories
        if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid():
            directories.append(in_tmp)
    return directories


class Deadline:
    """The end of the time for an answer."""

    def __init__(self, timeout: float) -> None:
        if not isinstance(timeout, (int, float)) or timeout <= 0:
            raise TtmemBadRequest(f"timeout is {timeout!r}: must be a number of seconds above 0")
        self.timeout = timeout
        self.restart()

    def restart(self) -> None:
        self._end = time.monotonic() + self.timeout

    def left(self) -> float:
        """Seconds. Never 0, which would mean not to wait for anything."""
        return max(self._end - time.monotonic(), 1e-6)


def _connect_to_path(path: str, deadline: Deadline) -> socket.socket:
    import socket
    import struct

    end = socket.socket(socket.AF_UNIX)
    try:
        # A limit of Python's would make connect() fail at once where the daemon's queue is full; this one lets it wait.
        seconds = max(deadline.left(), 0.001)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", int(seconds), int(seconds % 1 * 1_000_000)))
        end.connect(path)
    except BaseException:
        end.close()
        raise
    return end


def _addresses(host: str, port: int, deadline: Deadline) -> list[Any]:
    """Name servers have timeouts of their own, so another thread asks them."""
    import socket
    import threading

    found: list[Any] = []

    def ask() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            found.append(error)

    thread = threading.Thread(target=ask, name="ttmem name lookup", daemon=True)
    thread.start()
    thread.join(deadline.left())
    if not found:
        raise TimeoutError
    if isinstance(found[0], OSError):
        raise found[0]
    return found


def _connect_to_host(host: str, port: int, deadline: Deadline) -> socket.socket:
    import socket

    problem = OSError("it has no address")
    for family, kind, protocol, _, address in _addresses(host, port, deadline):
        end = socket.socket(family, kind, protocol)
        try:
            end.settimeout(deadline.left())
            end.connect(address)
            return end
        except OSError as error:
            end.close()
            problem = error
    raise problem


def _with_deadline(end: socket.socket, deadline: Deadline) -> socket.socket:
    """The same socket, which fails with TimeoutError once this time is over, however little it receives at a time."""
    import socket

    class SocketWithDeadline(socket.socket):
        def recv_into(self, *arguments: Any) -> int:
            self.settimeout(deadline.left())
            return super().recv_into(*arguments)

    same = SocketWithDeadline(end.family, end.type, end.proto, end.detach())
    same.settimeout(deadline.left())
    return same


def _connection(end: socket.socket, host: str, deadline: Deadline) -> "http.client.HTTPConnection":
    import http.client

    connection = http.client.HTTPConnection(host)
    connection.sock = _with_deadline(end, deadline)
    return connection


class Daemon:
    """The daemon at `url` (`http://host:9479`) or at the first Unix socket where one answers."""

    def __init__(self, socket_path: str | None, url: str | None, token: str | None) -> None:
        self._socket_path, self._url, self._token = socket_path, url, token

    @property
    def is_fixed(self) -> bool:
        """The caller named the daemon, so no other way may answer."""
        return self._socket_path is not None or self._url is not None

    def _connect(self, deadline: Deadline) -> "http.client.HTTPConnection":
        from urllib.parse import urlsplit

        if self._url is not None:
            try:
                parts = urlsplit(self._url)
                host, port = parts.hostname if parts.scheme == "http" else None, parts.port or 9479
            except ValueError:
                host = None
            if not host:
                raise TtmemBadRequest(f"'{self._url}': must be an address such as http://127.0.0.1:9479")
            try:
                return _connection(_connect_to_host(host, port, deadline), f"[{host}]" if ":" in host else host, deadline)
            except TimeoutError:
                raise TtmemTimeout(f"{self._url} accepted no connection within {deadline.timeout} s: is the address right?") from None
            except OSError as error:
                raise _without_files(error) or self._gone(error) from error
        paths = [self._socket_path] if self._socket_path else [f"{each}/api.sock" for each in runtime_directories()]
        for path in paths:
            try:
                return _connection(_connect_to_path(path, deadline), "localhost", deadline)
            except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
                continue
            except BlockingIOError:
                raise TtmemTimeout(
                    f"the daemon at {path} accepted no connection within {deadline.timeout} s: 'ttmem self' shows whether it keeps up"
                ) from None
            except PermissionError:
                raise TtmemNotPermitted(f"{path} is closed to this user: ask the administrator for access to it") from None
            except OSError as error:
                if len(os.fsencode(path)) > _LONGEST_PATH:
                    raise TtmemBadRequest(
                        f"{path}: the path of a socket has at most {_LONGEST_PATH} bytes; give a shorter 'socket' or TTMEM_RUNTIME_DIR"
                    ) from None
                raise _without_files(error) or self._gone(error) from error
        raise NoDaemon(", ".join(paths))

    def _respond(self, connection: "http.client.HTTPConnection", target: str, headers: Mapping[str, str]) -> "http.client.HTTPResponse":
        all_headers = dict(headers)
        if self._token:
            all_headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request("GET", target, headers=all_headers)
        except BrokenPipeError:
            pass  # it has answered already, and closed: too many connections
        except ValueError:
            raise TtmemBadRequest("the token of this client can't be sent: it must be one line of plain characters") from None
        return connection.getresponse()

    def get(self, target: str, timeout: float) -> Any:
        """The document at an address such as `/v1/status?scan=false`."""
        import http.client
        import json

        connection = self._connect(Deadline(timeout))
        try:
            response = self._respond(connection, target, {})
            body = response.read()
        except TimeoutError:
            raise TtmemTimeout(f"the daemon gave no answer to {target} within {timeout} s: 'ttmem self' shows whether it keeps up") from None
        except (OSError, http.client.HTTPException) as error:
            raise self._gone(error) from error
        finally:
            connection.close()
        if response.status != 200:
            raise _refusal(response.status, body, target)
        try:
            return _object(json.loads(body))
        except ValueError:
            raise self._other(target) from None

    def stream(self, target: str, timeout: float) -> Iterator[tuple[str, Any]]:
        """Messages of a stream: their event and document. The daemon sends a comment every 10 s, so a timeout without a whole message or
        comment means that it hangs."""
        import http.client
        import json

        deadline = Deadline(timeout)
        connection = self._connect(deadline)
        try:
            response = self._respond(connection, target, {"Accept": "text/event-stream"})
            if response.status != 200:
                raise _refusal(response.status, response.read(), target)
            event, data = "message", ""
            while line := response.readline():
                name, _, value = line.decode().rstrip("\r\n").partition(":")
                value = value.removeprefix(" ")
                if name == "event":
                    event = value
                elif name == "data":
                    data += value
                elif not name and not value and data and line in (b"\n", b"\r\n"):
                    yield event, json.loads(data)
                    deadline.restart()
                    event, data = "message", ""
                elif line.startswith(b":"):
                    deadline.restart()
        except TtmemError:
            raise
        except TimeoutError:
            raise TtmemTimeout(f"the stream of the daemon brought nothing for {timeout} s: 'ttmem self' shows whether it keeps up") from None
        except ValueError:
            raise self._other(target) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._gone(error) from error
        finally:
            connection.close()
        raise TtmemNotRunning("the daemon ended the stream: it was stopped, or this reader was too slow; ask again")

    @property
    def _where(self) -> str:
        return self._url or self._socket_path or "the socket of the daemon"

    def _gone(self, error: Exception) -> TtmemError:
        return TtmemNotRunning(f"the daemon at {self._where} closed the connection early ({error}); start it with 'systemctl start ttmemd'")

    def _other(self, target: str) -> TtmemError:
        return TtmemError(f"what answers {target} at {self._where} is no daemon of ttmem: give its 'socket' or 'url'")


def _object(answer: Any) -> Any:
    """Every answer is a JSON object."""
    if not isinstance(answer, dict):
        raise ValueError
    return answer


def _without_files(error: OSError) -> TtmemError | None:
    if error.errno not in (errno.EMFILE, errno.ENFILE):
        return None
    return TtmemError(f"no file is left for a question ({error.strerror}): close files, or raise the limit with 'ulimit -n'")


def _refusal(status: int, body: bytes, target: str) -> TtmemError:
    import json

    try:
        answer = json.loads(body)
        text, code = answer["error"], answer.get("code")
    except (ValueError, KeyError, TypeError, AttributeError):
        text, code = f"the daemon answered {status} to {target}", None
    if code == "unknown_address":
        return TtmemNotSupported(f"the daemon does not know {target.partition('?')[0]}: {text}")
    return _ERRORS.get(status, TtmemError)(str(text))


class Program:
    """The `ttmem` program, which reads the host directly."""

    def __init__(self, path: str | None) -> None:
        self._path = path

    def run(self, arguments: list[str], timeout: float, answers: tuple[int, ...] = (0,)) -> Any:
        """The document that it prints; `answers` are the exit codes with a document."""
        import json
        import shutil
        import subprocess

        path = self._path or os.environ.get("TTMEM_PROGRAM") or shutil.which("ttmem")
        if path is None:
            raise TtmemNotRunning(
                "no daemon answers at " + ", ".join(runtime_directories()) + ", and the program 'ttmem' is not in PATH: "
                "install the package ttmem, or start the daemon with 'systemctl start ttmemd'"
            )
        # A preloaded observer belongs to the user's program, not to ttmem's own.
        environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "TT_ALLOC_TRACKING_ENABLED")}
        try:
            done = subprocess.run(
                [path, *arguments, "--json"], capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, env=environment, check=False
            )
        except subprocess.TimeoutExpired:
            raise TtmemTimeout(f"'ttmem {' '.join(arguments)}' took longer than {timeout} s") from None
        except OSError as error:
            if (missing := _without_files(error)) is not None:
                raise missing from error
            raise TtmemNotRunning(f"{path} can't be run: {error.strerror}; set TTMEM_PROGRAM to the path of 'ttmem'") from error
        if done.returncode in answers:
            try:
                return _object(json.loads(done.stdout))
            except ValueError:
                raise TtmemError(f"{path} printed no JSON: set TTMEM_PROGRAM to the path of 'ttmem'") from None
        text = done.stderr.decode(errors="replace").strip().removeprefix("ttmem: ") or f"it ended with {done.returncode}"
        if done.returncode == _UNKNOWN_COMMAND:
            raise TtmemNotSupported(f"{path} is older than this call: {text.splitlines()[0]}; update the package ttmem")
        raise {_USAGE_ERROR: TtmemBadRequest, _NOT_FOUND: TtmemNotFound}.get(done.returncode, TtmemError)(text)
