#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon and the direct reader show of the host: devices, sensors, and the processes that hold devices."""

import ctypes
import os
import threading

from harness.driver_tree import BOARDS, GARBAGE, TELEMETRY, DriverTree
from harness.figures import KINDS
from harness.host_case import HostCase, description_of, device_of, process_of, reasons_of, used_on
from harness.stock_region import StockRegion
from harness.test_case import main
from harness.waiting import wait_until

UNTRACKED = "untracked"
IN_OPEN, IN_MODIFY, IN_CLOSE_WRITE = 0x20, 0x2, 0x8


class Watch:
    """Notices accesses to a file."""

    def __init__(self, path: str, events: int):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self.descriptor, path.encode(), events) >= 0, os.strerror(ctypes.get_errno())

    def saw_any(self) -> bool:
        try:
            return len(os.read(self.descriptor, 65536)) > 0
        except BlockingIOError:
            return False

    def close(self):
        os.close(self.descriptor)


class Boards(HostCase):
    def check(self, tree: DriverTree, view: dict):
        self.assertEqual([description_of(device) for device in view["devices"]],
                         [tree.expected_view(number) for number in range(tree.count)])
        for device in view["devices"]:
            capacities = {kind: device["memory"][kind]["capacity"] for kind in KINDS}
            self.assertEqual(capacities, dict.fromkeys(KINDS) | {"dram": tree.dram, "l1": tree.l1})
            self.assertEqual({figures["used"] for figures in device["memory"].values()}, {0})
        self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))

    def test_each_board_is_shown_with_the_values_of_its_files(self):
        for board in BOARDS:
            with self.subTest(board=board):
                tree = self.tree(board)
                daemon = self.daemon()
                self.check(tree, daemon.view())
                by_daemon = self.json_of("status")
                self.assertEqual(by_daemon["source"], "daemon")
                self.check(tree, by_daemon)
                text = self.output_of("status")
                self.assertIn("48 / 90 C", text)
                self.assertIn("17 / 85 W", text)
                self.assertIn(tree.bdf(tree.count - 1), text)
                daemon.stop()
                self.check(tree, self.direct_view())
                self.assertEqual({device["telemetry"]["alive"] for device in self.direct_view()["devices"]}, {None})
                self.assertIn("48 / 90 C", self.output_of("status", "--direct"))

    def test_a_host_without_a_driver_has_no_devices_and_is_exact(self):
        tree = self.tree("n150")
        os.rename(tree.path("sys"), tree.path("no-sys"))
        view = self.daemon().view()
        self.assertEqual((view["devices"], view["processes"], view["exact"]), ([], [], True))
        client = self.process_holding_dram(0xe1)
        wait_until(lambda: self.direct_view()["processes"], "it has its segment")
        device, = self.direct_view()["devices"]
        self.assertEqual((device["remote"], device["driver"]), (None, None))
        client.finish()

    def test_a_heartbeat_that_changes_is_alive_and_one_that_does_not_is_stuck(self):
        tree = self.tree("t3000")
        os.unlink(tree.attribute(2, "tt_heartbeat"))
        daemon = self.daemon()
        beats = 1000

        def alive_states(beating: int | None) -> list:
            nonlocal beats
            beats += 1
            if beating is not None:
                tree.write(tree.attribute(beating, "tt_heartbeat"), beats)
            return [device["telemetry"]["alive"] for device in daemon.view()["devices"]]
        wait_until(lambda: alive_states(0) == [True, False, None, False], "only the first heartbeat changes")
        self.assertRegex(self.output_of("status"), r"\n +0 .*alive.*\n +1 .*stuck.*\n +2 .* - ")
        wait_until(lambda: alive_states(1) == [False, True, None, False], "only the second heartbeat changes")
        wait_until(lambda: alive_states(None) == [False, False, None, False], "no heartbeat changes")

    def test_absent_values_are_null_and_never_0(self):
        tree = self.tree("n150")
        for path in tree.files(0):
            os.unlink(path)
        for view in (self.daemon().view(), self.direct_view()):
            device, = view["devices"]
            self.assertEqual((device["id"], device["bdf"]), (0, tree.bdf(0)))
            self.assertEqual({device[name] for name in ("arch", "board", "asic_id")}, {None})
            self.assertEqual(device["telemetry"], dict.fromkeys(TELEMETRY))
            self.assertEqual({figures["capacity"] for figures in device["memory"].values()}, {None})


class Holders(HostCase):
    def test_a_process_that_reports_nothing_is_untracked_and_makes_the_use_of_its_device_unknown(self):
        tree = self.tree("t3000")
        sleeper = self.untracked_process()
        tree.set_holders(1, sleeper.pid, sleeper.pid)
        tree.set_holders(3, sleeper.pid)
        daemon = self.daemon()
        for view in (daemon.view(), self.direct_view()):
            process, = view["processes"]
            self.assertEqual((process["pid"], process["inner_pid"], process["comm"], process["state"],
                              process["source"], process["container"]),
                             (sleeper.pid, sleeper.pid, "sleep", "untracked", "driver", None))
            self.assertEqual([device["id"] for device in process["devices"]], [1, 3])
            for device in process["devices"]:
                self.assertEqual(device["memory"], dict.fromkeys(KINDS, {"used": None, "requested": None,
                                                                         "count": None}))
            for held in (1, 3):
                self.assertEqual(used_on(view, held), dict.fromkeys(KINDS))
            for free in (0, 2):
                self.assertEqual(used_on(view, free), dict.fromkeys(KINDS, 0))
            self.assertFalse(view["exact"])
            self.assertEqual(reasons_of(view, sleeper.pid), {UNTRACKED})
        self.assertRegex(self.output_of("ps"), rf"\n *{sleeper.pid} .*sleep.*unknown")
        self.assertRegex(self.output_of("status"), r"\n +1 .*unknown / 12\.0 GiB")

        sleeper.kill()
        sleeper.wait()
        for view in (daemon.view(), self.direct_view()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 1), dict.fromkeys(KINDS, 0))

    def test_a_process_that_closes_the_device_disappears(self):
        tree = self.tree("n150")
        sleeper = self.untracked_process()
        tree.set_holders(0, sleeper.pid)
        daemon = self.daemon()
        self.assertEqual(daemon.pids(), [sleeper.pid])
        tree.set_holders(0)
        daemon.wait_for_death(sleeper.pid)
        self.assertTrue(daemon.view()["exact"])

    def test_a_process_with_a_segment_is_never_untracked_not_even_when_it_dies(self):
        tree = self.tree("n300")
        daemon = self.daemon()
        client, sleeper = self.process_holding_dram(tree.asic_id(0)), self.untracked_process()
        daemon.wait_for(client.pid)
        tree.set_holders(0, client.pid, sleeper.pid)
        daemon.wait_for(sleeper.pid)  # so the daemon has read the list
        for view in (daemon.view(), self.direct_view()):
            process = process_of(view, client.pid)
            self.assertEqual((process["state"], process["source"]), ("live", "segment"))
            self.assertEqual(reasons_of(view, client.pid), set())
            self.assertEqual(device_of(view, 0)["memory"]["dram"]["used"], 12288)  # the bytes of the tracked process
        client.kill()
        states = []
        wait_until(lambda: states.append(process_of(daemon.view(), client.pid)) or states[-1] is None, "the process is gone")
        self.assertNotIn("untracked", {one["state"] for one in states if one})
        sleeper.kill()
        sleeper.wait()
        self.assertTrue(daemon.view()["exact"], daemon.view()["inexact"])

    def test_pids_without_a_process_are_ignored(self):
        tree = self.tree("n150")
        gone = self.untracked_process()
        tree.add_processes(gone.pid)
        gone.kill()
        gone.wait()
        tree.write(tree.pids_file(0), f"{gone.pid}\n-1\n4194305\n99999999999999999999\nx\n\n".encode())
        for view in (self.daemon().view(), self.direct_view()):
            self.assertEqual((view["processes"], view["inexact"]), ([], []))

    def test_a_holder_outside_of_the_pid_namespace_makes_the_view_inexact(self):
        tree = self.tree("n150")
        tree.write(tree.pids_file(0), b"0\n")  # what the driver writes for it
        for view in (self.daemon().view(), self.direct_view()):
            self.assertEqual([(one["code"], one["count"]) for one in view["inexact"]], [("processes_unreadable", 1)])

    def test_without_lists_of_the_driver_holders_are_found_by_their_descriptors(self):
        tree = self.tree("t3000")
        os.unlink(tree.pids_file(2))
        with open(tree.node(2), encoding="utf-8") as node, open(tree.node(0), encoding="utf-8") as other:
            sleeper, not_listed = self.untracked_process(stdin=node), self.untracked_process(stdin=other)
        tree.add_processes(sleeper.pid, not_listed.pid)
        for view in (self.daemon().view(), self.direct_view()):
            self.assertEqual([(one["pid"], one["state"], [device["id"] for device in one["devices"]])
                              for one in view["processes"]], [(sleeper.pid, "untracked", [2])])


class Numbers(HostCase):
    def test_a_device_has_the_number_of_the_driver_and_a_chip_behind_it_is_remote(self):
        tree = self.tree("t3000")
        daemon = self.daemon()
        remote_id = 0xbeef
        # The process numbers its devices differently from the driver.
        client = self.tracked_process(f"""
            near, far = device({tree.asic_id(2)}, 0), device({remote_id}, 1)
            allocate(open_set([near]), DRAM, 1048640, 1000, 12288)
            allocate(open_set([far]), DRAM, 1048640, 2000, 24576)
            """)
        daemon.wait_for(client.pid)
        for view in (daemon.view(), self.direct_view()):
            self.assertEqual([device["id"] for device in view["devices"]], [0, 1, 2, 3, 4])
            self.assertEqual(description_of(device_of(view, 2)), tree.expected_view(2))
            self.assertEqual([used_on(view, number)["dram"] for number in range(5)], [0, 0, 12288, 0, 24576])
            remote = device_of(view, 4)
            self.assertEqual((remote["asic_id"], remote["remote"], remote["bdf"], remote["driver"]),
                             (hex(remote_id), True, None, None))
            self.assertEqual(remote["telemetry"], dict.fromkeys(TELEMETRY))
            self.assertEqual([(device["id"], device["logical_id"]) for device in
                              process_of(view, client.pid)["devices"]], [(2, 0), (4, 1)])
            self.assertTrue(view["exact"], view["inexact"])
        self.assertRegex(self.output_of("status"), r"\n +4 +remote ")


class BrokenDevices(HostCase):
    def test_a_device_that_disappears_and_returns_broken_changes_no_other(self):
        tree = self.tree("t3000")
        daemon = self.daemon()
        client = self.process_holding_dram(tree.asic_id(3))
        daemon.wait_for(client.pid)

        def others_of(view: dict) -> dict:
            self.assertEqual(used_on(view, 3)["dram"], 12288)
            self.assertEqual([description_of(device_of(view, number)) for number in (0, 2, 3)],
                             [tree.expected_view(number) for number in (0, 2, 3)])
            return view

        def wait_for(condition, what: str) -> dict:
            def holds():
                view = others_of(daemon.view())
                return view if condition(device_of(view, 1)) else None
            others_of(self.direct_view())
            return wait_until(holds, what)

        tree.remove_device(1)
        wait_for(lambda device: device is None, "the device is gone")
        self.assertIsNone(device_of(self.direct_view(), 1))

        tree.add_device(1, lambda files: dict.fromkeys(files, GARBAGE))
        wait_for(lambda device: device is not None, "it is back, with garbage")
        for view in (daemon.view(), self.direct_view()):
            device = device_of(view, 1)
            self.assertEqual(description_of(device) | {"telemetry": device["telemetry"]},
                             {"id": 1, "arch": None, "board": None, "asic_id": None, "bdf": tree.bdf(1), "remote": False,
                              "driver": {"bdf": tree.bdf(1), "numa_node": None, "serial": None, "firmware": None,
                                         "pcie": dict.fromkeys(("speed", "max_speed", "width", "max_width"))},
                              "telemetry": dict.fromkeys(TELEMETRY)})
            self.assertEqual(used_on(view, 1)["dram"], 0)

        tree.remove_device(1)
        wait_for(lambda device: device is None, "the device is gone again")
        tree.add_device(1, lambda files: dict(list(files.items())[::2]))
        wait_for(lambda device: device is not None, "it is back, with half of its files")
        whole = tree.expected_view(1)
        for view in (daemon.view(), self.direct_view()):
            half = description_of(device_of(view, 1))
            self.assert_part(half, whole)
            missing = [name for name, value in half["telemetry"].items() if value is None]
            self.assertGreater(len(missing), 3)

        tree.remove_device(1)
        wait_for(lambda device: device is None, "the device is gone again")
        tree.add_device(1)
        view = wait_for(lambda device: device is not None and device["board"], "the device is back with all values")
        self.assertEqual(description_of(device_of(view, 1)), whole)
        client.finish()
        daemon.stop()  # checks that it printed no error

    def assert_part(self, part: dict, whole: dict):
        """Each value is true or null."""
        self.assertEqual(part.keys(), whole.keys())
        for name, value in part.items():
            if isinstance(value, dict):
                self.assert_part(value, whole[name])
            elif value is not None:
                self.assertEqual(value, whole[name], name)

    def test_all_ones_of_a_device_that_is_off_the_bus_are_not_taken_for_values(self):
        tree = self.tree("p150")
        for path in tree.files(0):
            text = "ffffffffffffffff" if path.endswith(("tt_asic_id", "tt_serial")) else "255.255.255.255" \
                if path.endswith("tt_fw_bundle_ver") else "4294967295"
            if not path.endswith(("vendor", "/device", "tt_card_type", "name")):
                tree.write(path, text)
        for view in (self.daemon().view(), self.direct_view()):
            device, = view["devices"]
            self.assertEqual((device["asic_id"], device["driver"]["serial"], device["driver"]["firmware"]), (None,) * 3)
            self.assertEqual(device["telemetry"], dict.fromkeys(TELEMETRY))

    def test_scans_while_a_device_comes_and_goes_show_true_values_or_none(self):
        tree = self.tree("t3000")
        ended = threading.Event()

        def toggle():
            while not ended.is_set():
                tree.remove_device(1)
                tree.add_device(1)
        toggler = threading.Thread(target=toggle)
        toggler.start()
        try:
            daemon = self.daemon()
            for _ in range(40):
                for view in (self.direct_view(), daemon.view()):
                    for number in (0, 2, 3):
                        self.assertEqual(description_of(device_of(view, number)), tree.expected_view(number))
                    if device := device_of(view, 1):
                        self.assert_part(description_of(device), tree.expected_view(1))
                    self.assertEqual([one["id"] for one in view["devices"] if one["id"] not in (0, 1, 2, 3)], [])
                    self.assertTrue(view["exact"])
        finally:
            ended.set()
            toggler.join()
        daemon.stop()

    def test_another_chip_in_the_same_slot_is_another_device(self):
        tree = self.tree("t3000")
        daemon = self.daemon()
        former = tree.asic_id(1)
        self.assertEqual(device_of(daemon.view(), 1)["asic_id"], hex(former))
        tree.remove_device(1)
        wait_until(lambda: device_of(daemon.view(), 1) is None, "the device is gone")
        tree.add_device(1, lambda files: files | {tree.attribute(1, "tt_asic_id"): "000000000000BEEF"})
        back = wait_until(lambda: [one for one in daemon.view()["devices"] if one["bdf"] == tree.bdf(1)], "the device is back")
        self.assertEqual(back[0]["asic_id"], "0xbeef")
        self.assertEqual(len(daemon.view()["devices"]), 4)


class NoAccess(HostCase):
    def test_no_device_is_opened_and_no_region_is_written(self):
        tree = self.tree("t3000")
        os.unlink(tree.pids_file(1))  # so that descriptors are searched
        with open(tree.node(1), encoding="utf-8") as node:
            holder = self.untracked_process(stdin=node)
        stock = self.untracked_process()
        tree.set_holders(0, stock.pid)
        tree.add_processes(holder.pid)
        region = StockRegion(tree.path("dev/shm"), tree.asic_id(0))
        region.put(stock.pid, dram=1)
        watches = [Watch(tree.node(device), IN_OPEN) for device in range(tree.count)]
        writes = Watch(region.path, IN_MODIFY | IN_CLOSE_WRITE)
        for watch in (*watches, writes):
            self.addCleanup(watch.close)

        daemon = self.daemon()
        for _ in range(3):
            view = self.refresh(daemon, tree)
            self.assertEqual([one["pid"] for one in view["processes"]], sorted([holder.pid, stock.pid]))
        for command in (["status"], ["ps"], ["status", "--direct"], ["ps", "--direct"], ["allocations", "--direct"]):
            self.output_of(*command)
        daemon.stop()
        self.assertEqual([watch.saw_any() for watch in watches], [False] * tree.count)
        self.assertFalse(writes.saw_any())

        for device, watch in enumerate(watches):  # the watches work
            with open(tree.node(device), encoding="utf-8"):
                self.assertTrue(watch.saw_any())
        region.write()
        self.assertTrue(writes.saw_any())


if __name__ == "__main__":
    main()
