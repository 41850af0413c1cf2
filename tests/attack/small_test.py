#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests and names at the edges: what is refused, what is shown, and what changes nothing."""

import contextlib
import re
import socket

from harness.attack_case import AttackCase
from harness.http_client import EventStream, http_get
from harness.test_case import main
from harness.users import needs_other_users
from harness.waiting import wait_until

INVISIBLE = "\u200e\u200f\u061c\u200b\ufeff\U000e0041\u202e"


@needs_other_users
class Requests(AttackCase):
    def test_events_over_tcp_need_the_token(self):
        daemon = self.daemon(listen="127.0.0.1:0")
        port = int(wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)", daemon.log()), "the log names the port")[1])
        for target in ("/v1/events", "/v1/events?stream=true"):
            status, answer = http_get(port, target)
            self.assertEqual(status, 403)
            self.assertIn("token", answer["error"])

    def test_a_device_number_beyond_32_bits_is_refused(self):
        daemon = self.daemon()
        self.assertEqual(http_get(daemon.api, "/v1/history?device=4294967296")[0], 400)
        self.assertEqual(http_get(daemon.api, "/v1/history?device=4294967295")[0], 200)

    def test_a_last_event_id_at_the_end_of_its_range_repeats_no_event(self):
        daemon = self.daemon("--quiet")
        attacker = self.attacker("held = allocate(open_set([device(0x5)]), DRAM, 1048640, 1000, 4096)")
        wait_until(lambda: 1048640 in [one["address"] for one in daemon.get("/v1/events")["events"]], "the first event is there")
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as resumed:
            resumed.connect(daemon.api)
            resumed.sendall(b"GET /v1/events?stream=true HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: %d\r\n\r\n" % (2**64 - 1))
            text = resumed.recv(65536)
            self.assertIn(b"200 OK", text)
            ordinary = EventStream(daemon.api, "/v1/events?stream=true&since=1")
            attacker.run("allocate(open_set([device(0x5)]), DRAM, 2097152, 1000, 8192)")
            while ordinary.next()["data"]["address"] != 2097152:
                pass
            ordinary.close()
            with contextlib.suppress(BlockingIOError):
                text += resumed.recv(65536, socket.MSG_DONTWAIT)
            self.assertNotIn(b'"address":1048640', text)


@needs_other_users
class Names(AttackCase):
    def test_invisible_characters_and_changes_of_direction_are_not_shown(self):
        daemon = self.daemon("--quiet")
        attacker = self.attacker(f"""
            scope({"evil" + INVISIBLE + "name"!r})
            held = allocate(open_set([device(0x5)]), DRAM, 1048640, 1000, 4096)
            """)
        daemon.wait_for(attacker.pid)
        name = daemon.get("/v1/allocations")["allocations"][0]["name"]
        self.assertFalse(set(name) & set(INVISIBLE), name)
        self.assertRegex(name, "^evil.*name$")


if __name__ == "__main__":
    main()
