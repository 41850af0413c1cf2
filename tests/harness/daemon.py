# SPDX-License-Identifier: Apache-2.0
"""A daemon with its own runtime directory."""

import contextlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from harness.http_client import http_get
from harness.programs import TTMEMD
from harness.waiting import TIMEOUT, wait_until


class RuntimeDirectory:
    """A new one, or an empty directory that is there. Other users may enter it, as they may enter /run/ttmem."""

    def __init__(self, path: str | None = None):
        self.path = path or tempfile.mkdtemp(prefix="ttmem-")
        os.chmod(self.path, 0o755)
        self.announce, self.api, self.classic = (
            os.path.join(self.path, name) for name in ("announce.sock", "api.sock", "classic.sock"))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Daemon:
    """A running ttmemd that answers and, unless `until_scanned` is false, has scanned the host once."""

    def __init__(self, directory: RuntimeDirectory, *arguments: str, listen: str | None = "none", stdout=None,
                 until_scanned: bool = True):
        self.directory, self.api = directory, directory.api
        self.output, self.errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [TTMEMD, *(["--listen", listen] if listen else []), *arguments], stdin=subprocess.DEVNULL,
            stdout=stdout or self.output, stderr=self.errors,
            env=os.environ | {"TTMEM_RUNTIME_DIR": directory.path})
        self.pid = self.process.pid
        wait_until(self.answers, "the daemon answers")
        if until_scanned:
            wait_until(self.has_scanned, "the first scan is over")

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.error_text()}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            return http_get(self.api, "/v1/self")[1]["pid"] == self.pid
        return False

    def has_scanned(self) -> bool:
        return all(entry["code"] != "scan_running" for entry in self.view()["inexact"])

    def get(self, path: str) -> dict:
        """The document at `path`, which must be there."""
        try:
            status, answer = http_get(self.api, path)
        except (OSError, http.client.HTTPException) as problem:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)  # so that the message can report that the daemon has died
            state = f"the daemon: {self.process.poll()} {self.error_text()}"
            raise AssertionError(f"{path}: {problem!r}; {state}") from None
        assert status == 200, f"{path}: {status} {answer}"
        return answer

    def port(self) -> int:
        """Of a daemon that listens on 127.0.0.1:0."""
        return int(wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)", self.log()), "the log names the port")[1])

    def view(self) -> dict:
        return self.get("/v1/status")

    def pids(self) -> list[int]:
        return [process["pid"] for process in self.get("/v1/processes")["processes"]]

    def wait_for(self, *pids: int):
        wait_until(lambda: set(pids) <= set(self.pids()), f"{pids} are tracked")

    def wait_for_death(self, *pids: int):
        wait_until(lambda: not set(pids) & set(self.pids()), f"{pids} are gone")

    def wait_for_rounds(self, thread: str):
        """Waits until its thread with that name has waited twice, so it has done what there was to do before."""
        def rounds() -> int:
            for task in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{task}/status", encoding="utf-8") as file:
                    status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
                if status["Name"] == thread:
                    return int(status["voluntary_ctxt_switches"])
            raise AssertionError(f"the daemon has no thread {thread}")
        before = rounds()
        wait_until(lambda: rounds() >= before + 3, f"the thread {thread} has done its work")

    def log(self) -> str:
        """The complete lines of its standard output; the daemon may be writing the last one."""
        text = os.pread(self.output.fileno(), os.fstat(self.output.fileno()).st_size, 0)
        return text[:text.rfind(b"\n") + 1].decode()

    def error_text(self) -> str:
        return os.pread(self.errors.fileno(), 65536, 0).decode()

    def suspend(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def suspend_for(self, seconds: float):
        """For tests of what happens in that time; the time decides nothing else."""
        self.suspend()
        time.sleep(seconds)
        self.resume()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if not self.errors.closed:
            self.kill()
            self.output.close()
            self.errors.close()

    def stop(self, signal_number: int = signal.SIGTERM):
        """Stops it. It must end with 0, without error messages, and remove its sockets."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        code = self.process.wait(TIMEOUT)
        assert (code, self.error_text()) == (0, ""), f"the daemon ended with {code}: {self.error_text()}"
        left = [path for path in (self.directory.api, self.directory.announce) if os.path.exists(path)]
        assert not left, f"it left {left}"
