#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Others do not wait: whatever one user's segments, names, connections and questions cost, the daemon answers the next user."""

import contextlib
import resource  # attackers use it, and may not be able to load it themselves
import socket
import subprocess
import time

from harness import large_segment
from harness.attack_case import AttackCase
from harness.programs import NO_RUNTIME_DIRECTORY, TTMEM
from harness.test_case import main
from harness.tracked_process import SMALL_SEGMENT
from harness.users import needs_other_users
from harness.waiting import TIMEOUT, wait_until

PREPARE = large_segment.source() + large_segment.ANNOUNCE
HOLES = """
template, kept = own_template(), []
for _ in range({segments}):
    segment = LargeSegment(template, {{SETS: 256, WRITERS: 1024}})
    for index in range(256):
        segment.put_set(index, 1)
    for line in range(1024):
        segment.put(WRITERS, line, struct.pack("<QQQ", 1, 7, 1))  # head, intent, thread
        segment.put(TALLIES, line, bytes(8), at=line % 32 * 4096)
    kept.append(segment.seal())
    announce({socket!r}, kept[-1])
"""
DEVICES = """
template, kept = own_template(), []
for number in range({segments}):
    segment = LargeSegment(template, {{DEVICES: 64, SETS: 64}})
    for index in range(64):
        segment.put_device(index, 0x10000 + number * 64 + index)
        segment.put_set(index, 1 << index)
    kept.append(segment.seal())
    announce({socket!r}, kept[-1])
"""
NAMES = """
template, slot = own_template(), own_slot()
segment = LargeSegment(template, {{NAMES: 65536, LEDGER: {slots}}})
segment.put_set(0, 1)
segment.put_device(0, 0xbad)
for entry in range(1, 70):
    segment.put(NAMES, entry, struct.pack("<II", 120, entry - 1) + b"n" * 120)
struct.pack_into("<I", slot, 8 * 6 + 4, 69)  # its name: the deepest
offset, _ = segment.region[LEDGER]
os.pwrite(segment.file, bytes(slot) * {slots}, offset)
kept = segment.seal()
announce({socket!r}, kept)
"""


@needs_other_users
class Segments(AttackCase):
    def test_segments_full_of_holes_do_not_block_the_daemon(self):
        daemon = self.daemon("--quiet")
        self.attacker(PREPARE + HOLES.format(segments=40, socket=self.directory.announce),
                      runtime_directory=NO_RUNTIME_DIRECTORY, **SMALL_SEGMENT)
        wait_until(lambda: daemon.get("/v1/self")["processes"] >= 40, "the segments are attached")
        self.assert_serves_others(daemon, rounds=3)
        view = daemon.view()
        self.assertFalse(view["exact"])
        self.assertLess(self.seconds_of_direct_status(), 10)

    def seconds_of_direct_status(self) -> float:
        start = time.monotonic()
        done = subprocess.run([TTMEM, "status", "--direct"], capture_output=True, timeout=TIMEOUT, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return time.monotonic() - start

    def test_made_up_devices_stay_few_and_cheap(self):
        daemon = self.daemon("--quiet")
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        self.attacker(PREPARE + DEVICES.format(segments=60, socket=self.directory.announce),
                      runtime_directory=NO_RUNTIME_DIRECTORY, **SMALL_SEGMENT)
        wait_until(lambda: daemon.get("/v1/self")["processes"] >= 61, "the segments are attached")
        self.assert_serves_others(daemon, rounds=2)
        view = daemon.view()
        self.assertLessEqual(len(view["devices"]), 300)
        self.assertIn("too_many_devices", {one["code"] for one in view["inexact"]})
        mine = [one for one in view["devices"] if one["asic_id"] == "0x1"]
        self.assertEqual([one["memory"]["dram"]["used"] for one in mine], [12288])
        newcomer = self.holder(0x2)
        daemon.wait_for(newcomer.pid)
        ids = {one["asic_id"]: one["id"] for one in daemon.view()["devices"]}
        self.assertLess(ids["0x2"], 10_000, "a real device has a number that people can use")


@needs_other_users
class Connections(AttackCase):
    def test_idle_classic_connections_of_one_user_leave_room_for_others(self):
        daemon = self.daemon("--quiet", "--classic-wire", self.directory.classic)
        self.attacker(f"""
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
            kept = []
            for _ in range(4200):
                connection = socket.socket(socket.AF_UNIX)
                connection.setblocking(False)
                try:
                    connection.connect({self.directory.classic!r})
                except OSError:
                    pass
                kept.append(connection)
            """, tracked=False)
        self.assert_serves_others(daemon, rounds=2)
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(10)
            client.connect(self.directory.classic)
            client.sendall(bytes([7]) + bytes(143))

    def test_silent_announcements_keep_nobody_out(self):
        daemon = self.daemon("--quiet")
        self.attacker(f"""
            kept = []
            for _ in range(200):
                connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                connection.setblocking(False)
                try:
                    connection.connect({self.directory.announce!r})
                except OSError:
                    pass
                kept.append(connection)
            """, tracked=False)
        self.assert_serves_others(daemon, rounds=5)


@needs_other_users
class Questions(AttackCase):
    def test_many_expensive_questions_of_one_user_delay_only_that_user(self):
        daemon = self.daemon("--quiet")
        attacker = self.attacker(PREPARE + NAMES.format(slots=100_000, socket=self.directory.announce),
                                 runtime_directory=NO_RUNTIME_DIRECTORY, **SMALL_SEGMENT)
        wait_until(lambda: daemon.get("/v1/self")["processes"] >= 1, "the segment is attached")
        attacker.run(f"""
            kept = []
            for _ in range(60):
                connection = socket.socket(socket.AF_UNIX)
                connection.connect({self.directory.api!r})
                connection.sendall(b"GET /v1/allocations?limit=0 HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                kept.append(connection)
            """)
        self.assert_serves_others(daemon, rounds=3)

    def test_a_user_sees_totals_while_another_floods(self):
        daemon = self.daemon("--quiet")
        self.attacker(PREPARE + HOLES.format(segments=10, socket=self.directory.announce),
                      runtime_directory=NO_RUNTIME_DIRECTORY, **SMALL_SEGMENT)
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        status, view = honest.http_get(daemon.api, "/v1/status")
        self.assertEqual(status, 200)
        self.assertIn(honest.pid, [one["pid"] for one in view["processes"]])


if __name__ == "__main__":
    main()
