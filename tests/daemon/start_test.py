#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start and stop of the daemon: what it refuses and why, what TCP clients may read, and that it leaves nothing behind."""

import contextlib
import ctypes
import os
import platform
import re
import signal
import socket
import struct
import subprocess

from harness.figures import figures_of
from harness.http_client import EventStream, http_get
from harness.programs import TTMEMD
from harness.test_case import TestCase, main
from harness.waiting import TIMEOUT, wait_until

TOKEN = "a-token-of-some-length"


def slice_ns(thread: int) -> int:
    """How long the kernel lets a thread run before others; 0 where that is the same for all."""
    attributes = ctypes.create_string_buffer(48)  # struct sched_attr; the time is its third pair of words
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall({"x86_64": 315, "aarch64": 275}[platform.machine()], thread, attributes, len(attributes), 0) != 0:
        raise OSError(ctypes.get_errno(), "sched_getattr")
    return struct.unpack_from("=Q", attributes, 24)[0]


class Start(TestCase):
    def refused(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run([TTMEMD, *arguments], capture_output=True, text=True, timeout=TIMEOUT,
                              env=os.environ | {"TTMEM_RUNTIME_DIR": self.directory.path})
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.returncode, done.stderr

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.directory.path, name)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_second_daemon_refuses_to_start_and_names_the_first(self):
        daemon = self.daemon()
        code, words = self.refused("--listen", "none")
        self.assertEqual(code, 1)
        self.assertRegex(words, rf"^ttmemd: another daemon \(process {daemon.pid}\) runs in {self.directory.path} ")
        self.assertEqual(daemon.get("/v1/health")["status"], "ok")
        self.assertTrue(os.path.exists(self.directory.announce))

    def test_the_thread_that_answers_gets_a_processor_sooner_than_others(self):
        own = slice_ns(os.getpid())
        if own == 0:
            self.skipTest("this kernel has one slice for all threads")
        self.assertLess(slice_ns(self.daemon().pid), own)

    def test_a_daemon_replaces_one_that_was_killed(self):
        killed = self.daemon()
        killed.kill()
        self.assertTrue(os.path.exists(self.directory.api))
        self.assertEqual(self.daemon().get("/v1/self")["process_count"], 0)

    def test_sigterm_and_sigint_stop_the_daemon_cleanly(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=how):
                daemon = self.daemon()
                client = self.tracked_process("allocate(open_set([device(0xe1)]), DRAM, 1048640, 1000, 12288)")
                daemon.wait_for(client.pid)
                stream = EventStream(daemon.api, "/v1/stream")
                self.assertEqual(stream.next()["event"], "view")
                daemon.stop(how)
                stream.close()
                client.finish()

    def test_a_configured_port_that_is_taken_is_an_error(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            config = self.write("ttmemd.toml", f'listen = "127.0.0.1:{port}"\n')
            for arguments in (["--listen", f"127.0.0.1:{port}"], ["--config", config]):
                code, words = self.refused(*arguments)
                self.assertEqual(code, 1)
                self.assertIn(f"127.0.0.1:{port}", words)
        self.assertFalse(os.path.exists(self.directory.api))

    def test_a_default_port_that_is_taken_is_a_warning(self):
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # another process has it already
                stack.enter_context(socket.create_server(("127.0.0.1", 9479)))
            daemon = self.daemon(listen=None)
            self.assertEqual(daemon.get("/v1/health")["status"], "ok")
            daemon.process.terminate()
            self.assertEqual(daemon.process.wait(TIMEOUT), 0)
            self.assertRegex(daemon.error_text(), r"^ttmemd: not listening on TCP: .*9479.*\n$")

    def test_listening_beyond_loopback_without_a_token_is_refused(self):
        for address in ("0.0.0.0:0", "[::]:0"):
            code, words = self.refused("--listen", address)
            self.assertEqual(code, 2)
            self.assertIn("--token-file", words)

    def test_an_error_in_the_configuration_names_its_line(self):
        for text, line, words in (("quiet = true\n\nlisten = 9479\n", 3, "'listen' must be a quoted string"),
                                  ("# mine\nlog_event = 'all'\n", 2, "unknown option 'log_event'"),
                                  ("quiet = true\nlog_events = 'some'\n", 2, "off, summary, all"),
                                  ("[post_mortems]\nnumber = 0\n", 2, "must be 1 or greater"),
                                  ("quiet = true\nquiet\n", 2, "")):
            path = self.write("ttmemd.toml", text)
            code, said = self.refused("--config", path)
            self.assertEqual(code, 2)
            self.assertIn(f"ttmemd: {path}, line {line}: ", said)
            self.assertIn(words, said)
        self.assertIn("can't read the configuration", self.refused("--config", "/nonexistent")[1])
        self.assertIn("can't read the configuration", self.refused("--config", "/")[1])

    def test_the_command_line_overrides_the_configuration(self):
        path = self.write("ttmemd.toml", 'listen = "0.0.0.0:1"\nquiet = true\n[post_mortems]\nnumber = 1\n[history]\nbytes = 0\n')
        daemon = self.daemon("--config", path)
        for _ in range(2):
            client = self.tracked_process("allocate(open_set([device(0xe1)]), DRAM, 1048640, 1000, 12288)")
            daemon.wait_for(client.pid)
            client.kill()
            daemon.wait_for_death(client.pid)
        kept = daemon.get("/v1/post-mortems")["post_mortems"]
        self.assertEqual([one["process"]["pid"] for one in kept], [client.pid])
        self.assertEqual(daemon.log(), "")

    def test_over_tcp_totals_are_public_and_details_need_the_token(self):
        token_file = self.write("token", TOKEN + "\n")
        daemon = self.daemon("--token-file", token_file, listen="127.0.0.1:0")
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)", wait_until(daemon.log, "the log names the port"))[1])
        client = self.tracked_process("allocate(open_set([device(0xe2)]), DRAM, 1048640, 1000, 12288)")
        daemon.wait_for(client.pid)
        totals = figures_of(http_get(port, "/v1/status")[1]["devices"])
        self.assertEqual(totals, {"0xe2": {"dram": (12288, 1000)}})
        lists = ("/v1/allocations", "/v1/allocations?group=name", "/v1/programs", "/v1/failures", "/v1/post-mortems",
                 "/v1/events", "/v1/events?last=5")
        for path in lists:
            status, answer = http_get(port, path)
            self.assertEqual(status, 403, answer)
            self.assertIn("token", answer["error"])
            self.assertEqual(http_get(port, path, Authorization=f"Bearer {TOKEN}")[0], 200)
            status, answer = http_get(port, path, Authorization=f"Bearer {TOKEN}x")
            self.assertEqual(status, 401, answer)
        self.assertEqual(http_get(port, "/v1/status", Authorization="Bearer wrong")[0], 401)
        self.assertEqual(http_get(port, "/v1/events?stream=true")[0], 403)
        live = http_get(port, "/v1/allocations", Authorization=f"Bearer {TOKEN}")[1]["allocations"]
        self.assertEqual([one["pid"] for one in live], [client.pid])
        client.finish()

    def test_a_token_file_that_others_can_read_is_refused(self):
        token_file = self.write("token", TOKEN + "\n")
        os.chmod(token_file, 0o644)
        code, words = self.refused("--listen", "127.0.0.1:0", "--token-file", token_file)
        self.assertEqual(code, 1)
        self.assertIn("chmod 600", words)


class Stream(TestCase):
    def setUp(self):
        super().setUp()
        self.tracked = self.tracked_process("s = open_set([device(0xe3)])\nallocate(s, DRAM, 1048640, 1000, 12288)")

    def allocate(self, number: int):
        self.tracked.run(f"allocate(s, DRAM, {1048640 + 4096 * number}, 1000, 12288)")

    def used_in(self, message: dict) -> int:
        self.assertEqual([device["asic_id"] for device in message["data"]["devices"]], ["0xe3"])
        return message["data"]["devices"][0]["memory"]["dram"]["used"]

    def wait_for_used(self, stream: EventStream, used: int) -> dict:
        """Skips messages about other changes, such as counts of events."""
        while True:
            message = stream.next()
            self.assertEqual(message["event"], "change")
            if message["data"]["devices"] and self.used_in(message) == used:
                return message

    def test_a_stream_starts_with_the_view_continues_with_changes_and_resumes(self):
        daemon = self.daemon()
        daemon.wait_for(self.tracked.pid)
        stream = EventStream(daemon.api, "/v1/stream")
        first = stream.next()
        self.assertEqual((first["event"], self.used_in(first)), ("view", 12288))
        self.assertEqual(first["data"]["source"], "daemon")
        self.allocate(1)
        last = self.wait_for_used(stream, 2 * 12288)
        stream.close()

        self.allocate(2)
        stream = EventStream(daemon.api, "/v1/stream", **{"Last-Event-ID": last["id"]})
        last = self.wait_for_used(stream, 3 * 12288)
        stream.close()

        # Message ids of one daemon mean nothing to the next.
        daemon.stop()
        daemon = self.daemon()
        daemon.wait_for(self.tracked.pid)
        stream = EventStream(daemon.api, "/v1/stream", **{"Last-Event-ID": last["id"]})
        first = stream.next()
        self.assertEqual((first["event"], self.used_in(first)), ("view", 3 * 12288))
        stream.close()

    def test_a_stream_reports_processes_that_ended(self):
        daemon = self.daemon()
        daemon.wait_for(self.tracked.pid)
        stream = EventStream(daemon.api, "/v1/stream")
        self.assertEqual(stream.next()["event"], "view")
        self.tracked.kill()
        gone = []
        while self.tracked.pid not in gone:
            gone = stream.next()["data"]["gone_processes"]
        stream.close()

    def test_a_stream_of_events_resumes_after_the_last_one_received(self):
        daemon = self.daemon()
        daemon.wait_for(self.tracked.pid)
        stream = EventStream(daemon.api, "/v1/events?stream=true&since=0")
        self.allocate(1)
        message = stream.next()
        self.assertEqual((message["event"], message["id"]), ("event", "1"))  # the first event of all
        while message["data"]["address"] != 1048640 + 4096:
            message = stream.next()
        stream.close()
        self.allocate(2)
        stream = EventStream(daemon.api, "/v1/events?stream=true", **{"Last-Event-ID": message["id"]})
        following = stream.next()
        self.assertEqual(following["data"]["address"], 1048640 + 2 * 4096)
        self.assertEqual(int(following["id"]), int(message["id"]) + 1)
        stream.close()


if __name__ == "__main__":
    main()
