#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose memory it is: only the kernel's word counts, for passed descriptors, other programs, other users and short lives."""

import os
import shutil
import stat
import tempfile

from harness.attack_case import HOLD, AttackCase, start_time_of
from harness.forged_segment import announce_segment, replace_segment
from harness.programs import NO_RUNTIME_DIRECTORY
from harness.sanitizers import scaled
from harness.test_case import main
from harness.tracked_process import SMALL_SEGMENT
from harness.users import OTHER_STRANGER, STRANGER, needs_other_users
from harness.waiting import wait_until

RECEIVE = """
import array
listener = socket.socket(socket.AF_UNIX)
listener.bind({path!r})
os.chmod({path!r}, 0o777)
listener.listen()
"""
TAKE = """
peer = listener.accept()[0]
_, control, *_ = peer.recvmsg(1, 4096)
answer = list(array.array("i", control[0][2]))
"""
PASS = """
peer = socket.socket(socket.AF_UNIX)
peer.connect({path!r})
peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [forged]))])
"""
SHORT_LIVES = """
for batch in range({batches}):
    for _ in range(50):
        if os.fork() == 0:
            allocate(open_set([device(0x5407)]), DRAM, 1048640, 1000, 12288)
            os._exit(0)
    for _ in range(50):
        os.wait()
"""
SEGMENTS = """
import array, fcntl, struct
allocate(open_set([device(0x100)]), DRAM, 1048640, 1000, 12288)
real = own_segment()
copy = os.pread(real, os.fstat(real).st_size, 0)
kept = []
for _ in range(99):
    forged = os.memfd_create("ttmem", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(forged, copy)
    fcntl.fcntl(forged, fcntl.F_ADD_SEALS, {seals})
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect({socket!r})
    connection.sendmsg([b"\\x01"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [forged]))])
    kept.append(forged)
"""


@needs_other_users
class Owners(AttackCase):
    def test_a_descriptor_passed_to_a_process_of_root_counts_for_nobody(self):
        daemon = self.daemon()
        folder = tempfile.mkdtemp(prefix="ttmem-attack-")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "take.sock")
        victim = self.tracked_process(RECEIVE.format(path=path), tracked=False)
        names = f"struct.pack_into('<I', copy, 24, {victim.pid}); struct.pack_into('<Q', copy, 32, {start_time_of(victim.pid)})"
        attacker = self.attacker(replace_segment(names), runtime_directory=NO_RUNTIME_DIRECTORY, **SMALL_SEGMENT)
        attacker.start(PASS.format(path=path))
        self.assertEqual(len(victim.run(TAKE)), 1)
        wait_until(lambda: f"[PID {victim.pid}]" in daemon.log(), "the log names it")
        view = daemon.view()
        self.assertEqual((self.used_bytes(view), view["processes"]), (0, []))
        self.assertIn(f"made by user {STRANGER}", daemon.log())
        direct = self.direct_view(allow_notices=True)
        self.assertEqual((self.used_bytes(direct), direct["processes"]), (0, []))
        late = self.tracked_process(HOLD.format(asic=0x2, bytes=4096), runtime_directory=NO_RUNTIME_DIRECTORY)
        daemon.wait_for(late.pid)  # by a later scan
        self.assertEqual(daemon.log().count(f"[PID {victim.pid}]"), 1, "it is named once")

    def test_a_segment_that_names_the_daemon_counts_for_nobody(self):
        daemon = self.daemon()
        names = f"struct.pack_into('<I', copy, 24, {daemon.pid}); struct.pack_into('<Q', copy, 32, {start_time_of(daemon.pid)})"
        attacker = self.attacker(announce_segment(names, self.directory.announce), runtime_directory=NO_RUNTIME_DIRECTORY,
                                 **SMALL_SEGMENT)
        wait_until(lambda: self.metric(daemon, "ttmem_processes_missed_total") >= 1, "it is refused")
        late = self.tracked_process(HOLD.format(asic=0x2, bytes=4096), runtime_directory=NO_RUNTIME_DIRECTORY)
        daemon.wait_for(late.pid)  # by a later scan
        for view in (daemon.view(), self.direct_view(allow_notices=True)):
            self.assertEqual(self.used_bytes(view), 4096)
            self.assertFalse({daemon.pid, attacker.pid} & {one["pid"] for one in view["processes"]})

    def executing_as_root(self, keep_descriptor: bool):
        """A process of the stranger that has a segment and executes a program which changes its user to root."""
        folder = tempfile.mkdtemp(prefix="ttmem-attack-")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        program = shutil.copy(shutil.which("sleep"), os.path.join(folder, "sleep"))
        os.chmod(program, 0o4755)
        if not os.stat(program).st_mode & stat.S_ISUID or os.statvfs(program).f_flag & os.ST_NOSUID:
            self.skipTest("no file here may change the user of its process")
        attacker = self.attacker(HOLD.format(asic=0x777, bytes=777 << 30))
        return attacker, program, f"os.set_inheritable(own_segment(), {keep_descriptor})\nos.execv({program!r}, ['sleep', '1000'])"

    def test_a_set_user_id_program_does_not_inherit_the_memory(self):
        daemon = self.daemon()
        attacker, program, execute = self.executing_as_root(keep_descriptor=True)
        daemon.wait_for(attacker.pid)
        attacker.send(execute)
        self.wait_for_program(attacker.pid, os.path.realpath(program))
        daemon.wait_for_death(attacker.pid)
        self.assertEqual(self.used_bytes(daemon.view()), 0)
        direct = self.direct_view(allow_notices=True)
        self.assertEqual((self.used_bytes(direct), direct["processes"]), (0, []))
        late = self.another_daemon()
        self.assertEqual(self.used_bytes(late.view()), 0)
        self.assertNotIn(attacker.pid, late.pids())

    def another_daemon(self):
        """A daemon that starts now, and has scanned the host."""
        self.directory = self.runtime_directory()
        return self.daemon()

    def test_a_process_that_gave_up_its_privileges_is_listed_as_inexact(self):
        daemon = self.daemon()
        process = self.tracked_process(HOLD.format(asic=0x1, bytes=12288))
        daemon.wait_for(process.pid)
        self.assertTrue(daemon.view()["exact"])
        process.run(f"os.setgroups([]); os.setresgid(*[{STRANGER}] * 3); os.setresuid(*[{STRANGER}] * 3)")
        wait_until(lambda: not daemon.view()["exact"], "it is inexact")
        view = daemon.view()
        self.assertEqual(self.inexact_codes(view, process.pid), {"changed_user"})
        self.assertEqual(self.used_bytes(view), 12288)
        late = self.another_daemon()
        wait_until(lambda: process.pid in late.pids(), "a late daemon lists it")
        self.assertEqual(self.inexact_codes(late.view(), process.pid), {"changed_user"})


@needs_other_users
class OtherPrograms(AttackCase):
    def test_a_process_that_executes_another_program_holds_nothing_and_leaves_a_post_mortem(self):
        daemon = self.daemon()
        process = self.holder(0x5, size=5 << 30)
        daemon.wait_for(process.pid)
        process.send("os.execvp('sleep', ['sleep', '1000'])")
        daemon.wait_for_death(process.pid)
        self.assertEqual(self.used_bytes(daemon.view()), 0)
        kept = daemon.get("/v1/post-mortems")["post_mortems"]
        self.assertEqual([(one["process"]["pid"], one["ending"]) for one in kept], [(process.pid, "exec")])
        self.assertEqual(self.metric(daemon, "ttmem_process_deaths_total"), 0)
        self.assertEqual(self.metric(daemon, "ttmem_process_execs_total"), 1)
        process.kill()

    def test_a_process_that_closed_its_descriptor_stays(self):
        daemon = self.daemon()
        process = self.holder(0x5)
        daemon.wait_for(process.pid)
        process.run("os.close(own_segment())")
        other = self.tracked_process(HOLD.format(asic=0x6, bytes=4096), runtime_directory=NO_RUNTIME_DIRECTORY)
        for _ in range(2):  # scans that began after the descriptor was closed
            daemon.wait_for(other.pid)
            other = self.tracked_process(HOLD.format(asic=0x6, bytes=4096), runtime_directory=NO_RUNTIME_DIRECTORY)
        daemon.wait_for(other.pid)
        self.assertIn(process.pid, daemon.pids())


@needs_other_users
class Scans(AttackCase):
    def test_no_answer_before_the_first_scan_is_exact_and_without_the_process(self):
        process = self.holder(0x9, runtime_directory=NO_RUNTIME_DIRECTORY)
        self.attack("descriptors", processes=scaled(100))
        daemon = self.daemon(until_scanned=False)
        view = daemon.view()
        while process.pid not in [one["pid"] for one in view["processes"]]:
            # On a busy machine the first scan may end before it has seen all processes of that user.
            self.assertTrue({one["code"] for one in view["inexact"]} & {"scan_running", "scan_incomplete"}, view)
            view = daemon.view()


@needs_other_users
class ShortLives(AttackCase):
    def test_processes_that_end_at_once_are_counted_and_kept(self):
        daemon = self.daemon("--quiet")
        lives = scaled(1000)
        parent = self.attacker(SHORT_LIVES.format(batches=lives // 50), uid=OTHER_STRANGER)

        def counted() -> float:
            return self.metric(daemon, "ttmem_process_deaths_total")
        wait_until(lambda: counted() + self.metric(daemon, "ttmem_processes_missed_total") >= lives, "all are counted")
        self.assertGreaterEqual(counted(), lives * 0.99)
        self.assertTrue(daemon.get("/v1/post-mortems")["post_mortems"])
        parent.kill()

    def test_a_process_with_a_hundred_segments_dies_once(self):
        daemon = self.daemon()
        process = self.attacker(SEGMENTS.format(seals="fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10 | fcntl.F_SEAL_SEAL",
                                                socket=self.directory.announce), **SMALL_SEGMENT)
        wait_until(lambda: daemon.get("/v1/self")["process_count"] >= 64, "many segments are attached")
        process.kill()
        daemon.wait_for_death(process.pid)
        wait_until(lambda: daemon.get("/v1/self")["process_count"] == 0, "all segments are detached")
        self.assertEqual(self.metric(daemon, "ttmem_process_deaths_total"), 1)


if __name__ == "__main__":
    main()
