#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peaks of this process, which its client counts: exact, resettable, and without asking a daemon."""

import re
import textwrap

from harness.python_package import run_script
from harness.test_case import TestCase, main
from plugin_test import PluginCase

BEGIN = textwrap.dedent("""
    import os
    import ttmem
    from simulated_runtime import DRAM, L1, Device
""")


class PeakCase(TestCase):
    def both(self, code: str, expected):
        for observed in (True, False):
            with self.subTest(observed=observed):
                # Neither a daemon nor the program: the figures come from the client alone.
                found = run_script(BEGIN + textwrap.dedent(code), self.directory.path, observed=observed, TTMEM_PROGRAM="/nonexistent")
                self.assertEqual(found, expected)


class Peaks(PeakCase):
    def test_the_highest_bytes_since_the_start_and_since_a_reset(self):
        self.both("""
            device = Device()
            a = device.allocate(4 << 20)
            high = ttmem.memory_allocated()
            a.free()
            b = device.allocate(1 << 20)
            low = ttmem.memory_allocated()
            before = ttmem.max_memory_allocated()
            ttmem.reset_peak_memory_stats()
            after = ttmem.max_memory_allocated()
            answer([before == high, after == low, low < high, ttmem.max_memory_allocated(kind="l1"), ttmem.memory_reserved() > 10 << 30])
        """, [True, True, True, 0, True])

    def test_kinds_have_peaks_of_their_own(self):
        self.both("""
            device = Device()
            device.allocate(1 << 20, L1).free()
            device.run("conv2d", [4096, 4096], cores=(2, 2))
            kinds = {kind: ttmem.max_memory_allocated(kind=kind) for kind in ("dram", "l1", "cb", "kernel")}
            now = {kind: ttmem.memory_allocated(kind=kind) for kind in kinds}
            answer([kinds["l1"] >= 1 << 20, now["l1"], kinds["cb"] == now["cb"] == 4 * 8192, kinds["kernel"] == now["kernel"] > 0])
        """, [True, 0, True, True])

    def test_a_summary_names_the_kinds(self):
        self.both("""
            device = Device()
            kept = device.allocate(1 << 20)
            text, short = ttmem.memory_summary(), ttmem.memory_summary(abbreviated=True)
            answer([len(text.splitlines()), len(short.splitlines()), "1.0 MiB" in text])
        """, [7, 2, True])


class Resets(PeakCase):
    USE = """
        device, MIB = Device(), 1 << 20
        def use(size): device.allocate(size * MIB).free()
        def highest():
            lines = ttmem.memory_summary().splitlines()
            column = lines[0].index("PEAK") + 4
            return [ttmem.max_memory_allocated() // MIB, ttmem.memory_stats()["allocated_bytes.dram.peak"] // MIB,
                    next(line[:column].split()[-2] for line in lines if line.startswith("dram"))]
    """

    def in_both(self, code: str, expected, **environment: str):
        for observed in (True, False):
            with self.subTest(observed=observed):  # the statistics ask the program for failures
                self.assertEqual(run_script(BEGIN + textwrap.dedent(self.USE) + textwrap.dedent(code), self.directory.path, observed=observed,
                                            **environment), expected)

    def test_a_reset_inside_a_block_does_not_lower_its_peak(self):
        self.in_both("""
            with ttmem.track() as outer:
                use(8)
                ttmem.reset_peak_memory_stats()
                use(2)
                within = highest()
                with ttmem.track() as inner:
                    ttmem.reset_peak_memory_stats()
                    use(1)
            answer([outer.peak["dram"] // MIB, inner.peak["dram"] // MIB, within, len(outer.above_limits(dram="4 MiB")), highest()])
        """, [8, 1, [2, 2, "2.0"], 1, [1, 1, "1.0"]])

    def test_a_block_does_not_lower_the_peak_since_the_start_or_since_a_reset(self):
        self.in_both("""
            use(16)
            with ttmem.track(): pass
            start = highest()
            ttmem.reset_peak_memory_stats()
            use(8)
            with ttmem.track(): pass
            with ttmem.track(): use(4)
            reset = highest()
            ttmem.reset_peak_memory_stats()
            answer([start, reset, highest()])
        """, [[16, 16, "16.0"], [8, 8, "8.0"], [0, 0, "0"]])

    def test_a_reset_is_of_one_device_and_of_all_kinds(self):
        self.in_both("""
            other = Device(1)
            for each in (device, other):
                each.allocate(8 * MIB).free()
                each.allocate(2 * MIB, L1).free()
            with ttmem.track() as t:
                use(4)
                ttmem.reset_peak_memory_stats(1)
            answer([[ttmem.max_memory_allocated(number, kind=kind) // MIB for number in (0, 1) for kind in ("dram", "l1")], [t.peak.of("dram", number) // MIB for number in (0, 1)]])
        """, [[8, 2, 0, 0], [4, 0]], TTMEM_SIM_BOARD="t3000")

    def test_a_forked_child_has_peaks_of_its_own(self):
        self.in_both("""
            use(8)
            with ttmem.track() as t:
                use(4)
                child = os.fork()
                if child == 0:
                    ttmem._peaks.begin(ttmem._peaks.Peak())
                    os._exit(0 if ttmem._peaks.of_process.all() == t._peak.all() == {} else 1)
                status = os.waitpid(child, 0)[1]
            answer([status, t.peak["dram"] // MIB, highest()[0]])
        """, [0, 4, 8])


class Stats(TestCase):
    def test_statistics_have_the_keys_of_torch(self):
        found = run_script(BEGIN + textwrap.dedent("""
            device = Device()
            kept = [device.allocate(1 << 20), device.allocate(1 << 20, L1)]
            try: device.allocate(1 << 40)
            except RuntimeError: pass
            stats = ttmem.memory_stats()
            answer([stats["num_ooms"], stats["allocation.all.current"], stats["allocated_bytes.dram.current"] == ttmem.memory_allocated(),
                    stats["allocated_bytes.all.current"] == stats["allocated_bytes.dram.current"] + stats["allocated_bytes.l1.current"],
                    stats["reserved_bytes.dram.current"] == ttmem.memory_reserved(), "allocated_bytes.l1.peak" in stats])
        """), self.directory.path, observed=True)
        self.assertEqual(found, [1, 2, True, True, True, True])

    def test_the_keys_that_programs_read_most_are_there(self):
        for code in ("pass", "device = Device(); kept = device.allocate(4 << 20); device.allocate(8 << 20, L1).free()"):
            found = run_script(BEGIN + code + textwrap.dedent("""
                stats = ttmem.memory_stats()
                keys = [f"{what}_bytes.all.{when}" for what in ("allocated", "active", "reserved") for when in ("current", "peak")]
                kinds = ("dram", "l1", "l1_small", "trace", "cb", "kernel")
                answer([[key for key in keys + ["requested_bytes.all.current", "num_ooms", "num_alloc_retries"] if key not in stats],
                        [key for key in keys if stats[key] != sum(stats[key.replace(".all.", f".{kind}.")] for kind in kinds)],
                        stats["allocated_bytes.all.peak"] >> 20, stats["allocated_bytes.all.current"] >> 20])
            """), self.directory.path, observed=True)
            self.assertEqual(found, [[], [], *((12, 4) if "Device" in code else (0, 0))])


class Blocks(TestCase):
    def test_peaks_of_blocks_inside_each_other(self):
        for observed in (True, False):
            found = run_script(BEGIN + textwrap.dedent("""
                device = Device()
                def use(size): device.allocate(size).free()
                with ttmem.track() as outer:
                    use(8 << 20)
                    with ttmem.track() as inner:
                        use(2 << 20)
                    use(1 << 20)
                with ttmem.track() as rising:
                    with ttmem.track() as high:
                        use(4 << 20)
                answer([[round(each.peak["dram"] / (1 << 20)) for each in (outer, inner, rising, high)], outer.inexact])
            """), self.directory.path, observed=observed)
            self.assertEqual(found, [[8, 2, 4, 4], []])

    def test_a_block_can_require_a_peak(self):
        found = run_script(BEGIN + textwrap.dedent("""
            device = Device()
            with ttmem.track() as t:
                device.allocate(8 << 20).free()
            t.require(dram="16 MiB", leaks=0)
            try: t.require(dram="4 MiB")
            except ttmem.TtmemMemoryError as error: answer(str(error).splitlines()[0])
        """), self.directory.path, observed=True)
        self.assertRegex(found, r"^the peak of dram is 8\.0 MiB \(\d+ B\), above the limit of 4 MiB$")


class Limits(PluginCase):
    TESTS = """
        @pytest.mark.limit_device_memory(dram="4 MiB")
        def test_too_much(device):
            with ttmem.scope("weights"):
                device.allocate(8 << 20).free()

        @pytest.mark.limit_device_memory(dram="16 MiB", l1="1 MiB", device=0)
        def test_fits(device, device_memory):
            device.allocate(8 << 20).free()
            assert device_memory.peak() >= 8 << 20 and device_memory.allocated() == 0

        @pytest.mark.limit_device_memory("4 MiB")
        def test_wrong_marker(device): pass

        @pytest.mark.limit_device_memory(dram="4 MiB")
        def test_resets_inside(device):
            device.allocate(8 << 20).free()
            ttmem.reset_peak_memory_stats()

        def test_the_fixture_counts_from_the_start_of_the_body(device, device_memory):
            assert device_memory.peak() == 0
            device.allocate(2 << 20).free()
            with device_memory.track(): pass
            ttmem.reset_peak_memory_stats()
            assert device_memory.peak() >> 20 == 2 and ttmem.max_memory_allocated() == 0
    """

    def test_a_peak_above_the_limit_fails(self):
        code, output = self.pytest(self.TESTS, "--ttmem", "--ttmem-html", "page.html")
        self.assert_outcome(output, failed=3, passed=2)
        self.assertEqual(len(re.findall(r"device memory: the peak of dram is 8\.0 MiB \(\d+ B\), above the limit of 4 MiB", output)), 2, output)
        self.assertIn("limit_device_memory takes the limits of dram, l1", output)
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("test_too_much", page)
        self.assertIn("8.0 MiB", page)
        self.assertNotIn("<script", page)

    def test_a_limit_is_of_the_device_that_the_marker_names(self):
        code, output = self.pytest("""
            @pytest.fixture
            def devices():
                with Device(0) as first, Device(1) as second:
                    yield first, second

            @pytest.mark.limit_device_memory(dram="4 MiB", device=0)
            def test_of_the_first(devices):
                devices[1].allocate(8 << 20).free()

            @pytest.mark.limit_device_memory(dram="4 MiB", device=1)
            def test_of_the_second(devices):
                devices[1].allocate(8 << 20).free()

            @pytest.mark.limit_device_memory(dram="4 MiB")
            def test_of_any(devices):
                devices[1].allocate(8 << 20).free()

            @pytest.mark.limit_device_memory(dram="4 MiB", device=3)
            def test_of_a_device_that_is_not_open(devices): pass
        """, TTMEM_SIM_BOARD="t3000")
        self.assert_outcome(output, failed=3, passed=1)
        self.assertEqual(len(re.findall(r"the peak of dram is 8\.0 MiB \(\d+ B\), above the limit of 4 MiB", output)), 2, output)
        for name in ("test_of_the_second", "test_of_any"):
            self.assertIn(f"_ {name} _", output)
        self.assertIn("the limits of device 3 can't be checked: this process has not opened it", output)

    def test_an_increase_over_the_last_good_run_fails(self):
        tests = "def test_a(device): device.allocate({} << 20).free()"
        for size, passes in ((4, True), (8, False), (2, True), (4, False)):
            code, output = self.pytest(tests.format(size), "--ttmem-fail-on-increase")
            self.assertEqual(code == 0, passes, output)
        self.assertRegex(output, r"the peak of dram is 4\.0 MiB .* and was 2\.0 MiB in the last good run")


if __name__ == "__main__":
    main()
