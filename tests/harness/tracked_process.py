# SPDX-License-Identifier: Apache-2.0
"""A tracked process that runs code which the test sends it."""

import ctypes
import json
import os
import signal
import socket
import sys
import tempfile
import textwrap
import traceback

from harness import libttmem  # loading it starts no tracking; the first call does, and only tracked processes call it
from harness.http_client import EventStream, http_get
from harness.programs import NO_RUNTIME_DIRECTORY
from harness.waiting import LineReader

# For a process whose segment is small enough to be copied and changed by hand.
SMALL_SEGMENT = {"TTMEM_NAMES": "16", "TTMEM_WRITERS": "2", "TTMEM_RING_RECORDS": "16", "TTMEM_SLOTS": "64"}

PR_SET_DUMPABLE = 4
COMMANDS, REPLIES = 3, 4  # descriptors of the process


def serve(names: dict):
    """Runs each line of code that arrives, and replies with what it assigns to `answer`."""
    lines = LineReader(COMMANDS, timeout=None)
    while (line := lines.next()) is not None:
        names["answer"] = None
        try:
            exec(json.loads(line), names)
            reply = {"answer": names["answer"]}
        except Exception:
            reply = {"error": traceback.format_exc()}
        os.write(REPLIES, json.dumps(reply).encode() + b"\n")


class TrackedProcess:
    """Runs `code`, then what run() and start() send it, with the calls of libttmem.py at hand.

    It is forked and executes no program, so that it can belong to any user: only root may be able to read the interpreter.
    """

    def __init__(self, code: str = "", runtime_directory: str = NO_RUNTIME_DIRECTORY, uid: int | None = None,
                 tracked: bool = True, **environment: str):
        commands, self.commands = os.pipe()
        self.reply_end, replies = os.pipe()
        self.replies, self.errors = LineReader(self.reply_end), tempfile.TemporaryFile()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._live(commands, replies, uid, {"TTMEM_RUNTIME_DIR": runtime_directory,
                                                "TT_ALLOC_TRACKING_ENABLED": "1" if tracked else "0"} | environment)
        os.close(commands)
        os.close(replies)
        self.code = None
        self.pending = 0
        self.answer = self.run(code)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _live(self, commands: int, replies: int, uid: int | None, environment: dict):
        code = 1
        try:
            os.dup2(self.errors.fileno(), 2)
            os.dup2(commands, COMMANDS)
            os.dup2(replies, REPLIES)
            os.closerange(5, 65536)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.environ.update(environment)
            if uid is not None:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # as after the execution of a program
            names = {name: getattr(libttmem, name) for name in dir(libttmem)}
            serve(names | {"ctypes": ctypes, "os": os, "signal": signal, "socket": socket, "sys": sys, "serve": serve,
                           "http_get": http_get, "EventStream": EventStream})
            code = 0
        except BaseException:  # whatever it is, the process must not go on as a second test
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def send(self, code: str):
        """Sends code that will never reply."""
        os.write(self.commands, json.dumps(textwrap.dedent(code)).encode() + b"\n")

    def start(self, code: str):
        """Starts `code` there without waiting for its end."""
        self.send(code)
        self.pending += 1

    def run(self, code: str):
        """Runs `code` there, and returns what it assigns to `answer`."""
        self.start(code)
        reply = {}
        while self.pending:
            line = self.replies.next()
            assert line is not None, f"process {self.pid} has ended: {self.error_text()}"
            reply, self.pending = json.loads(line), self.pending - 1
            assert "error" not in reply, reply["error"]
        return reply["answer"]

    def http_get(self, where: str | int, path: str, **headers: str) -> tuple[int, dict]:
        """A request that this process makes."""
        return tuple(self.run(f"answer = http_get({where!r}, {path!r}, **{headers!r})"))

    def error_text(self) -> str:
        return os.pread(self.errors.fileno(), 65536, 0).decode()

    def wait(self) -> int:
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def kill(self) -> int:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def hang_up(self):
        if self.commands is not None:
            os.close(self.commands)
            self.commands = None

    def close(self):
        if not self.errors.closed:
            self.kill()
            self.hang_up()
            os.close(self.reply_end)
            self.errors.close()

    def finish(self):
        """Lets it end. It must end with 0 and without error messages."""
        self.hang_up()
        assert (self.wait(), self.error_text()) == (0, ""), f"it ended with {self.code}: {self.error_text()}"
