#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one user says about others: regions that name any process, chips that are described differently, and made-up devices."""

import os
import subprocess

from harness.attack_case import AttackCase
from harness.host_case import HostCase, details_of, device_of, reasons_of, used_on
from harness.stock_region import StockRegion
from harness.test_case import main
from harness.users import OTHER_STRANGER, STRANGER, needs_other_users
from harness.waiting import wait_until

GIBIBYTE = 1 << 30
HONEST = ("wormhole_b0", "n300", 12872318208)

# The chip of libttmem.device(), as another board with other memory.
FORGE = """
info = DeviceInfo(asic_id={asic:#x}, logical_id=0, arch=3, grid_x=1, grid_y=1, board=b"forged")
info.memory[DRAM] = MemoryInfo(base=0, size_per_bank=1 << 20, capacity=1 << 20, banks=1, alignment=32)
allocate(open_set([library.ttmem_register_device(info)]), DRAM, 4096, 1000, 4096)
"""
MAKE_UP = """
for i in range(64):
    allocate(open_set([device({first:#x} + i)]), DRAM, 1048640, 1000, 4096)
"""


@needs_other_users
class StockRegions(AttackCase, HostCase):
    def setUp(self):
        super().setUp()
        self.host = self.tree("n300")

    def region_of(self, uid: int) -> StockRegion:
        """A region that everybody may write."""
        region = StockRegion(self.host.path("dev/shm"), self.host.asic_id(0))
        os.chown(region.path, uid, uid)
        os.chmod(region.path, 0o666)
        return region

    def process_of_user(self, uid: int) -> subprocess.Popen:
        process = self.untracked_process(user=uid, group=uid, extra_groups=[])
        self.host.add_processes(process.pid)
        return process

    def test_a_region_counts_for_its_owner_and_is_a_claim_about_others(self):
        mine, others, roots = (self.process_of_user(uid) for uid in (STRANGER, OTHER_STRANGER, 0))
        region = self.region_of(STRANGER)
        region.put(mine.pid, dram=1000)
        region.put(others.pid, dram=30 * GIBIBYTE)
        region.put(roots.pid, dram=5 * GIBIBYTE)
        daemon = self.daemon()
        for view in (daemon.view(), self.direct_view(allow_notices=True)):
            self.assertEqual(used_on(view, 0)["dram"], 1000)
            self.assertEqual([one["pid"] for one in view["processes"]], [mine.pid])
            self.assertFalse(view["exact"])
            claims = details_of(view, "claimed")
            for victim, size in ((others, 30 * GIBIBYTE), (roots, 5 * GIBIBYTE)):
                claim = [text for text in claims if f"claims {size} bytes for process {victim.pid}" in text]
                self.assertEqual(len(claim), 1, claims)
                self.assertIn("stock region", claim[0])
            self.assertNotIn("claimed", reasons_of(view, mine.pid))


@needs_other_users
class Descriptions(AttackCase, HostCase):
    def described(self, device: dict) -> tuple:
        return device["arch"], device["board"], device["memory"]["dram"]["capacity"]

    def test_the_oldest_process_does_not_decide_what_a_chip_is_for_other_users(self):
        daemon = self.daemon()
        attacker = self.attacker(FORGE.format(asic=0x77))  # starts first, so that its pid is the lowest
        honest = [self.holder(0x77, uid=uid) for uid in (OTHER_STRANGER, None)]
        daemon.wait_for(attacker.pid, *(one.pid for one in honest))
        self.assertLess(attacker.pid, honest[0].pid)
        for view in (daemon.view(), self.direct_view()):
            device = self.device_in(view, 0x77)
            self.assertEqual(self.described(device), HONEST)
            self.assertEqual(device["memory"]["dram"]["used"], 4096 + 2 * 12288)
            self.assertFalse(view["exact"])
            dispute, = details_of(view, "device_disputed")
            self.assertIn(f"process {attacker.pid} describes it differently", dispute)

    def test_two_users_that_disagree_make_a_chip_inexact(self):
        daemon = self.daemon()
        attacker, honest = self.attacker(FORGE.format(asic=0x78)), self.holder(0x78)
        daemon.wait_for(attacker.pid, honest.pid)
        view = daemon.view()
        self.assertFalse(view["exact"])
        self.assertEqual(len(details_of(view, "device_disputed")), 1)

    def test_the_drivers_word_about_a_chip_comes_first(self):
        tree = self.tree("n300")
        daemon = self.daemon()
        attacker = self.attacker(FORGE.format(asic=tree.asic_id(0)))
        tree.set_holders(0, attacker.pid)
        daemon.wait_for(attacker.pid)
        view = self.refresh(daemon, tree)
        self.assertEqual(self.described(device_of(view, 0))[:2], ("wormhole_b0", "n300"))
        self.assertFalse(view["exact"])
        dispute, = details_of(view, "device_disputed")
        self.assertIn("the driver", dispute)


@needs_other_users
class MadeUpDevices(AttackCase):
    def test_a_device_of_another_user_always_has_a_number_and_a_history(self):
        daemon = self.daemon("--quiet")
        attackers = [self.attacker(MAKE_UP.format(first=0x20000 + 64 * number)) for number in range(4)]
        daemon.wait_for(*(one.pid for one in attackers))
        made_up = daemon.view()["devices"]
        self.assertLessEqual(len(made_up), 128)

        def sampled_devices() -> set:
            return {one["device"] for one in daemon.get("/v1/history")["series"]}
        wait_until(lambda: len(sampled_devices()) >= min(64, len(made_up)), "made-up devices are sampled")
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        device = self.device_in(daemon.view(), 0x1)
        self.assertLess(device["id"], 10_000)

        def samples() -> list:
            series = daemon.get(f"/v1/history?device={device['id']}&kind=dram")["series"]
            return [sample["used"] for one in series for sample in one["samples"]]
        wait_until(lambda: 12288 in samples(), "the device of another user is sampled")


if __name__ == "__main__":
    main()
