#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon stays small and alive: whatever one user asks for, leaves behind or sends, its budgets hold."""

import os
import resource

from harness import large_segment
from harness.attack_case import AttackCase
from harness.daemon import Daemon
from harness.programs import NO_RUNTIME_DIRECTORY
from harness.test_case import main
from harness.tracked_process import SMALL_SEGMENT
from harness.users import needs_other_users
from harness.waiting import wait_until

MEBIBYTE = 1 << 20
NAMING_WORD = 6  # of a slot: its name and core set
LARGEST = 256 * MEBIBYTE

ASK = """
kept = []
for _ in range({connections}):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect({socket!r})
    connection.sendall(b"GET {target} HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    kept.append(connection)
"""
EVENTS = """
s = open_set([device(0x77)])
for _ in range({pairs}):
    free(allocate(s, DRAM, 1048640, 1000, 12288))
"""
PREPARE = large_segment.source() + large_segment.ANNOUNCE
OWN_PARENT = """
template, slot = own_template(), own_slot()
segment = LargeSegment(template, {{NAMES: 64, LEDGER: {slots}}})
segment.put_set(0, 1)
segment.put_device(0, 0xbad)
segment.put(NAMES, 5, struct.pack("<II", 120, 5) + b"n" * 120)
struct.pack_into("<I", slot, 8 * {naming_word} + 4, 5)
offset, _ = segment.region[LEDGER]
os.pwrite(segment.file, bytes(slot) * {slots}, offset)
kept = segment.seal()
announce({socket!r}, kept)
"""


@needs_other_users
class Answers(AttackCase):
    def memory(self, daemon: Daemon) -> int:
        with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
            values = dict(line.split(":", 1) for line in file)
        return (int(values["RssAnon"].split()[0]) + int(values["RssShmem"].split()[0])) << 10

    def wait_for_events(self, daemon: Daemon, number: int):
        def seen() -> int:
            answer = daemon.get("/v1/self")
            return answer["events_followed"] + answer["events_lost"]
        wait_until(lambda: seen() >= number, "the events are there")

    def assert_small(self, daemon: Daemon):
        self.assertLess(self.memory(daemon), LARGEST)

    def test_answers_that_nobody_reads_take_little_memory(self):
        daemon = self.daemon("--quiet")
        attacker = self.attacker(EVENTS.format(pairs=20_000))
        self.wait_for_events(daemon, 40_000)
        before = self.memory(daemon)
        attacker.run(ASK.format(connections=31, socket=daemon.api, target="/v1/events"))
        attacker.run("more = kept\n" + ASK.format(connections=31, socket=daemon.api, target="/v1/status"))
        self.assert_serves_others(daemon, rounds=3)
        self.assert_small(daemon)
        self.assertLess(self.memory(daemon) - before, 100 * MEBIBYTE)

    def test_a_name_that_is_its_own_parent_stands_once(self):
        daemon = self.daemon("--quiet")
        attacker = self.attacker(PREPARE + OWN_PARENT.format(slots=20_000, naming_word=NAMING_WORD, socket=self.directory.announce),
                                 runtime_directory=NO_RUNTIME_DIRECTORY, **SMALL_SEGMENT)
        wait_until(lambda: len(daemon.get("/v1/allocations?limit=10")["allocations"]) == 10, "the segment is attached")
        names = {one["name"] for one in daemon.get("/v1/allocations?limit=10")["allocations"]}
        self.assertEqual({len(name) for name in names if name}, {120})
        self.assert_small(daemon)
        attacker.kill()

    def test_running_out_of_memory_fails_an_answer_and_not_the_daemon(self):
        daemon = self.daemon("--quiet")
        attacker = self.attacker(EVENTS.format(pairs=20_000))
        self.wait_for_events(daemon, 40_000)
        with open(f"/proc/{daemon.pid}/statm", encoding="utf-8") as file:
            limit = int(file.read().split()[0]) * 4096 + 4 * MEBIBYTE
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        attacker.run(ASK.format(connections=40, socket=daemon.api, target="/v1/events"))
        for _ in range(20):
            self.assert_answers(daemon, "/v1/health")
        attacker.kill()
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        self.assertIsNone(daemon.process.poll())
        daemon.view()


@needs_other_users
class Dead(AttackCase):
    def test_the_deaths_of_one_user_leave_the_post_mortems_of_others(self):
        daemon = self.daemon("--quiet")
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        honest.kill()
        daemon.wait_for_death(honest.pid)
        self.attacker("""
            for _ in range(100):
                if os.fork() == 0:
                    allocate(open_set([device(0x5407)]), DRAM, 1048640, 1000, 12288)
                    os._exit(0)
                os.wait()
            """)
        wait_until(lambda: self.metric(daemon, "ttmem_process_deaths_total") >= 100, "the deaths are counted")
        kept = daemon.get("/v1/post-mortems")["post_mortems"]
        self.assertIn(honest.pid, [one["process"]["pid"] for one in kept])

    def test_a_dead_process_whose_segment_still_grows_is_dropped(self):
        daemon = self.daemon("--quiet")
        process = self.attacker("""
            allocate(open_set([device(0x66)]), DRAM, 1048640, 1000, 12288)
            child = os.fork()
            if child == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.pause()
            answer = child
            """)
        child = process.answer
        self.addCleanup(os.kill, child, 9)
        daemon.wait_for(process.pid)
        process.kill()
        daemon.wait_for_death(process.pid)
        self.assertEqual(len(daemon.get("/v1/post-mortems")["post_mortems"]), 1)
        fill(child)
        wait_until(lambda: not daemon.get("/v1/post-mortems")["post_mortems"], "the post-mortem is dropped")


def fill(pid: int):
    """Writes to every page of the segment that the process holds. The seals allow that to a map that was there before."""
    for number in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{number}"
        if os.readlink(path) == "/memfd:ttmem (deleted)":
            file = os.open(path, os.O_RDWR)
            try:
                os.posix_fallocate(file, 0, os.fstat(file).st_size)
            finally:
                os.close(file)
            return
    raise AssertionError("the child has no segment")


@needs_other_users
class Log(AttackCase):
    def test_refused_announcements_write_few_lines(self):
        daemon = self.daemon()
        attacker = self.attacker(f"""
            import array
            for _ in range(2000):
                connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                connection.connect({self.directory.announce!r})
                file = os.memfd_create("ttmem", os.MFD_CLOEXEC)
                connection.sendmsg([b"\\x01"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
                os.close(file)
                connection.close()
            """, tracked=False)
        wait_until(lambda: self.metric(daemon, "ttmem_processes_missed_total") >= 2000, "all are refused")
        self.assertLess(len(daemon.log().splitlines()), 200)
        attacker.kill()


if __name__ == "__main__":
    main()
