#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of the classic wire that send without a pause."""

import os
import signal

from harness.classic_case import ClassicCase
from harness.classic_client import ALLOC, QUERY
from harness.daemon import Daemon
from harness.test_case import main
from harness.tracked_process import TrackedProcess
from harness.waiting import wait_until

# A client that sends without a pause, on two connections at once. Buffers that both connections name have two references.
STREAM = """
    import threading
    def stream(device, rounds, holds):
        mine = Wire(wire.socket.getpeername())
        for round_ in range(rounds):
            for buffer in range(1, 51):
                mine.send(ALLOC, device, 10, buffer)
            for buffer in range(1, 51):
                mine.send(FREE, device, 0, buffer)
        for buffer in range(1, 1 + holds):
            mine.send(ALLOC, device, 10, buffer)
        return mine
    def stream_twice(device, rounds, holds):
        other = []
        thread = threading.Thread(target=lambda: other.append(stream(device, rounds, holds)))
        thread.start()
        wires = [stream(device, rounds, holds)]
        thread.join()
        # With the last answer all messages of both connections have been read.
        return [one.ask(QUERY, device)["dram"] for one in wires + other][-1]
    """


class Streams(ClassicCase):
    """Connections that send without a pause are read on their own threads, and counted exactly."""

    def streamer(self) -> TrackedProcess:
        client = self.process_with_wire()
        client.run(STREAM)
        return client

    def threads(self, daemon: Daemon) -> int:
        return len(os.listdir(f"/proc/{daemon.pid}/task"))

    def test_a_client_that_sends_much_at_once_leaves_the_thread_that_answers_questions(self):
        daemon = self.daemon()
        before = self.threads(daemon)
        wire = self.wire()
        for buffer in (1, 101):
            wire.socket.sendall(b"".join(wire.message(ALLOC, 0, 10, i) for i in range(buffer, buffer + 100)))
        wait_until(lambda: self.threads(daemon) > before, "it is read on a thread of its own")
        self.assertEqual(wire.ask(QUERY, 0)["dram"], 2000)

    def test_many_streams_at_once_are_counted_to_the_byte_and_answered_in_order(self):
        daemon = self.daemon()
        before = self.threads(daemon)
        clients = [self.streamer() for _ in range(4)]
        for device, client in enumerate(clients):
            client.start(f"said = stream_twice({device}, 100, {10 + device})")
        for device, client in enumerate(clients):
            self.assertEqual(client.run("answer = said"), 10 * (10 + device))
            self.assertEqual(self.held(device), {"dram": 10 * (10 + device)})
        self.assertGreater(self.threads(daemon), before, "none of them was moved to its own thread")
        for device, client in enumerate(clients):
            client.run(f"for buffer in range(1, 11 + {device}): wire.send(FREE, {device}, 0, buffer)")
            client.run(f"wire.ask(QUERY, {device})")
            self.assertEqual(self.held(device), {"dram": 10 * (10 + device)}, "the other connection has a reference too")
            client.run(f"for buffer in range(1, 11 + {device}): wire.send(FREE, {device}, 0, buffer)")
            client.run(f"wire.ask(QUERY, {device})")
            self.assertEqual(self.held(device), {})
        self.assertEqual(daemon.view()["inexact"], [])

    def test_queries_dumps_and_unknown_frees_within_a_stream_are_answered(self):
        daemon = self.daemon()
        client = self.streamer()
        said = client.run("""
            answer = []
            for part in range(20):
                mine = stream(0, 10, 0)
                mine.send(ALLOC, 0, 10, 1000 + part)
                mine.send(FREE, 0, 0, 7777 + part)
                mine.send(DUMP_REMAINING)
                answer.append(mine.ask(QUERY, 0)["dram"])
                mine.close()
            """)
        self.assertEqual(said, [10 * (part + 1) for part in range(20)])
        wait_until(lambda: "Device 0: Buffers: 20, DRAM: 200 bytes" in daemon.log(), "the last dump")
        # At most 10 lines per user and second are in the log. The next one says how many were left out.
        left_out = 20 - daemon.log().count("Deallocation for unknown buffer")
        self.assertIn("Deallocation for unknown buffer 7777 on device 0", daemon.log())
        self.assertLessEqual(left_out, 10)
        reasons = {one["code"]: one["count"] for one in daemon.view()["inexact"] if one["pid"] == client.pid}
        self.assertEqual(reasons["unknown_free"], 20)

    def test_the_death_of_some_clients_frees_only_what_they_held(self):
        daemon = self.daemon()
        clients = [self.streamer() for _ in range(4)]
        for device, client in enumerate(clients):
            client.start(f"said = stream_twice({device}, {100 if device % 2 else 1000000}, 5)")
        wait_until(lambda: all(self.held(device) for device in (0, 2)), "they send")
        for device in (0, 2):
            clients[device].kill()
        for device in (1, 3):
            self.assertEqual(clients[device].run("answer = said"), 50)
        wait_until(lambda: not self.held(0) and not self.held(2), "the buffers of dead processes are gone")
        self.assertEqual([self.held(device) for device in (1, 3)], [{"dram": 50}, {"dram": 50}])
        for device in (0, 2):
            dead = wait_until(lambda device=device: [one for one in daemon.get("/v1/post-mortems")["post_mortems"]
                                                     if one["process"]["pid"] == clients[device].pid], "its post-mortem")
            held = dead[0]["process"]["devices"][0]["memory"]["dram"]["requested"]
            self.assertIn(held, range(0, 501, 10))

    def test_the_daemon_ends_cleanly_while_clients_stream(self):
        daemon = self.daemon()
        clients = [self.streamer() for _ in range(3)]
        for device, client in enumerate(clients):
            client.start(f"said = stream_twice({device}, 1000000, 0)")
        wait_until(lambda: all(self.held(device) for device in range(3)), "they send")
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(60), 0)
        self.assertEqual(daemon.error_text(), "")


if __name__ == "__main__":
    main()
