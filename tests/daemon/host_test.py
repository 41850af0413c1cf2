#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon and the direct reader show of the host itself: devices, sensors, who holds them, and stock tt-metal."""

import ctypes
import os
import select
import subprocess
import threading
import time

import host
from driver_tree import BOARDS, GARBAGE, TELEMETRY, DriverTree
from figures import KINDS
from host import wait_until
from stock_region import BEING_RELEASED, SLOTS, StockRegion

UNTRACKED = "untracked: it has devices open and reports nothing, so what it holds is in no figure"
REQUESTED_ONLY = "reserved size unknown: used counts the requested bytes"
TOTALS_ONLY = "totals only: what else it holds, and how many allocations, is not known"
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


def device_of(view: dict, number: int) -> dict | None:
    return next((device for device in view["devices"] if device["id"] == number), None)


def process_of(view: dict, pid: int) -> dict | None:
    return next((process for process in view["processes"] if process["pid"] == pid), None)


def reasons_of(view: dict, pid: int) -> set[str]:
    return {one["reason"] for one in view["inexact"] if one["pid"] == pid}


def used_on(view: dict, number: int) -> dict:
    return {kind: figures["used"] for kind, figures in device_of(view, number)["memory"].items()}


def description_of(device: dict) -> dict:
    """All but the memory and the heart."""
    telemetry = {name: value for name, value in device["telemetry"].items() if name != "alive"}
    return {name: device[name] for name in ("id", "arch", "board", "asic_id", "bdf", "remote", "driver")} | \
        {"telemetry": telemetry}


class Case(host.TestCase):
    def tree(self, board: str) -> DriverTree:
        """From here on the programs look at this host."""
        tree = DriverTree(board)
        self.addCleanup(tree.remove)
        os.environ["TTMEM_HOST_ROOT"] = tree.root
        self.addCleanup(os.environ.pop, "TTMEM_HOST_ROOT", None)
        return tree

    def someone(self, **options) -> subprocess.Popen:
        """A process that reports nothing."""
        process = subprocess.Popen(["sleep", "1000"], **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def holding(self, asic_id: int, logical_id: int = 0) -> host.Client:
        return self.client(f"allocate(open_set([device({asic_id}, {logical_id})]), DRAM, 1048640, 1000, 12288)")

    def direct(self) -> dict:
        view = host.look(self.directory, "--direct")
        self.assertEqual(view["source"], "direct")
        return view

    def text(self, *arguments: str) -> str:
        done = subprocess.run([host.TTMEM, *arguments], capture_output=True, text=True, timeout=host.PATIENCE,
                              env=os.environ | {"TTMEM_RUNTIME_DIR": self.directory.path})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refresh(self, daemon: host.Daemon, tree: DriverTree, device: int = 0) -> dict:
        """Waits for a look that began after this call: one that has seen what is written only now."""
        self.trips = getattr(self, "trips", 100) + 1
        tree.write(tree.attribute(device, "tt_therm_trip_count"), self.trips)

        def is_seen():
            view = daemon.view()
            return view if device_of(view, device)["telemetry"]["thermal_trips"] == self.trips else None
        return wait_until(is_seen, "the daemon looks again")


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


class StockRegions(Case):
    def setUp(self):
        super().setUp()
        self.host = self.tree("n300")
        self.asic_id = self.host.asic_id(0)

    def region(self, **options) -> StockRegion:
        return StockRegion(self.host.path("dev/shm"), self.asic_id, **options)

    def stock(self) -> subprocess.Popen:
        """A process that is seen by its region alone."""
        process = self.someone()
        self.host.see(process.pid)
        return process

    def both(self, daemon: host.Daemon) -> tuple[dict, dict]:
        return self.refresh(daemon, self.host), self.direct()

    def test_a_process_of_stock_tt_metal_shows_with_what_its_region_tells(self):
        for version in (3, 4):
            with self.subTest(version=version):
                process = self.stock()
                region = self.region(version=version)
                region.put(process.pid, dram=65536, l1=32768, l1_small=16, trace=0, cb=777)
                region.put(BEING_RELEASED, dram=1 << 30)
                daemon = self.daemon()
                for view in (daemon.view(), self.direct()):
                    shown, = view["processes"]
                    self.assertEqual((shown["pid"], shown["source"], shown["state"], shown["comm"]),
                                     (process.pid, "stock", "live", "sleep"))
                    held, = shown["devices"]
                    told = {"dram": 65536, "l1": 32768, "l1_small": 16, "trace": 0, "cb": None, "kernel": None}
                    self.assertEqual(held["memory"], {kind: {"used": bytes_, "requested": bytes_, "count": None}
                                                      for kind, bytes_ in told.items()})
                    self.assertEqual(used_on(view, 0), told)
                    device, = view["devices"]
                    self.assertEqual(device["id"], 0)
                    self.assertEqual(device["memory"]["dram"]["capacity"], self.host.dram)
                    self.assertIsNone(device["memory"]["dram"]["count"])
                    self.assertFalse(device["memory"]["dram"]["peak_exact"])
                    self.assertFalse(view["exact"])
                    self.assertEqual(reasons_of(view, process.pid), {REQUESTED_ONLY, TOTALS_ONLY})
                daemon.stop()
                process.kill()
                process.wait()
                os.unlink(region.path)

    def test_one_that_is_killed_is_in_no_figure_at_the_next_question(self):
        first, second = self.stock(), self.stock()
        region = self.region()
        region.put(first.pid, dram=1000)
        region.put(second.pid, dram=20)
        self.host.hold(0, first.pid, second.pid)  # as the driver says of who has a region
        daemon = self.daemon()
        self.assertEqual(used_on(daemon.view(), 0)["dram"], 1020)
        handle = os.pidfd_open(first.pid)
        first.kill()
        select.select([handle], [], [])  # it has ended, and nobody has asked how: a zombie
        os.close(handle)
        for view in (daemon.view(), self.direct()):
            self.assertEqual([(one["pid"], one["source"]) for one in view["processes"]], [(second.pid, "stock")])
            self.assertEqual(used_on(view, 0)["dram"], 20)
        second.kill()
        second.wait()
        first.wait()
        for view in (daemon.view(), self.direct()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 0), dict.fromkeys(KINDS, 0))

    def test_what_it_holds_follows_the_region(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=1000)
        daemon = self.daemon()
        region.put(process.pid, dram=5, slot=0)
        for view in self.both(daemon):
            self.assertEqual(used_on(view, 0)["dram"], 5)
        region.put(0, slot=0)
        for view in self.both(daemon):
            self.assertEqual((view["processes"], view["exact"]), ([], True))

    def test_a_pid_that_was_given_away_since_is_not_taken_for_the_dead(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=1 << 30, updated_ns=time.time_ns() - 60 * 10**9)
        region.put(4194305, dram=1 << 30)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 0)["dram"], 0)

    def test_an_unknown_version_or_size_is_said_and_not_read(self):
        process = self.stock()
        for version in (2, 99):
            self.region(version=version).put(process.pid, dram=4096)
            daemon = self.daemon()
            for view in (daemon.view(), self.direct()):
                self.assertEqual((view["processes"], view["exact"]), ([], False))
                self.assertEqual(view["inexact"], [
                    {"pid": 0, "reason": f"stock region of ASIC {self.asic_id}: has version {version}, and only 3 and 4 "
                                         "are known", "count": 1, "skipped": False}])
            self.assertIn(f"has version {version}", self.text("status"))
            daemon.stop()
        region = self.region()
        os.truncate(region.path, 4096)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual(reasons_of(view, 0), {f"stock region of ASIC {self.asic_id}: has 4096 bytes, and a region has "
                                                   "8576"})

    def test_totals_of_the_region_are_ignored(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=100, l1=200)
        region.claim_totals(1 << 33, 1 << 25, 1 << 20, 1 << 20, 1 << 20)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual(used_on(view, 0), {"dram": 100, "l1": 200, "l1_small": 0, "trace": 0, "cb": None,
                                                "kernel": None})

    def test_a_figure_that_no_device_can_hold_is_not_known(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=2**64 - 4096, l1=200)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual((used_on(view, 0)["dram"], used_on(view, 0)["l1"]), (None, 200))
            self.assertIn(f"stock region of ASIC {self.asic_id}: 1 figures that can't be true, left out",
                          reasons_of(view, 0))

    def test_one_with_a_segment_too_counts_once(self):
        daemon = self.daemon()
        client = self.holding(self.asic_id)
        other = self.stock()
        daemon.wait_for(client.pid)
        self.host.see(client.pid)
        region = self.region()
        region.put(client.pid, dram=1000, l1=1000)
        region.put(other.pid, dram=7)
        for view in self.both(daemon):
            self.assertEqual([(one["pid"], one["source"]) for one in view["processes"]],
                             sorted([(client.pid, "segment"), (other.pid, "stock")]))
            self.assertEqual(used_on(view, 0)["dram"], 12288 + 7)
            self.assertEqual(used_on(view, 0)["l1"], 0)
            self.assertEqual(reasons_of(view, client.pid), set())
        client.kill()
        states = []
        wait_until(lambda: states.append(process_of(daemon.view(), client.pid)) or states[-1] is None, "it is gone")
        self.assertLessEqual({one["source"] for one in states if one}, {"segment"})

    def test_64_slots_are_64_processes(self):
        region = self.region()
        processes = [self.stock() for _ in range(SLOTS)]
        for number, process in enumerate(processes):
            region.put(process.pid, dram=1 << number % 30, l1=number)
        sums = {"dram": sum(1 << number % 30 for number in range(SLOTS)), "l1": sum(range(SLOTS))}
        daemon = self.daemon()
        for view in (daemon.view(), self.direct()):
            self.assertEqual(len(view["processes"]), SLOTS)
            self.assertEqual({kind: used_on(view, 0)[kind] for kind in sums}, sums)
        for process in processes[1:]:
            process.kill()
        for process in processes[1:]:
            process.wait()
        for view in (daemon.view(), self.direct()):
            self.assertEqual([one["pid"] for one in view["processes"]], [processes[0].pid])
            self.assertEqual({kind: used_on(view, 0)[kind] for kind in sums}, {"dram": 1, "l1": 0})

    def test_a_chip_that_is_not_on_the_bus_shows_as_remote(self):
        process = self.stock()
        StockRegion(self.host.path("dev/shm"), 0xbeef).put(process.pid, dram=9)
        for view in (self.daemon().view(), self.direct()):
            remote = device_of(view, 1)
            self.assertEqual((remote["asic_id"], remote["remote"], remote["memory"]["dram"]["used"]), ("0xbeef", True, 9))
            self.assertEqual({remote["memory"][kind]["capacity"] for kind in KINDS}, {None})
            self.assertEqual(remote["telemetry"], dict.fromkeys(TELEMETRY))


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
