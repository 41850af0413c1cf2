#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing blocks longer than its timeout: daemons and programs that hang, accept nothing, or answer byte by byte. Each of them would hang
until the test ends it."""

import contextlib
import os
import socket
import threading
from unittest import mock

import harness.python_package  # makes the package importable
from harness.test_case import TestCase, main

import ttmem
from ttmem import _transport

SHORT = 0.1
OK = b"HTTP/1.1 200 OK\r\n"
STREAM = OK + b"Content-Type: text/event-stream\r\n\r\n"
VIEW = b'event: view\ndata: {"devices": [], "processes": []}\n\n'


class TimeoutCase(TestCase):
    def setUp(self):
        super().setUp()
        os.environ["TTMEM_RUNTIME_DIR"] = self.directory.path
        self.path = os.path.join(self.directory.path, "api.sock")

    @contextlib.contextmanager
    def listening(self, over: str, queue: int = 16):
        """A server that accepts nothing, and a client of it with a short timeout."""
        with socket.socket(socket.AF_UNIX if over == "unix" else socket.AF_INET) as server:
            server.bind(self.path if over == "unix" else ("127.0.0.1", 0))
            server.listen(queue)
            with self.subTest(over=over):
                if over == "unix":
                    yield server, ttmem.Client(timeout=SHORT)
                else:
                    yield server, ttmem.Client(url=f"http://127.0.0.1:{server.getsockname()[1]}", timeout=SHORT)
        if over == "unix":
            os.unlink(self.path)

    @contextlib.contextmanager
    def answering(self, over: str, beginning: bytes, again: bytes = b""):
        """A client of a server that answers a request with the beginning, and goes on with `again`."""
        is_over = threading.Event()

        def answer(server: socket.socket):
            with contextlib.suppress(OSError), server.accept()[0] as end:
                end.sendall(beginning)
                while not is_over.wait(0.01):
                    end.sendall(again)

        with self.listening(over) as (server, client):
            thread = threading.Thread(target=answer, args=(server,))
            thread.start()
            try:
                yield client
            finally:
                is_over.set()
                thread.join()

    def assert_times_out(self, text: str, call):
        with self.assertRaisesRegex(ttmem.TtmemTimeout, text):
            call()


class Daemons(TimeoutCase):
    def test_one_that_accepts_and_never_answers(self):
        for over in ("unix", "tcp"):
            with self.listening(over) as (_, client):
                self.assert_times_out(f"no answer to /v1/status within {SHORT} s", client.status)
                for stream in (client.watch(timeout=SHORT), client.follow_events(timeout=SHORT)):
                    self.assert_times_out(f"brought nothing for {SHORT} s", lambda: next(stream))

    def test_one_that_accepts_no_connection(self):
        for over, address in (("unix", self.path), ("tcp", None)):
            with self.listening(over, queue=0) as (server, client), contextlib.ExitStack() as stack:
                while True:  # until its queue is full
                    waiting = stack.enter_context(socket.socket(server.family))
                    waiting.settimeout(0.2 if over == "tcp" else 0)
                    try:
                        waiting.connect(address or server.getsockname())
                    except (BlockingIOError, TimeoutError):
                        break
                self.assert_times_out(f"accepted no connection within {SHORT} s", client.status)
                self.assert_times_out(f"accepted no connection within {SHORT} s", lambda: next(client.watch(timeout=SHORT)))

    def test_one_that_answers_byte_by_byte(self):
        for over in ("unix", "tcp"):
            for beginning in (b"HTTP/1.1 200 ", OK, OK + b"Content-Length: 1000000\r\n\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"):
                with self.answering(over, beginning, b"1") as client:
                    self.assert_times_out(f"no answer to /v1/status within {SHORT} s", client.status)

    def test_a_stream_that_brings_no_message(self):
        deadline_of = _transport.Deadline
        for over in ("unix", "tcp"):
            for again in (b"x", b"data: 1\n"):
                deadlines = []
                with self.answering(over, STREAM + VIEW, again) as client, mock.patch.object(
                        _transport, "Deadline", side_effect=lambda timeout: deadlines.append(deadline_of(timeout)) or deadlines[-1]):
                    stream = client.watch(timeout=30)
                    self.assertEqual(len(next(stream).processes), 0)
                    deadlines[-1].timeout = SHORT
                    self.assert_times_out("brought nothing for", lambda: next(stream))
                with self.answering(over, STREAM, again) as client:
                    self.assert_times_out(f"brought nothing for {SHORT} s", lambda: next(client.follow_events(timeout=SHORT)))

    def test_comments_and_messages_show_that_a_stream_is_alive(self):
        with self.answering("unix", STREAM + b": quiet\n\n" * 3 + VIEW + VIEW), mock.patch.object(_transport.Deadline, "restart", autospec=True,
                                                                                                 side_effect=_transport.Deadline.restart) as restart:
            stream = ttmem.watch(timeout=30)
            next(stream), next(stream)
            self.assertEqual(restart.call_count, 1 + 3 + 1)  # the request, the comments, the first message
            stream.close()

    def test_a_name_server_that_never_answers(self):
        is_over = threading.Event()
        self.addCleanup(is_over.set)
        with mock.patch("socket.getaddrinfo", side_effect=lambda *_, **__: is_over.wait() and []):
            self.assert_times_out("http://daemon.test accepted no connection within", ttmem.Client(url="http://daemon.test", timeout=SHORT).status)

    def test_an_address_without_a_daemon(self):
        with self.listening("tcp") as (server, client):
            server.close()
            with self.assertRaisesRegex(ttmem.TtmemNotRunning, r"the daemon at http://127\.0\.0\.1:\d+ closed the connection early .*refused"):
                client.status()


class Others(TimeoutCase):
    def test_what_answers_and_is_no_daemon(self):
        for body in (b"<html>", b"[1]", b"\xff", b""):
            head = OK + b"Content-Length: %d\r\n\r\n" % len(body)
            for over in ("unix", "tcp"):
                with self.answering(over, head + body) as client, self.assertRaisesRegex(
                        ttmem.TtmemError, "what answers /v1/status at .* is no daemon of ttmem: give its 'socket' or 'url'"):
                    ttmem.Client(url=client._daemon._url, timeout=30).status()
        for message in (b"event: view\ndata: {\n\n", b"event: \xff\n\n"):
            with self.answering("unix", STREAM + message), self.assertRaisesRegex(ttmem.TtmemError, "what answers /v1/stream.* is no daemon"):
                next(ttmem.watch())

    def test_a_token_that_can_not_be_sent(self):
        for token in ("a\nb", "\u20ac"):
            with self.listening("tcp") as (_, client), self.assertRaisesRegex(ttmem.TtmemBadRequest, "the token of this client can't be sent"):
                ttmem.Client(url=client._daemon._url, token=token).status()


class Programs(TimeoutCase):
    def test_one_that_hangs_with_a_child_that_keeps_its_output_open(self):
        program = os.path.join(self.directory.path, "ttmem")
        with open(program, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
            file.write("#!/bin/sh\nsleep 1000 &\nwait\n")
        client = ttmem.Client(program=program, timeout=SHORT)
        self.assert_times_out(f"'ttmem status --direct' took longer than {SHORT} s", client.status)
        self.assert_times_out("took longer than", client.allocations)
        self.assert_times_out("took longer than", lambda: next(client.watch()))

    def test_a_block_that_is_measured_keeps_its_own_exception(self):
        def hang(*_, **__):
            raise ttmem.TtmemTimeout("no answer within 10 s")

        with mock.patch.object(ttmem._track, "_failures", return_value=(0, [])), mock.patch.object(ttmem._native, "is_reporting", return_value=True), \
             mock.patch.object(ttmem._peaks, "_now", return_value={}), mock.patch.object(ttmem._track, "held", return_value={}):
            with mock.patch.object(ttmem._track, "_by_name", return_value=({}, [])):
                block = ttmem.track().__enter__()
            with mock.patch.object(ttmem._track, "_by_name", side_effect=hang):
                block.__exit__(KeyError, KeyError(), None)
        self.assertEqual(block.inexact, ["what grew and failed is not known: no answer within 10 s"])


class Arguments(TimeoutCase):
    def test_a_timeout_is_a_number_of_seconds_above_0(self):
        with self.listening("unix") as (_, client):
            for timeout in (0, -1, None, "1"):
                for call in (lambda: ttmem.Client(timeout=timeout), lambda: next(client.watch(timeout=timeout)),
                             lambda: next(client.follow_events(timeout=timeout))):
                    with self.assertRaisesRegex(ttmem.TtmemBadRequest, "must be a number of seconds above 0"):
                        call()


if __name__ == "__main__":
    main()
