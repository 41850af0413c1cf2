#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon and the direct reader show of the host itself: devices, sensors, and who holds them."""

import ctypes
import os
import threading

import host
from driver_tree import BOARDS, GARBAGE, TELEMETRY, DriverTree
from figures import KINDS
from host import wait_until
from host_case import Case, description_of, device_of, process_of, reasons_of, used_on
from stock_region import StockRegion

UNTRACKED = "untracked: it has devices open and reports nothing, so what it holds is in no figure"
IN_OPEN, IN_MODIFY, IN_CLOSE_WRITE = 0x20, 0x2, 0x8


class Watch:
    """Sees what happens to a file."""

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


class Boards(Case):
    def check(self, tree: DriverTree, view: dict):
        self.assertEqual([description_of(device) for device in view["devices"]],
                         [tree.shown(number) for number in range(tree.count)])
        for device in view["devices"]:
            capacities = {kind: device["memory"][kind]["capacity"] for kind in KINDS}
            self.assertEqual(capacities, dict.fromkeys(KINDS) | {"dram": tree.dram, "l1": tree.l1})
            self.assertEqual({figures["used"] for figures in device["memory"].values()}, {0})
        self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))

    def test_each_board_shows_as_its_files_say(self):
        for board in BOARDS:
            with self.subTest(board=board):
                tree = self.tree(board)
                daemon = self.daemon()
                self.check(tree, daemon.view())
                by_daemon = host.look(self.directory)
                self.assertEqual(by_daemon["source"], "daemon")
                self.check(tree, by_daemon)
                text = self.text("status")
                self.assertIn("48 / 90 C", text)
                self.assertIn("17 / 85 W", text)
                self.assertIn(tree.bdf(tree.count - 1), text)
                daemon.stop()
                self.check(tree, self.direct())
                self.assertEqual({device["telemetry"]["alive"] for device in self.direct()["devices"]}, {None})
                self.assertIn("48 / 90 C", self.text("status", "--direct"))

    def test_a_host_without_a_driver_has_no_devices_and_is_exact(self):
        tree = self.tree("n150")
        os.rename(tree.path("sys"), tree.path("no-sys"))
        view = self.daemon().view()
        self.assertEqual((view["devices"], view["processes"], view["exact"]), ([], [], True))
        client = self.holding(0xe1)
        wait_until(lambda: self.direct()["processes"], "it has its segment")
        device, = self.direct()["devices"]
        self.assertEqual((device["remote"], device["driver"]), (None, None))
        client.end()

    def test_a_heart_that_beats_is_alive_and_one_that_stands_still_is_stuck(self):
        tree = self.tree("t3000")
        os.unlink(tree.attribute(2, "tt_heartbeat"))
        daemon = self.daemon()
        beats = 1000

        def hearts(beating: int | None) -> list:
            nonlocal beats
            beats += 1
            if beating is not None:
                tree.write(tree.attribute(beating, "tt_heartbeat"), beats)
            return [device["telemetry"]["alive"] for device in daemon.view()["devices"]]
        wait_until(lambda: hearts(0) == [True, False, None, False], "the first beats, the others do not")
        self.assertRegex(self.text("status"), r"\n +0 .*alive.*\n +1 .*stuck.*\n +2 .* - ")
        wait_until(lambda: hearts(1) == [False, True, None, False], "they change places")
        wait_until(lambda: hearts(None) == [False, False, None, False], "none beats")

    def test_absent_values_are_null_and_never_0(self):
        tree = self.tree("n150")
        for path in tree.files(0):
            os.unlink(path)
        for view in (self.daemon().view(), self.direct()):
            device, = view["devices"]
            self.assertEqual((device["id"], device["bdf"]), (0, tree.bdf(0)))
            self.assertEqual({device[name] for name in ("arch", "board", "asic_id")}, {None})
            self.assertEqual(device["telemetry"], dict.fromkeys(TELEMETRY))
            self.assertEqual({figures["capacity"] for figures in device["memory"].values()}, {None})


class Holders(Case):
    def test_one_that_reports_nothing_is_untracked_and_what_its_device_holds_is_not_known(self):
        tree = self.tree("t3000")
        sleeper = self.someone()
        tree.hold(1, sleeper.pid, sleeper.pid)
        tree.hold(3, sleeper.pid)
        daemon = self.daemon()
        for view in (daemon.view(), self.direct()):
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
        self.assertRegex(self.text("ps"), rf"\n *{sleeper.pid} .*sleep.*unknown")
        self.assertRegex(self.text("status"), r"\n +1 .*unknown / 12\.0 GiB")

        sleeper.kill()
        sleeper.wait()
        for view in (daemon.view(), self.direct()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 1), dict.fromkeys(KINDS, 0))

    def test_one_that_closes_the_device_goes(self):
        tree = self.tree("n150")
        sleeper = self.someone()
        tree.hold(0, sleeper.pid)
        daemon = self.daemon()
        self.assertEqual(daemon.pids(), [sleeper.pid])
        tree.hold(0)
        daemon.wait_for_death(sleeper.pid)
        self.assertTrue(daemon.view()["exact"])

    def test_one_with_a_segment_is_not_untracked_neither_when_it_dies(self):
        tree = self.tree("n300")
        daemon = self.daemon()
        client, sleeper = self.holding(tree.asic_id(0)), self.someone()
        daemon.wait_for(client.pid)
        tree.hold(0, client.pid, sleeper.pid)
        daemon.wait_for(sleeper.pid)  # so the daemon has read the list
        for view in (daemon.view(), self.direct()):
            process = process_of(view, client.pid)
            self.assertEqual((process["state"], process["source"]), ("live", "segment"))
            self.assertEqual(reasons_of(view, client.pid), set())
            self.assertEqual(device_of(view, 0)["memory"]["dram"]["used"], 12288)  # what is known of it
        client.kill()
        states = []
        wait_until(lambda: states.append(process_of(daemon.view(), client.pid)) or states[-1] is None, "it is gone")
        self.assertNotIn("untracked", {one["state"] for one in states if one})
        sleeper.kill()
        sleeper.wait()
        self.assertTrue(daemon.view()["exact"], daemon.view()["inexact"])

    def test_numbers_of_nobody_are_ignored(self):
        tree = self.tree("n150")
        gone = self.someone()
        tree.see(gone.pid)
        gone.kill()
        gone.wait()
        tree.write(tree.pids_file(0), f"{gone.pid}\n0\n-1\n4194305\n99999999999999999999\nx\n\n".encode())
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual((view["processes"], view["exact"]), ([], True))

    def test_a_driver_without_lists_is_asked_by_descriptors(self):
        tree = self.tree("t3000")
        os.unlink(tree.pids_file(2))
        with open(tree.node(2), encoding="utf-8") as node, open(tree.node(0), encoding="utf-8") as other:
            sleeper, not_listed = self.someone(stdin=node), self.someone(stdin=other)
        tree.see(sleeper.pid, not_listed.pid)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual([(one["pid"], one["state"], [device["id"] for device in one["devices"]])
                              for one in view["processes"]], [(sleeper.pid, "untracked", [2])])


class Numbers(Case):
    def test_a_device_of_the_driver_has_its_number_and_one_behind_it_is_remote(self):
        tree = self.tree("t3000")
        daemon = self.daemon()
        remote_id = 0xbeef
        # The process counts otherwise than the driver.
        client = self.client(f"""
            near, far = device({tree.asic_id(2)}, 0), device({remote_id}, 1)
            allocate(open_set([near]), DRAM, 1048640, 1000, 12288)
            allocate(open_set([far]), DRAM, 1048640, 2000, 24576)
            """)
        daemon.wait_for(client.pid)
        for view in (daemon.view(), self.direct()):
            self.assertEqual([device["id"] for device in view["devices"]], [0, 1, 2, 3, 4])
            self.assertEqual(description_of(device_of(view, 2)), tree.shown(2))
            self.assertEqual([used_on(view, number)["dram"] for number in range(5)], [0, 0, 12288, 0, 24576])
            remote = device_of(view, 4)
            self.assertEqual((remote["asic_id"], remote["remote"], remote["bdf"], remote["driver"]),
                             (hex(remote_id), True, None, None))
            self.assertEqual(remote["telemetry"], dict.fromkeys(TELEMETRY))
            self.assertEqual([(device["id"], device["logical_id"]) for device in
                              process_of(view, client.pid)["devices"]], [(2, 0), (4, 1)])
            self.assertTrue(view["exact"], view["inexact"])
        self.assertRegex(self.text("status"), r"\n +4 +remote ")


class BrokenDevices(Case):
    def test_a_device_that_vanishes_and_comes_back_broken_changes_no_other(self):
        tree = self.tree("t3000")
        daemon = self.daemon()
        client = self.holding(tree.asic_id(3))
        daemon.wait_for(client.pid)

        def others_of(view: dict) -> dict:
            self.assertEqual(used_on(view, 3)["dram"], 12288)
            self.assertEqual([description_of(device_of(view, number)) for number in (0, 2, 3)],
                             [tree.shown(number) for number in (0, 2, 3)])
            return view

        def wait_for(condition, what: str) -> dict:
            def holds():
                view = others_of(daemon.view())
                return view if condition(device_of(view, 1)) else None
            others_of(self.direct())
            return wait_until(holds, what)

        tree.remove_device(1)
        wait_for(lambda device: device is None, "the device is gone")
        self.assertIsNone(device_of(self.direct(), 1))

        tree.add_device(1, lambda files: dict.fromkeys(files, GARBAGE))
        wait_for(lambda device: device is not None, "it is back, with garbage")
        for view in (daemon.view(), self.direct()):
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
        whole = tree.shown(1)
        for view in (daemon.view(), self.direct()):
            half = description_of(device_of(view, 1))
            self.assert_part(half, whole)
            missing = [name for name, value in half["telemetry"].items() if value is None]
            self.assertGreater(len(missing), 3)

        tree.remove_device(1)
        wait_for(lambda device: device is None, "the device is gone once more")
        tree.add_device(1)
        view = wait_for(lambda device: device is not None and device["board"], "it is back, whole")
        self.assertEqual(description_of(device_of(view, 1)), whole)
        client.end()
        daemon.stop()  # which looks at what it said

    def assert_part(self, part: dict, whole: dict):
        """Each value is the true one, or null."""
        self.assertEqual(part.keys(), whole.keys())
        for name, value in part.items():
            if isinstance(value, dict):
                self.assert_part(value, whole[name])
            elif value is not None:
                self.assertEqual(value, whole[name], name)

    def test_ones_from_a_device_that_is_off_the_bus_are_no_values(self):
        tree = self.tree("p150")
        for path in tree.files(0):
            text = "ffffffffffffffff" if path.endswith(("tt_asic_id", "tt_serial")) else "255.255.255.255" \
                if path.endswith("tt_fw_bundle_ver") else "4294967295"
            if not path.endswith(("vendor", "/device", "tt_card_type", "name")):
                tree.write(path, text)
        for view in (self.daemon().view(), self.direct()):
            device, = view["devices"]
            self.assertEqual((device["asic_id"], device["driver"]["serial"], device["driver"]["firmware"]), (None,) * 3)
            self.assertEqual(device["telemetry"], dict.fromkeys(TELEMETRY))

    def test_looks_while_a_device_comes_and_goes_show_what_is_true_or_nothing(self):
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
                for view in (self.direct(), daemon.view()):
                    for number in (0, 2, 3):
                        self.assertEqual(description_of(device_of(view, number)), tree.shown(number))
                    if device := device_of(view, 1):
                        self.assert_part(description_of(device), tree.shown(1))
                    self.assertEqual([one["id"] for one in view["devices"] if one["id"] not in (0, 1, 2, 3)], [])
                    self.assertTrue(view["exact"])
        finally:
            ended.set()
            toggler.join()
        daemon.stop()

    def test_another_chip_in_the_place_of_a_former_one_is_not_taken_for_it(self):
        tree = self.tree("t3000")
        daemon = self.daemon()
        former = tree.asic_id(1)
        self.assertEqual(device_of(daemon.view(), 1)["asic_id"], hex(former))
        tree.remove_device(1)
        wait_until(lambda: device_of(daemon.view(), 1) is None, "the device is gone")
        tree.add_device(1, lambda files: files | {tree.attribute(1, "tt_asic_id"): "000000000000BEEF"})
        back = wait_until(lambda: [one for one in daemon.view()["devices"] if one["bdf"] == tree.bdf(1)], "it is back")
        self.assertEqual(back[0]["asic_id"], "0xbeef")
        self.assertEqual(len(daemon.view()["devices"]), 4)


class Promises(Case):
    def test_no_device_is_ever_opened_and_no_region_written(self):
        tree = self.tree("t3000")
        os.unlink(tree.pids_file(1))  # so that descriptors are looked through
        with open(tree.node(1), encoding="utf-8") as node:
            holder = self.someone(stdin=node)
        stock = self.someone()
        tree.hold(0, stock.pid)
        tree.see(holder.pid)
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
            self.text(*command)
        daemon.stop()
        self.assertEqual([watch.saw_any() for watch in watches], [False] * tree.count)
        self.assertFalse(writes.saw_any())

        for device, watch in enumerate(watches):  # and they do see
            with open(tree.node(device), encoding="utf-8"):
                self.assertTrue(watch.saw_any())
        region.write()
        self.assertTrue(writes.saw_any())


if __name__ == "__main__":
    host.main()
