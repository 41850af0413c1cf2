#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live processes are shown with the bytes that they hold per device."""

import os
import time

from harness.test_case import TestCase, main
from harness.tracked_process import SMALL_SEGMENT, TrackedProcess


class Figures(TestCase):
    def test_one_process_on_one_device_is_shown_with_all_its_figures(self):
        with TrackedProcess("""
                s = open_set([device(0xa1)], "device 0")
                scope("decoder.0")
                allocate(s, DRAM, 1048640, 4194304, 4202496, 1)
                temporary = allocate(s, DRAM, 1398848, 1000, 24576, 2)
                free(temporary)
                allocate(s, L1, 1466368, 1800000, 1835008, 3)
                allocate_cb(s, 42, 105664, 65536, [0xff] * 7)
                load_kernel(s, 42, KERNEL_FABRIC, 57344)
                load_kernel(s, 42, KERNEL_DISPATCH, 47104)
                """) as actor:
            view = self.direct_view()
            device = self.device_in(view, 0xa1)
            self.assertEqual((device["arch"], device["board"]), ("wormhole_b0", "n300"))
            self.assertEqual(device["memory"]["dram"], {
                "used": 4202496, "requested": 4194304, "capacity": 12872318208, "peak": 4202496 + 24576,
                "peak_exact": True, "count": 1, "planned": 0, "views": 0,
                "largest_free": 1072693184 - 4202496 // 12})
            self.assertEqual(device["memory"]["l1"]["used"], 1835008)
            self.assertEqual(device["memory"]["cb"]["used"], 65536 * 56)
            self.assertEqual(device["memory"]["cb"]["requested"], 65536)
            self.assertIsNone(device["memory"]["cb"]["capacity"])
            self.assertEqual(device["memory"]["kernel"]["used"], 57344 + 47104)
            self.assertEqual(device["kernel_by_type"], {"application": 0, "fabric": 57344, "dispatch": 47104})
            self.assertEqual(device["l1_worst_core"], {
                "core": [0, 0], "cb_top": 105664 + 65536, "lowest_buffer": 1466368,
                "headroom": 1466368 - 105664 - 65536, "used": 65536 + 1835008 // 56, "capacity": 1393472})
            process = self.process_in(view, actor.pid)
            self.assertEqual((process["state"], process["source"]), ("live", "segment"))
            self.assertEqual(process["uid"], os.geteuid())
            self.assertLess(abs(process["start_time_ns"] - time.time_ns()), 60e9)
            self.assertEqual(process["devices"][0]["memory"]["dram"],
                             {"used": 4202496, "requested": 4194304, "count": 1})

    def test_processes_with_meshes_submeshes_and_single_devices_add_up_on_each_device(self):
        with TrackedProcess("""
                chips = [device(0xb0 + i, i) for i in range(8)]
                allocate(open_set(chips, "mesh 2x4"), DRAM, 1048640, 1000, 12288)
                allocate(open_set(chips[:2], "mesh 1x2"), DRAM, 1048640, 100, 1200)
                allocate(open_set(chips[:1], "device 0"), DRAM, 1048640, 10, 120)
                """) as first, TrackedProcess("""
                chips = [device(0xb0 + i, i - 6) for i in (6, 7)]
                allocate(open_set(chips), L1, 1466368, 7, 56)
                """) as second:
            view = self.direct_view()
            used = [self.device_in(view, 0xb0 + i)["memory"]["dram"]["used"] for i in range(8)]
            self.assertEqual(used, [12288 + 1200 + 120, 12288 + 1200] + [12288] * 6)
            requested = [self.device_in(view, 0xb0 + i)["memory"]["dram"]["requested"] for i in range(8)]
            self.assertEqual(requested, [1110, 1100] + [1000] * 6)
            used = [self.device_in(view, 0xb0 + i)["memory"]["l1"]["used"] for i in range(8)]
            self.assertEqual(used, [0] * 6 + [56] * 2)
            for number, peak in ((0, 12288 + 1200 + 120), (1, 12288 + 1200), (7, 12288)):
                dram = self.device_in(view, 0xb0 + number)["memory"]["dram"]
                self.assertEqual((dram["peak"], dram["peak_exact"]), (peak, True))
            self.assertEqual(len(self.process_in(view, first.pid)["devices"]), 8)
            self.assertEqual([held["logical_id"] for held in self.process_in(view, second.pid)["devices"]], [0, 1])
            ids = [device["id"] for device in view["devices"]]
            self.assertEqual(ids, sorted(set(ids)))

    def test_four_processes_are_shown_at_once(self):
        actors = [TrackedProcess(f"allocate(open_set([device({0xc0 + i})]), DRAM, 1048640, {i + 1}, {12 * (i + 1)})")
                  for i in range(4)]
        try:
            view = self.direct_view()
            for i, actor in enumerate(actors):
                self.assertEqual(self.device_in(view, 0xc0 + i)["memory"]["dram"]["used"], 12 * (i + 1))
                self.assertEqual(self.process_in(view, actor.pid)["devices"][0]["memory"]["dram"]["requested"], i + 1)
        finally:
            for actor in actors:
                actor.close()

    def test_a_closed_set_and_an_ended_process_hold_nothing(self):
        with TrackedProcess("""
                s = open_set([device(0xd0)])
                allocate(s, DRAM, 1048640, 1000, 12288)
                library.ttmem_close_set(s)
                """) as actor:
            view = self.direct_view()
            self.assertEqual(self.device_in(view, 0xd0)["memory"]["dram"]["used"], 0)
            self.assertEqual(self.process_in(view, actor.pid)["devices"], [])
        self.assertNotIn(actor.pid, [process["pid"] for process in self.direct_view()["processes"]])

    def test_a_killed_process_and_its_memory_are_not_shown(self):
        with TrackedProcess("allocate(open_set([device(0xd1)]), DRAM, 1048640, 1000, 12288)") as actor:
            actor.kill()
            view = self.direct_view()
            self.assertNotIn(hex(0xd1), [device["asic_id"] for device in view["devices"]])
            self.assertNotIn(actor.pid, [process["pid"] for process in view["processes"]])

    def test_reports_by_address_are_marked_as_inexact(self):
        with TrackedProcess("report_allocation(3, 14753792, DRAM, 0x1000)") as actor:
            view = self.direct_view()
            self.assertFalse(view["exact"])
            self.assertIn({"pid": actor.pid, "code": "reserved_unknown",
                           "reason": "reserved size unknown: used counts the requested bytes", "detail": None,
                           "count": 1, "skipped": False}, view["inexact"])
            device = next(device for device in view["devices"] if device["id"] == 3)
            self.assertEqual(device["memory"]["dram"]["used"], 14753792)
            self.assertIsNone(device["memory"]["dram"]["capacity"])
            self.assertIsNone(device["memory"]["dram"]["largest_free"])
            text = self.ttmem("status").stdout
            self.assertIn("14.1 MiB / unknown", text)
            self.assertIn("figures inexact", text)

    def test_a_full_ledger_counts_what_it_refused_and_the_rest_is_exact(self):
        with TrackedProcess("""
                s = open_set([device(0xd2)])
                for i in range(100):
                    allocate(s, DRAM, 1048640 + 32 * i, 12, 12 * 32)
                """, **SMALL_SEGMENT) as actor:
            view = self.direct_view()
            self.assertEqual(self.device_in(view, 0xd2)["memory"]["dram"]["used"], 64 * 12 * 32)
            self.assertIn({"pid": actor.pid, "code": "ledger_full",
                           "reason": "ledger full: allocations not recorded", "detail": None, "count": 36,
                           "skipped": False}, view["inexact"])


class Allocations(TestCase):
    BODY = """
        s = open_set([device(0xe0), device(0xe1, 1)], "mesh 1x2")
        scope("decoder.3")
        for i in range(60):
            allocate(s, DRAM, 1048640 + 32 * i, 12 * (i + 1), 12 * (i + 1), i)
        allocate(s, L1 | VIEW, 0x1000, 5, 5)
        allocate(s, SYSTEM_MEMORY, 0x2000, 6, 6)
        scope("\\x1b[2Jmove")
        allocate(s, L1, 1466368, 2000, 5600)
        """

    def test_allocations_are_sorted_by_size_and_paged(self):
        with TrackedProcess(self.BODY) as actor:
            view = self.direct_view("allocations", "--pid", str(actor.pid))
            self.assertEqual((view["total"], view["left_out"]), (63, 13))
            used = [live["used"] for live in view["allocations"]]
            self.assertEqual(used, sorted(used, reverse=True))
            first = view["allocations"][0]
            self.assertEqual((first["kind"], first["used"], first["requested"], first["address"], first["set"]),
                             ("l1", 5600, 2000, 1466368, "mesh 1x2"))
            self.assertEqual(len(first["devices"]), 2)
            self.assertEqual(first["name"], "decoder.3/?[2Jmove")
            self.assertIn("... and 13 more", self.ttmem("allocations", "--pid", str(actor.pid)).stdout)
            everything = self.direct_view("allocations", "--pid", str(actor.pid), "--limit", "0")
            self.assertEqual(len(everything["allocations"]), 63)
            self.assertEqual([live["kind"] for live in everything["allocations"] if live["view"]], ["l1"])

    def test_pages_joined_by_their_cursors_are_the_whole_list(self):
        with TrackedProcess(self.BODY) as actor:
            for sort in ("used", "requested", "age", "address", "name"):
                arguments = ["allocations", "--pid", str(actor.pid), "--sort", sort]
                whole = [live["owner"] for live in self.direct_view(*arguments, "--limit", "0")["allocations"]]
                view = self.direct_view(*arguments, "--limit", "20")
                listed = [live["owner"] for live in view["allocations"]]
                while view["next"] is not None:
                    view = self.direct_view(*arguments, "--limit", "20", "--cursor", view["next"])
                    listed += [live["owner"] for live in view["allocations"]]
                self.assertEqual(listed, whole, sort)
            done = self.ttmem("allocations", "--cursor", "x")
            self.assertEqual(done.returncode, 1)
            self.assertIn("ttmem: the cursor does not belong to this list", done.stderr)

    def test_groups_sum_their_allocations(self):
        with TrackedProcess(self.BODY) as actor:
            arguments = ["allocations", "--pid", str(actor.pid), "--group"]
            by_kind = {group["key"]: group for group in self.direct_view(*arguments, "kind")["groups"]}
            self.assertEqual(by_kind["dram"]["memory"]["dram"]["used"], 2 * 12 * 60 * 61 // 2)  # on two devices
            self.assertEqual((by_kind["dram"]["count"], by_kind["l1"]["count"], by_kind["l1"]["views"]), (60, 1, 1))
            by_scope = self.direct_view(*arguments, "scope")["groups"]
            self.assertEqual([group["key"] for group in by_scope], ["decoder.3"])
            by_name = self.direct_view(*arguments, "name", "--name", "move")["groups"]
            self.assertEqual([(group["key"], group["memory"]["l1"]["used"]) for group in by_name],
                             [("decoder.3/?[2Jmove", 2 * 5600)])
            self.assertEqual([(group["memory"]["dram"]["used"], group["memory"]["l1"]["used"])
                              for group in self.direct_view(*arguments, "device")["groups"]],
                             [(12 * 60 * 61 // 2, 5600)] * 2)
            self.assertIn("63 live allocations in 3 groups by kind", self.ttmem(*arguments, "kind").stdout)

    def test_device_and_kind_filter_allocations(self):
        with TrackedProcess(self.BODY) as actor:
            for kind, number in [("dram", 60), ("l1", 2), ("system_memory", 1), ("cb", 0)]:
                view = self.direct_view("allocations", "--pid", str(actor.pid), "--kind", kind)
                self.assertEqual(view["total"], number, kind)
            id_ = self.device_in(self.direct_view(), 0xe1)["id"]
            for device in (str(id_), "0xe1", "0xE1"):
                self.assertEqual(self.direct_view("allocations", "--device", device, "--kind", "dram")["total"], 60)
            self.assertIn("No matching allocations.",
                          self.ttmem("allocations", "--pid", str(actor.pid), "--kind", "trace").stdout)

    def test_an_unknown_device_or_process_is_an_error(self):
        with TrackedProcess(self.BODY):
            for arguments, words in [(["--device", "99"], "no tracked process has a device 99"),
                                     (["--device", "0xdead"], "no tracked process has a device 0xdead"),
                                     (["--device", "x"], "no tracked process has a device x"),
                                     (["--pid", "1"], "there is no tracked process 1 ")]:
                done = self.ttmem("allocations", *arguments)
                self.assertEqual((done.returncode, done.stdout), (4, ""))
                self.assertIn("ttmem: " + words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)


class Forks(TestCase):
    def test_a_forked_child_that_inherited_the_descriptor_is_not_counted(self):
        with TrackedProcess("""
                import os, signal
                allocate(open_set([device(0xf0)]), DRAM, 1048640, 1000, 12288)
                answer = os.fork()
                if answer == 0:
                    signal.pause()
                """) as parent:
            view = self.direct_view()
            self.assertEqual(self.device_in(view, 0xf0)["memory"]["dram"]["used"], 12288)
            self.assertNotIn(parent.answer, [process["pid"] for process in view["processes"]])
            self.assertTrue(os.path.exists(f"/proc/{parent.answer}"))
            os.kill(parent.answer, 9)

    def test_a_forked_child_that_allocates_is_shown_as_its_own_process(self):
        with TrackedProcess("""
                import os, signal
                allocate(open_set([device(0xf1)]), DRAM, 1048640, 1000, 12288)
                done, tell = os.pipe()
                answer = os.fork()
                if answer == 0:
                    allocate(open_set([device(0xf2)]), DRAM, 1048640, 500, 6144)
                    os.write(tell, b"x")
                    signal.pause()
                os.read(done, 1)
                """) as parent:
            view = self.direct_view()
            self.assertEqual(self.device_in(view, 0xf1)["memory"]["dram"]["used"], 12288)
            self.assertEqual(self.device_in(view, 0xf2)["memory"]["dram"]["used"], 6144)
            child = next(process for process in view["processes"] if process["pid"] == parent.answer)
            self.assertEqual(len(child["devices"]), 1)
            self.assertEqual(self.ttmem("status").stderr, "")
            os.kill(parent.answer, 9)


if __name__ == "__main__":
    main()
