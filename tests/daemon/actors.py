# SPDX-License-Identifier: Apache-2.0
"""Who plays on a test's host: the daemon in a runtime directory of its own, and processes for it to look at."""

import contextlib
import ctypes
import http.client
import json
import os
import shutil
import signal
import socket  # noqa: F401  (for what clients are told to do)
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback

from asking import PATIENCE, Lines, Stream, ask, wait_until  # noqa: F401
from figures import figures_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

import libttmem  # noqa: E402  (loading it starts nothing: a client's first call does, after its fork)

os.environ.setdefault("TTMEM_HOST_ROOT", "/no/boards/here")  # those of the machine are in no test
TTMEM, TTMEMD, SIM = (os.path.join(os.environ["TTMEM_BIN_DIR"], name) for name in ("ttmem", "ttmemd", "ttmem-sim"))


class RuntimeDirectory:
    """A fresh one. Others may look into it, as into /run/ttmem."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="ttmem-")
        os.chmod(self.path, 0o755)
        self.announce, self.api = (os.path.join(self.path, name) for name in ("announce.sock", "api.sock"))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Daemon:
    def __init__(self, directory: RuntimeDirectory, *arguments: str, listen: str | None = "none", stdout=None):
        self.directory, self.api = directory, directory.api
        self.output, self.errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [TTMEMD, *(["--listen", listen] if listen else []), *arguments], stdin=subprocess.DEVNULL,
            stdout=stdout or self.output, stderr=self.errors,
            env=os.environ | {"TTMEM_RUNTIME_DIR": directory.path})
        self.pid = self.process.pid
        wait_until(self.answers, "the daemon answers")

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.said_wrong()}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            return ask(self.api, "/v1/self")[1]["pid"] == self.pid
        return False

    def get(self, path: str) -> dict:
        try:
            status, answer = ask(self.api, path)
        except (OSError, http.client.HTTPException) as problem:
            self.process.poll() is None and time.sleep(1)  # so that the message tells whether it has died
            state = f"the daemon: {self.process.poll()} {self.said_wrong()}"
            raise AssertionError(f"{path}: {problem!r}; {state}") from None
        assert status == 200, f"{path}: {status} {answer}"
        return answer

    def view(self) -> dict:
        return self.get("/v1/status")

    def pids(self) -> list[int]:
        return [process["pid"] for process in self.get("/v1/processes")["processes"]]

    def wait_for(self, *pids: int):
        wait_until(lambda: set(pids) <= set(self.pids()), f"{pids} are tracked")

    def wait_for_death(self, *pids: int):
        wait_until(lambda: not set(pids) & set(self.pids()), f"{pids} are gone")

    def log(self) -> str:
        """The whole lines of it: the last may be on its way."""
        text = os.pread(self.output.fileno(), os.fstat(self.output.fileno()).st_size, 0)
        return text[:text.rfind(b"\n") + 1].decode()

    def said_wrong(self) -> str:
        return os.pread(self.errors.fileno(), 65536, 0).decode()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if not self.errors.closed:
            self.kill()
            self.output.close()
            self.errors.close()

    def stop(self, how: int = signal.SIGTERM):
        """Ends it in peace, which must be what it does: silent, with 0, its sockets gone."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        assert (code, self.said_wrong()) == (0, ""), f"the daemon ended with {code}: {self.said_wrong()}"
        left = [path for path in (self.directory.api, self.directory.announce) if os.path.exists(path)]
        assert not left, f"it left {left}"


class Client:
    """A tracked process that does what it is told, with the calls of libttmem.py at hand.

    It is forked and not started anew, so that it can be any user's: the interpreter may lie where only root can look.
    """

    def __init__(self, directory: RuntimeDirectory, body: str = "", uid: int | None = None, **environment: str):
        commands, self.commands = os.pipe()
        answers, told = os.pipe()
        self.answers, self.errors = Lines(answers), tempfile.TemporaryFile()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._live(commands, told, uid, {"TTMEM_RUNTIME_DIR": directory.path,
                                             "TT_ALLOC_TRACKING_ENABLED": "1"} | environment)
        os.close(commands)
        os.close(told)
        self.code = None
        self.pending = 0
        self.do(body)

    def _live(self, commands: int, told: int, uid: int | None, environment: dict):
        code = 1
        try:
            os.dup2(self.errors.fileno(), 2)
            os.dup2(commands, 3)
            os.dup2(told, 4)
            os.closerange(5, 65536)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.environ.update(environment)
            if uid is not None:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, as after a start
            names = {name: getattr(libttmem, name) for name in dir(libttmem)} | globals()
            self._obey(names)
            code = 0
        except BaseException:  # whatever it is, it must not go on as a second test
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def _obey(self, names: dict):
        lines = Lines(3, patience=None)
        while (line := lines.next()) is not None:
            names["answer"] = None
            try:
                exec(json.loads(line), names)
                reply = {"answer": names["answer"]}
            except Exception:
                reply = {"error": traceback.format_exc()}
            os.write(4, json.dumps(reply).encode() + b"\n")

    def tell(self, code: str):
        os.write(self.commands, json.dumps(textwrap.dedent(code)).encode() + b"\n")

    def begin(self, code: str):
        """Lets it run `code`, and does not wait for that."""
        self.tell(code)
        self.pending += 1

    def do(self, code: str):
        """Runs `code` there, and gives what it assigns to `answer`."""
        self.begin(code)
        reply = {}
        while self.pending:
            line = self.answers.next()
            assert line is not None, f"process {self.pid} has ended: {self.said_wrong()}"
            reply, self.pending = json.loads(line), self.pending - 1
            assert "error" not in reply, reply["error"]
        return reply["answer"]

    def ask(self, where: str | int, path: str, **headers: str) -> tuple[int, dict]:
        return tuple(self.do(f"answer = ask({where!r}, {path!r}, **{headers!r})"))

    def said_wrong(self) -> str:
        return os.pread(self.errors.fileno(), 65536, 0).decode()

    def wait(self) -> int:
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def kill(self):
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
            os.close(self.answers.descriptor)
            self.errors.close()

    def end(self):
        """Lets it end by itself, unharmed."""
        self.hang_up()
        assert (self.wait(), self.said_wrong()) == (0, ""), f"it ended with {self.code}: {self.said_wrong()}"


class Sim:
    """A simulated runtime that stands still at each step, and says what its allocators know."""

    def __init__(self, directory: RuntimeDirectory, scenario: str, *arguments: str, pause_at: str = "all"):
        self.truth_path = os.path.join(directory.path, f"truth-{time.monotonic_ns()}")
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [SIM, scenario, *arguments, "--pause-at", pause_at, "--truth", self.truth_path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            env=os.environ | {"TTMEM_RUNTIME_DIR": directory.path, "TT_ALLOC_TRACKING_ENABLED": "1"})
        self.pid, self.lines = self.process.pid, Lines(self.process.stdout.fileno())
        self.truth, self.step, self.printed = {}, None, []
        self.ended = False

    def proceed(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def pause(self) -> bool:
        """Waits until it stands still; false where it has ended."""
        while (line := self.lines.next()) is not None:
            self.printed.append(line)
            if line.startswith("paused: "):
                self.step = line.removeprefix("paused: ")
                with open(self.truth_path, encoding="utf-8") as file:
                    last = json.loads(file.read().splitlines()[-1])
                assert last["step"] == self.step, (last["step"], self.step)
                self.truth = figures_of(last["devices"])
                return True
        self.ended, self.truth = True, {}
        return False

    def next(self) -> bool:
        if self.step is not None:
            self.proceed()
        return self.pause()

    def said_wrong(self) -> str:
        return os.pread(self.errors.fileno(), 65536, 0).decode()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.ended, self.truth = True, {}

    def close(self):
        if not self.errors.closed:
            self.kill()
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()

    def end(self):
        """Lets it run to its end, unharmed."""
        self.process.stdin.close()  # from here on it stands still no more
        while self.lines.next() is not None:
            pass
        self.ended, self.truth = True, {}
        code = self.process.wait(PATIENCE)
        assert (code, self.said_wrong()) == (0, ""), f"the simulated process ended with {code}: {self.said_wrong()}"
