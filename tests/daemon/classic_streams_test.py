#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of the classic wire that send without a pause."""

import os
import signal

import host
from classic_case import Case
from host import wait_until

# What a client does that sends without a pause, on two connections at once: what both name is held twice and freed twice.
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
        return [one.ask(QUERY, device)["dram"] for one in wires + other][-1]  # by then all of both was read
    """


class Streams(Case):
    """Who sends without a pause is read on threads of their own, and counted as exactly."""

    def streamer(self) -> host.Client:
        client = self.speaker()
        client.do(STREAM)
        return client

    def threads(self, daemon: host.Daemon) -> int:
        return len(os.listdir(f"/proc/{daemon.pid}/task"))

    def test_many_at_once_are_counted_to_the_byte_and_answered_in_order(self):
        daemon = self.daemon()
        before = self.threads(daemon)
        clients = [self.streamer() for _ in range(4)]
        for device, client in enumerate(clients):
            client.begin(f"said = stream_twice({device}, 100, {10 + device})")
        for device, client in enumerate(clients):
            self.assertEqual(client.do("answer = said"), 10 * (10 + device))
            self.assertEqual(self.held(device), {"dram": 10 * (10 + device)})
        self.assertGreater(self.threads(daemon), before, "none of them was taken for a stream")
        for device, client in enumerate(clients):
            client.do(f"for buffer in range(1, 11 + {device}): wire.send(FREE, {device}, 0, buffer)")
            client.do(f"wire.ask(QUERY, {device})")
            self.assertEqual(self.held(device), {"dram": 10 * (10 + device)}, "the other connection holds it too")
            client.do(f"for buffer in range(1, 11 + {device}): wire.send(FREE, {device}, 0, buffer)")
            client.do(f"wire.ask(QUERY, {device})")
            self.assertEqual(self.held(device), {})
        self.assertEqual(daemon.view()["inexact"], [])

    def test_a_question_a_dump_and_an_unknown_free_in_the_midst_of_a_stream(self):
        daemon = self.daemon()
        client = self.streamer()
        said = client.do("""
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
        for part in range(20):
            line = f"Deallocation for unknown buffer {7777 + part} on device 0"
            wait_until(lambda line=line: line in daemon.log(), line)

    def test_the_death_of_some_takes_what_they_held_and_nothing_of_the_others(self):
        daemon = self.daemon()
        clients = [self.streamer() for _ in range(4)]
        for device, client in enumerate(clients):
            client.begin(f"said = stream_twice({device}, {100 if device % 2 else 1000000}, 5)")
        wait_until(lambda: all(self.held(device) for device in (0, 2)), "they stream")
        for device in (0, 2):
            clients[device].kill()
        for device in (1, 3):
            self.assertEqual(clients[device].do("answer = said"), 50)
        wait_until(lambda: not self.held(0) and not self.held(2), "what the dead held is gone")
        self.assertEqual([self.held(device) for device in (1, 3)], [{"dram": 50}, {"dram": 50}])
        for device in (0, 2):
            dead = wait_until(lambda device=device: [one for one in daemon.get("/v1/post-mortems")["post_mortems"]
                                                     if one["process"]["pid"] == clients[device].pid], "its post-mortem")
            held = dead[0]["process"]["devices"][0]["memory"]["dram"]["requested"]
            self.assertIn(held, range(0, 501, 10))

    def test_the_daemon_ends_in_the_midst_of_streams(self):
        daemon = self.daemon()
        clients = [self.streamer() for _ in range(3)]
        for device, client in enumerate(clients):
            client.begin(f"said = stream_twice({device}, 1000000, 0)")
        wait_until(lambda: all(self.held(device) for device in range(3)), "they stream")
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(60), 0)
        self.assertEqual(daemon.said_wrong(), "")


if __name__ == "__main__":
    host.main()
