#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified clients of the earlier allocation server work with ttmemd, which has none of the faults of that server."""

import os
import random
import resource
import signal
import socket
import subprocess
import time

from harness.classic_case import ClassicCase
from harness.classic_client import (ALLOC, CB_ALLOC, CB_FREE, DEVICE_INFO_QUERY, DUMP_KERNELS, DUMP_REMAINING,
                                    FREE, GENERATIONS, INFO_NAMES, KERNEL_LOAD, KERNEL_UNLOAD, QUERY, Wire)
from harness.daemon import Daemon, RuntimeDirectory
from harness.programs import TTMEMD
from harness.test_case import main
from harness.users import STRANGER, needs_other_users
from harness.waiting import TIMEOUT, wait_until

DRAM, L1, L1_SMALL, TRACE = 0, 1, 3, 4


class Messages(ClassicCase):
    def test_each_generation_is_counted_and_answered_in_bursts_and_with_pauses(self):
        self.daemon()
        for generation in GENERATIONS:
            for count in (1, 2, 3, 50):
                wire = self.wire(generation)
                wire.socket.sendall(b"".join(wire.message(ALLOC, 1, 1000 + i, 0x1000 + i) for i in range(count)) +
                                    wire.message(QUERY, 1))
                total = sum(1000 + i for i in range(count))
                self.assertEqual(wire.receive()["dram"], total, (generation, count))
                for i in range(count):
                    wire.send(FREE, 1, 0, 0x1000 + i)
                self.assertEqual(wire.ask(QUERY, 1)["dram"], 0)
                slow = self.wire(generation)
                for i in range(3):
                    slow.send(ALLOC, 1, 7, 0x2000 + i)
                    wait_until(lambda i=i: self.held(1) == {"dram": 7 * (i + 1)}, "each is counted when it is sent")
                for i in range(3):
                    slow.send(FREE, 1, 0, 0x2000 + i)
                self.assertEqual(slow.ask(QUERY, 1)["dram"], 0)

    def test_messages_cut_at_every_byte_are_counted_and_answered(self):
        self.daemon()
        for generation in GENERATIONS:
            for at in range(1, generation):
                wire = Wire(self.path, generation)
                question = wire.message(QUERY, 2)
                wire.socket.sendall(question[:at])
                if at in (72, 112) or at % 16 == 0:  # a round trip, in which the daemon sees an empty queue
                    self.held()
                wire.socket.sendall(question[at:])
                self.assertEqual((wire.receive()["type"], wire.ask(QUERY, 2)["device"]), (4, 2), (generation, at))
                wire.close()

    def test_connections_of_different_generations_are_served_at_once(self):
        self.daemon()
        wires = [self.wire(generation) for generation in GENERATIONS]
        for i in range(30):
            for number, wire in enumerate(wires):
                wire.send(ALLOC, number, 10, 0x100 + i)
        for number, wire in enumerate(wires):
            self.assertEqual(wire.ask(QUERY, number)["dram"], 300)

    def test_a_query_as_first_message_is_answered_once(self):
        self.daemon()
        for generation in GENERATIONS:
            wire = self.wire(generation)
            self.assertEqual(wire.ask(QUERY, 5)["device"], 5)
            self.assertEqual(wire.ask(QUERY, 6)["device"], 6)  # the first answer had not a byte more

    def test_garbage_after_byte_72_changes_nothing(self):
        self.daemon()
        for generation in (112, 144):
            garbage = random.Random(generation)
            wire = self.wire(generation)
            for i in range(20):
                wire.send(ALLOC, 0, 5, 0x900 + i, garbage=garbage)
            wire.send(QUERY, 0, garbage=garbage)
            self.assertEqual(wire.receive()["dram"], 100)
            for i in range(20):
                wire.send(FREE, 0, 0, 0x900 + i, garbage=garbage)
            self.assertEqual(wire.ask()["dram"], 0)

    def test_half_a_message_is_not_counted(self):
        self.daemon()
        for generation in GENERATIONS:
            wire = self.wire(generation)
            wire.send(ALLOC, 0, 100, 0x10)
            wire.ask()
            wire.socket.sendall(wire.message(ALLOC, 0, 1000, 0x20)[:generation - 1])
            wire.close()
            wire = self.wire(generation)
            wait_until(lambda: self.held() == {"dram": 100}, "only the complete message is counted")
            wire.send(FREE, 0, 0, 0x10)
            self.assertEqual(wire.ask()["dram"], 0)

    def test_random_bytes_change_nothing_for_other_clients(self):
        daemon = self.daemon()
        honest = self.process_with_wire()
        honest.run("wire.send(ALLOC, 3, 4096, 0x1000); wire.ask()")
        self.process_with_wire().run(f"""
            import random
            dice = random.Random(5)
            for i in range(300):
                other = Wire({self.path!r})
                try:
                    other.socket.sendall(bytes([dice.randrange(14)]) + dice.randbytes(dice.randrange(2000)))
                except (BrokenPipeError, ConnectionResetError):
                    pass
                other.close()
            """)
        memory = self.process_of(daemon, honest.pid)["devices"]
        self.assertEqual([(one["id"], one["memory"]["dram"]["requested"]) for one in memory], [(3, 4096)])
        self.assertEqual(daemon.get("/v1/self")["defects"], 0)


class Counting(ClassicCase):
    def test_each_kind_is_counted_separately_until_its_last_reference_is_freed(self):
        self.daemon()
        wire = self.wire()
        for kind, size in ((DRAM, 1), (L1, 2), (L1_SMALL, 4), (TRACE, 8)):
            wire.send(ALLOC, 0, size, 0x1000 * (kind + 1), kind)
            wire.send(ALLOC, 0, size, 0x1000 * (kind + 1), kind)
        wire.send(CB_ALLOC, 0, 16, 0x1000)
        wire.send(KERNEL_LOAD, 0, 32, 0x1000, 1)
        wire.send(KERNEL_LOAD, 0, 32, 0x1000, 1)
        wire.ask()
        self.assertEqual(self.held(), {"dram": 1, "l1": 2, "l1_small": 4, "trace": 8, "cb": 16, "kernel": 32})
        for kind in (DRAM, L1, L1_SMALL, TRACE):
            wire.send(FREE, 0, 0, 0x1000 * (kind + 1))
        wire.ask()
        self.assertEqual(self.held(), {"dram": 1, "l1": 2, "l1_small": 4, "trace": 8, "cb": 16, "kernel": 32})
        for kind in (DRAM, L1, L1_SMALL, TRACE):
            wire.send(FREE, 0, 0, 0x1000 * (kind + 1))
        wire.send(CB_FREE, 0, 16, 0x1000)
        wire.send(KERNEL_UNLOAD, 0, 32, 0x1000)
        wire.ask()
        self.assertEqual(self.held(), {})

    def test_unknown_frees_are_counted_and_logged_and_no_figure_becomes_negative(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("wire.send(ALLOC, 0, 10, 1); [wire.send(FREE, 0, 0, 1) for _ in range(3)]; wire.ask()")
        client.run("wire.send(CB_FREE, 0, 2**63, 5); wire.send(KERNEL_UNLOAD, 0, 2**63, 5); answer = wire.ask()")
        self.assertEqual(self.held(), {})
        wait_until(lambda: daemon.log().count(f"⚠ [PID {client.pid}] Deallocation for unknown buffer") == 4, "each is in the log")
        reasons = {one["code"]: one["count"] for one in daemon.view()["inexact"] if one["pid"] == client.pid}
        self.assertEqual(reasons, {"unknown_free": 4})

    def test_views_lists_and_post_mortems_show_a_classic_client_like_any_process(self):
        daemon = self.daemon("--log-events", "all")
        client = self.process_with_wire()
        client.run("wire.send(ALLOC, 4, 4096, 0xabc); wire.ask()")
        process = self.process_of(daemon, client.pid)
        self.assertEqual((process["source"], process["state"]), ("classic", "live"))
        page = daemon.get(f"/v1/allocations?pid={client.pid}")["allocations"]
        self.assertEqual([(one["devices"], one["kind"], one["requested"], one["address"]) for one in page],
                         [([4], "dram", 4096, 0xabc)])
        line = f"✓ [PID {client.pid}] Allocated 4096 bytes of DRAM on device 4 (buffer_id={0xabc})"
        wait_until(lambda: line in daemon.log(), "the line of the earlier server")
        client.kill()
        daemon.wait_for_death(client.pid)
        self.assertEqual(self.held(4), {})
        dead = wait_until(lambda: [one for one in daemon.get("/v1/post-mortems")["post_mortems"]
                                   if one["process"]["pid"] == client.pid], "its post-mortem")
        self.assertEqual(dead[0]["process"]["devices"][0]["memory"]["dram"]["requested"], 4096)

    def test_messages_sent_just_before_a_death_are_in_the_post_mortem(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("wire.send(ALLOC, 0, 1, 1); wire.ask()")
        os.kill(daemon.pid, signal.SIGSTOP)
        client.run("[wire.send(ALLOC, 0, 1, 2 + i) for i in range(49)]")
        client.kill()
        os.kill(daemon.pid, signal.SIGCONT)
        dead = wait_until(lambda: [one for one in daemon.get("/v1/post-mortems")["post_mortems"]
                                   if one["process"]["pid"] == client.pid], "its post-mortem")
        self.assertEqual(dead[0]["process"]["devices"][0]["memory"]["dram"]["requested"], 50)

    def test_a_closed_connection_frees_nothing_and_all_connections_of_a_process_share_their_buffers(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run(f"""
            wire.send(ALLOC, 0, 10, 1); wire.ask(); wire.close()
            second = Wire({self.path!r}, 72)
            second.send(ALLOC, 0, 10, 1)
            second.send(FREE, 0, 0, 1); second.ask()
            """)
        self.assertEqual(self.held(), {"dram": 10})
        client.run("second.send(FREE, 0, 0, 1); second.ask()")
        self.assertEqual(self.held(), {})
        self.assertEqual(daemon.pids(), [client.pid])

    def test_device_info_includes_devices_that_only_segments_report(self):
        daemon = self.daemon()
        client = self.tracked_process("allocate(open_set([device(0xa), device(0xb, 1)]), DRAM, 64, 100, 128)")
        daemon.wait_for(client.pid)
        for generation in (112, 144):
            wire = self.wire(generation)
            self.assertEqual(wire.ask(DEVICE_INFO_QUERY, -1)["devices"], 2)
            info = wire.ask(DEVICE_INFO_QUERY, 1)
            self.assertEqual({name: info[name] for name in INFO_NAMES},
                             {"total_dram": 12872318208, "total_l1": 78034432, "arch": 2, "dram_channels": 12,
                              "dram_per_channel": 1072693184, "l1_per_core": 1393472, "is_available": 1, "devices": 2})
            self.assertEqual(wire.ask(DEVICE_INFO_QUERY, 9)["is_available"], 0)

    def test_a_device_without_a_known_capacity_is_not_available(self):
        self.daemon()
        wire = self.wire()
        wire.send(ALLOC, 3, 10, 0x10)
        info = wire.ask(DEVICE_INFO_QUERY, 3)
        self.assertEqual([info[name] for name in ("is_available", "total_dram", "total_l1", "devices")], [0, 0, 0, 4])

    def test_a_device_number_that_no_host_has_is_counted_and_makes_no_device(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("wire.send(ALLOC, 2_000_000_000, 10, 0x10); wire.send(ALLOC, 64, 10, 0x10); wire.send(ALLOC, 63, 10, 0x10)")
        self.assertEqual(client.run("answer = wire.ask(DEVICE_INFO_QUERY, -1)")["devices"], 64)
        view = daemon.view()
        self.assertEqual([device["id"] for device in view["devices"]], [63])
        self.assertIn((client.pid, "unknown_device", 2),
                      [(reason["pid"], reason["code"], reason["count"]) for reason in view["inexact"]])

    def test_dumps_go_to_standard_output(self):
        daemon = self.daemon()
        wire = self.wire()
        wire.send(ALLOC, 0, 10, 0x10)
        wire.send(ALLOC, 0, 20, 0x20, L1)
        wire.send(KERNEL_LOAD, 0, 30, 77, 2)
        wire.send(DUMP_REMAINING)
        wire.send(DUMP_KERNELS)
        wait_until(lambda: "Device 0: Buffers: 2, DRAM: 10 bytes, L1: 20 bytes\n" in daemon.log(), "the dump of buffers")
        self.assertIn(f"  Buffer 16: 10 bytes of DRAM (PID {os.getpid()})\n", daemon.log())
        wait_until(lambda: "Device 0: Kernels: 1, 30 bytes\n" in daemon.log(), "the dump of kernels")
        self.assertIn("  Kernel 77: 30 bytes, dispatch (PID ", daemon.log())

    def test_a_quiet_daemon_writes_no_dumps(self):
        daemon = self.daemon("--quiet")
        wire = self.wire()
        wire.send(ALLOC, 0, 10, 0x10)
        wire.send(DUMP_REMAINING)
        wire.send(DUMP_KERNELS)
        self.assertEqual(wire.ask(QUERY, 0)["dram"], 10)
        daemon.stop()  # which writes what is left
        self.assertEqual(daemon.log(), "")

    def test_statistics_are_logged_when_they_change_and_at_the_end(self):
        daemon = self.daemon("--log-events", "all")
        wire = self.wire()
        wire.send(ALLOC, 0, 10, 0x10)
        wire.send(ALLOC, 0, 20, 0x20, L1)
        wire.ask()
        wait_until(lambda: "Current Statistics:\nDevice 0: Buffers: " in daemon.log(), "the statistics of now")
        wire.send(FREE, 0, 0, 0x10)
        wire.ask()
        daemon.stop()
        self.assertTrue(daemon.log().endswith(
            "Final Statistics:\nDevice 0: Buffers: 1, DRAM: 0 bytes, L1: 20 bytes\nttmemd has ended\n"), daemon.log())

    def test_totals_are_the_sum_of_segments_and_classic_clients(self):
        daemon = self.daemon()
        sim = self.simulator("churn", "--devices", "0,1", "--threads", "2", "--live", "50", "--seconds", "0.1", "--seed", "3")
        old = self.process_with_wire()
        dice, live = random.Random(1), {}
        while sim.next():
            daemon.wait_for(sim.pid)
            for _ in range(50):
                device, buffer = dice.randrange(2), dice.randrange(1, 40)
                if (device, buffer) in live:
                    del live[device, buffer]
                    old.run(f"wire.send(FREE, {device}, 0, {buffer})")
                else:
                    live[device, buffer] = dice.randrange(1, 10**6)
                    old.run(f"wire.send(ALLOC, {device}, {live[device, buffer]}, {buffer})")
            old.run("wire.ask()")
            view = daemon.view()
            asic_ids = {one["id"]: one["asic_id"] for one in view["devices"]}
            for number, device in asic_ids.items():
                mine = sum(size for (on, _), size in live.items() if on == number)
                theirs = sim.truth.get(device, {}).get("dram", (0, 0))[1]
                self.assertEqual(self.held(number).get("dram", 0), mine + theirs)
        sim.finish()

    def test_a_process_with_a_segment_and_a_connection_counts_once(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("report_allocation(0, 1000, 0, 0x5000); wire.send(ALLOC, 0, 1000, 0x5000); wire.ask()")
        daemon.wait_for(client.pid)
        wait_until(lambda: self.held() == {"dram": 1000}, "bytes that are reported twice count once")
        self.assertEqual(self.process_of(daemon, client.pid)["source"], "segment")


class FaultsOfTheEarlierServer(ClassicCase):
    def test_a_client_that_closes_without_reading_its_answer_disturbs_nothing(self):
        daemon = self.daemon()
        for _ in range(20):
            wire = Wire(self.path)
            wire.send(QUERY)
            wire.close()
        self.assertEqual(self.held(), {})
        self.assertIsNone(daemon.process.poll())

    def test_a_client_that_never_reads_its_answers_is_counted_and_delays_no_other(self):
        self.daemon()
        deaf = self.process_with_wire()
        deaf.run("""
            for i in range(20000):
                wire.send(QUERY)
            wire.send(ALLOC, 0, 5, 1)
            """)
        wait_until(lambda: self.held() == {"dram": 5}, "what it sends is counted")

    def test_client_and_daemon_survive_each_others_death(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("wire.send(ALLOC, 0, 10, 1); wire.ask()")
        daemon.kill()
        client.run("""
            try:
                while True:
                    wire.send(ALLOC, 0, 10, 2)
            except (BrokenPipeError, ConnectionResetError):
                answer = "hung up"
            """)
        daemon = self.daemon()
        client.run(f"wire = Wire({self.path!r}); wire.send(ALLOC, 0, 20, 3); wire.ask()")
        self.assertEqual(self.held(), {"dram": 20})
        reasons = [one["code"] for one in daemon.view()["inexact"] if one["pid"] == client.pid]
        self.assertIn("started_before_ledger", reasons)
        client.kill()
        daemon.wait_for_death(client.pid)
        self.assertEqual(self.held(), {})

    @needs_other_users
    def test_no_user_can_free_the_buffers_of_another(self):
        daemon = self.daemon()
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o666)
        stranger = self.process_with_wire(uid=STRANGER)
        stranger.run("wire.send(ALLOC, 0, 10, 1); wire.ask()")
        mine = self.wire()
        # With the pid of that process, of another, and with none.
        for pid in (stranger.pid, 1, -5, os.getpid()):
            mine.send(FREE, 0, 0, 1, pid=pid)
        mine.ask()
        # The earlier server took the processes of other users for dead.
        audits = daemon.get("/v1/self")["audits"]
        wait_until(lambda: daemon.get("/v1/self")["audits"] > audits + 2, "the daemon has scanned some more times")
        self.assertEqual(self.held(), {"dram": 10})
        self.assertEqual(self.process_of(daemon, stranger.pid)["devices"][0]["memory"]["dram"]["requested"], 10)

    def test_a_message_with_a_wrong_pid_belongs_to_its_sender(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("wire.send(ALLOC, 0, 10, 1, pid=1); wire.send(QUERY, pid=1); wire.receive()")
        self.assertEqual([one["pid"] for one in daemon.view()["processes"]], [client.pid])

    def test_a_zombie_holds_nothing(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("wire.send(ALLOC, 0, 10, 1); wire.ask()")
        os.kill(client.pid, signal.SIGKILL)  # it stays a zombie, because no process waits for it
        daemon.wait_for_death(client.pid)
        with open(f"/proc/{client.pid}/stat", encoding="utf-8") as file:
            self.assertEqual(file.read().split()[2], "Z")
        self.assertEqual(self.held(), {})

    def test_sizes_that_would_overflow_are_refused_and_counted(self):
        daemon = self.daemon()
        client = self.process_with_wire()
        client.run("[wire.send(ALLOC, 0, 2**64 - 1, 1 + i) for i in range(3)]; wire.send(ALLOC, 0, 7, 9); wire.ask()")
        self.assertEqual(self.held(), {"dram": 7})
        reasons = {one["code"]: one["count"] for one in daemon.view()["inexact"]}
        self.assertEqual(reasons["implausible_size"], 3)

    def test_without_free_descriptors_the_daemon_does_not_spin_and_later_serves_again(self):
        daemon = self.daemon()
        before = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (before + 20, before + 20))
        wires = [Wire(self.path) for _ in range(40)]
        wires[-1].send(QUERY)

        def cpu() -> float:
            with open(f"/proc/{daemon.pid}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        spent, start = cpu(), time.monotonic()
        time.sleep(1)  # the time over which the processor time is measured
        self.assertLess(cpu() - spent, 0.5 * (time.monotonic() - start))
        for wire in wires[:-1]:
            wire.close()
        self.assertEqual(wires[-1].receive()["type"], 4)
        wires[-1].close()

    def test_a_second_daemon_leaves_the_socket_alone_and_reports_it(self):
        self.daemon()
        wire = self.wire()
        wire.send(ALLOC, 0, 10, 1)
        wire.ask()
        other = RuntimeDirectory()
        self.addCleanup(other.remove)
        second = Daemon(other, "--classic-wire", self.path)
        self.addCleanup(second.close)
        self.assertIn("another server answers at " + self.path, second.error_text())
        second.process.terminate()
        self.assertEqual(second.process.wait(TIMEOUT), 0)
        self.assertEqual(self.held(), {"dram": 10})

    def test_the_socket_of_a_dead_server_is_replaced_and_can_be_disabled(self):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(self.path)
        daemon = self.daemon()
        self.assertEqual(self.held(), {})
        daemon.stop()
        self.assertFalse(os.path.exists(self.path))
        daemon = self.daemon("--classic-wire", "none")
        self.assertFalse(os.path.exists(self.path))

    def test_connections_beyond_the_share_of_a_user_are_closed_and_the_others_are_served(self):
        daemon = self.daemon()
        wires = [Wire(self.path) for _ in range(256)]
        wires[0].send(ALLOC, 0, 3, 1)
        wires[255].send(ALLOC, 0, 4, 2)
        self.assertEqual(wires[100].ask()["type"], 4)
        wait_until(lambda: wires[101].ask(QUERY, 0)["dram"] == 7, "the first and the last connection are read")
        for _ in range(300):
            with socket.socket(socket.AF_UNIX) as refused:
                refused.connect(self.path)
                refused.settimeout(TIMEOUT)
                self.assertEqual(refused.recv(1), b"")
        self.assertEqual(wires[102].ask()["dram"], 7)
        wait_until(lambda: "to the classic wire are closed: at most 256 per user" in daemon.log(), "the log says so")
        self.assertEqual(daemon.log().count("to the classic wire are closed"), 1)
        for wire in wires:
            wire.close()
        wait_until(self.is_served, "there is room again")

    def is_served(self) -> bool:
        wire = Wire(self.path)
        try:
            return wire.ask()["type"] == 4
        except (AssertionError, OSError):
            return False
        finally:
            wire.close()

    def test_a_paused_log_reader_blocks_no_client(self):
        reading, writing = os.pipe()
        daemon = self.daemon("--log-events", "all", stdout=writing)
        client = self.process_with_wire()
        client.run("[wire.send(ALLOC, 0, 1, 1 + i) for i in range(100000)]; wire.send(DUMP_REMAINING); wire.ask()")
        self.assertEqual(self.held(), {"dram": 100000})
        daemon.kill()
        os.close(reading)
        os.close(writing)

    def test_more_than_8_devices_are_counted(self):
        self.daemon()
        wire = self.wire()
        for device in range(64):
            wire.send(ALLOC, device, 100 + device, 1)
        wire.ask()
        for device in (0, 8, 9, 63):
            self.assertEqual(self.held(device), {"dram": 100 + device})
        self.assertEqual(wire.ask(DEVICE_INFO_QUERY, -1)["devices"], 64)

    def test_the_old_program_name_starts_the_daemon_with_the_old_log(self):
        path = os.path.join(os.path.dirname(TTMEMD), "allocation_server_poc")
        with open(os.path.join(self.directory.path, "out.log"), "wb") as log:
            process = subprocess.Popen([path, "--listen", "none"], stdout=log,
                                       env=os.environ | {"TTMEM_RUNTIME_DIR": self.directory.path})
        try:
            wait_until(lambda: os.path.exists(self.path), "it listens")
            wire = self.wire()
            wire.send(ALLOC, 0, 262144, 1)
            wire.send(CB_ALLOC, 0, 262144, 1)
            wire.ask()

            def said() -> str:
                with open(os.path.join(self.directory.path, "out.log"), encoding="utf-8") as file:
                    return file.read()
            wait_until(lambda: "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)" in said(), "the line of the earlier server")
            self.assertIn("Allocated 262144 bytes of DRAM on device 0 (buffer_id=1)", said())
        finally:
            process.terminate()
            self.assertEqual(process.wait(TIMEOUT), 0)


if __name__ == "__main__":
    main()
