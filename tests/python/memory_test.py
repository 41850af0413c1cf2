#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions in the shape of PyTorch, blocks that are measured, failures, and the comparison with the runtime itself: in a process with
the simulated runtime, observed as under 'ttmem run' and reporting by itself."""

import os
import pickle
import tempfile
import textwrap

from harness.python_package import run_script
from harness.test_case import TestCase, main

BEGIN = textwrap.dedent("""
    import os, threading
    import ttmem
    from simulated_runtime import DRAM, L1, L1_SMALL, TRACE, Device, OutOfMemory, op

    def own(): return ttmem.processes(pid=os.getpid()).processes[0].devices[0].memory
""")


class MemoryCase(TestCase):
    def script(self, code: str, **options):
        return run_script(BEGIN + textwrap.dedent(code), self.directory.path, **options)

    def both(self, code: str, expected):
        for observed in (True, False):
            with self.subTest(observed=observed):
                self.assertEqual(self.script(code, observed=observed), expected)


class Figures(MemoryCase):
    def test_allocated_bytes_are_those_of_the_view(self):
        self.both("""
            device = Device()
            a, b = device.allocate(1 << 20), device.allocate(3 << 20, L1)
            same = [ttmem.memory_allocated(kind=kind) == own()[kind].used for kind in ("dram", "l1", "l1_small", "cb", "kernel")]
            full = ttmem.memory_allocated(), ttmem.memory_allocated(device, kind="l1") >= 3 << 20
            a.free()
            answer([same, full[0] >= 1 << 20, full[1], ttmem.memory_allocated()])
        """, [[True] * 5, True, True, 0])

    def test_an_observed_process_has_nothing_before_its_first_device(self):
        found = self.script("answer([ttmem.memory_allocated(), ttmem.max_memory_allocated(), ttmem.memory_reserved()])", observed=True)
        self.assertEqual(found, [0, 0, 0])

    def test_free_and_all_bytes_of_a_device(self):
        self.both("""
            device = Device()
            kept = device.allocate(1 << 20)
            free, total = ttmem.mem_get_info()
            view = ttmem.status().devices[0].memory.dram
            answer([total == view.capacity, free == view.capacity - view.used, ttmem.get_memory_info(0, kind="l1")[1] > 0])
        """, [True, True, True])

    def test_wrong_devices_and_kinds_are_refused(self):
        self.both("""
            device = Device()
            refused = []
            for call in (lambda: ttmem.memory_allocated(99), lambda: ttmem.mem_get_info(99)):
                try: call()
                except ttmem.TtmemNotFound as error: refused.append("device 99" in str(error))
            for call in (lambda: ttmem.memory_allocated(kind="ram"), lambda: ttmem.memory_allocated("tt:0")):
                try: call()
                except ttmem.TtmemBadRequest: refused.append(True)
            answer(refused)
        """, [True] * 4)

    def test_the_snapshot_has_every_block(self):
        self.daemon()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snapshot.pickle")
            found = self.script(f"""
                device = Device()
                with ttmem.scope("weights"):
                    kept = [device.allocate(1 << 20) for _ in range(3)]
                kept.pop(1).free()
                ttmem._dump_snapshot({path!r}, include_traces=True)
                segments = ttmem.memory_snapshot()
                dram = [each for each in segments if each["segment_type"] == "dram"][0]
                answer([[block["state"] for block in dram["blocks"]], dram["blocks"][0]["frames"][0]["name"], dram["allocated_size"] * 12 == own().dram.used])
            """, observed=True)
            self.assertEqual(found, [["active_allocated", "inactive", "active_allocated", "inactive"], "weights", True])
            with open(path, "rb") as file:
                snapshot = pickle.load(file)
        self.assertEqual([event["action"] for event in snapshot["device_traces"][0]][-4:], ["alloc"] * 3 + ["free_completed"])
        self.assertEqual({"segments", "device_traces"} - set(snapshot), set())

    def test_pjrt_statistics(self):
        self.both("""
            device = Device()
            kept = [device.allocate(1 << 20), device.allocate(2 << 20)]
            stats, dram = ttmem.pjrt_stats(), ttmem.status().devices[0].memory.dram
            answer([stats["bytes_in_use"] == dram.used, stats["bytes_limit"] == dram.capacity,
                    stats["largest_free_block_bytes"] == dram.largest_free, stats["largest_alloc_size"] >= 2 << 20])
        """, [True] * 4)


class Blocks(MemoryCase):
    def test_growth_and_what_stayed(self):
        self.both("""
            device, kept = Device(), []
            with ttmem.track() as t:
                with ttmem.scope("kv_cache"):
                    kept.append(device.allocate(1 << 20))
                device.allocate(2 << 20).free()
            with ttmem.track() as other:
                kept.pop().free()
            answer([t.was_tracked, t.growth["dram"] == -other.growth.of("dram", 0), t.growth["dram"] >= 1 << 20,
                    [(row.kind, row.name, row.count_now) for row in t.leaked], len(other.leaked), len(t.failures)])
        """, [True, True, True, [["dram", "kv_cache", 1]], 0, 0])

    def test_a_block_can_require_that_nothing_stays(self):
        self.both("""
            device, kept = Device(), []
            with ttmem.track() as t:
                with ttmem.scope("kv_cache"):
                    kept.append(device.allocate(1 << 20))
            t.require(leaks="2 MiB")
            try: t.require(leaks=0)
            except ttmem.TtmemMemoryError as error: answer(["stayed on device 0" in str(error), "kv_cache" in str(error)])
        """, [True, True])

    def test_problems_are_listed_too(self):
        self.both("""
            device, kept = Device(), []
            with ttmem.track() as t:
                kept.append(device.allocate(1 << 20))
            answer([isinstance(t.growth, ttmem.Figures), isinstance(t.leaked, ttmem.Rows), isinstance(ttmem.mark("a"), ttmem.Mark),
                    t.left_above("2 MiB"), len(t.left_above(0)), t.above_limits(dram="2 MiB"), len(t.above_limits(dram=0)),
                    "what grew" in t.card(), ttmem.default_client.own_process().pid == os.getpid(),
                    ttmem.max_memory_reserved() == ttmem.memory_reserved() > 0,
                    [list(ttmem._snapshot())[0], len(ttmem._snapshot()["segments"]) == len(ttmem.memory_snapshot())]])
        """, [True, True, True, [], 1, [], 1, True, True, True, ["segments", True]])

    def test_numbers_beyond_those_of_the_client_are_no_device(self):
        self.both("""
            device = Device()
            kept = device.allocate(1 << 20)
            refused = []
            for call in (lambda: ttmem.memory_allocated(1 << 40), lambda: ttmem.memory_allocated(-1 << 40),
                         lambda: ttmem.reset_peak_memory_stats(1 << 33), lambda: ttmem.tag(kept.address + (1 << 64), "x"),
                         lambda: ttmem.tag(kept, "x", device=1 << 32)):
                try: call()
                except ttmem.TtmemNotFound: refused.append(True)
            answer(refused)
        """, [True] * 5)

    def test_a_device_that_is_opened_inside(self):
        self.both("""
            with ttmem.track() as t:
                device = Device()
                kept = device.allocate(1 << 20)
            answer([t.was_tracked, t.growth["dram"] == own().dram.used, "dram" in repr(t)])
        """, [True, True, True])

    def test_failures_of_a_block(self):
        self.both("""
            device = Device()
            def fail():
                try: device.allocate(1 << 40)
                except OutOfMemory: pass
            fail()
            with ttmem.track() as t, ttmem.scope("too much"):
                fail()
            answer([[each.verdict, each.name] for each in t.failures])
        """, [["too big", "too much"]])


class Failures(MemoryCase):
    def test_a_callback_gets_the_failure(self):
        self.daemon()
        self.both("""
            device, seen, done = Device(), [], threading.Event()
            def note(failure):
                seen.extend([failure.verdict, "request  1.0 TiB in pages of " in ttmem.card(failure)])
                done.set()
            watch = ttmem.on_failure(note)
            try: device.allocate(1 << 40)
            except OutOfMemory: pass
            done.wait(30)
            watch.close()
            answer(seen)
        """, ["too big", True])

    def test_it_needs_the_daemon(self):
        found = self.script("""
            device = Device()
            try: ttmem.on_failure(print)
            except ttmem.TtmemNotRunning as error: answer(str(error))
        """)
        self.assertIn("on_failure needs the daemon", found)


STAND_IN = """
    import sys, types

    class MemoryView:
        def __init__(self, view):
            (self.num_banks, self.total_bytes_per_bank, self.total_bytes_allocated_per_bank, self.total_bytes_free_per_bank,
             self.largest_contiguous_bytes_free_per_bank) = view

    ttnn = types.ModuleType("ttnn")
    ttnn.BufferType = types.SimpleNamespace(DRAM=DRAM, L1=L1, L1_SMALL=L1_SMALL, TRACE=TRACE)
    ttnn.get_memory_view = lambda device, kind: MemoryView(device.memory_view(kind))
    sys.modules["ttnn"] = ttnn
"""


class Verify(MemoryCase):
    def test_the_runtime_and_ttmem_agree(self):
        self.both(textwrap.dedent(STAND_IN) + textwrap.dedent("""
            device = Device()
            kept = [device.allocate(1 << 20), device.allocate(5 << 20), device.allocate(3 << 20, L1)]
            rows = ttmem.verify(device)
            answer([[row.kind, row.equal, row.runtime_used == row.ttmem_used] for row in rows][:2])
        """), [["dram", True, True], ["l1", True, True]])

    def test_a_difference_is_shown(self):
        found = self.script(textwrap.dedent(STAND_IN) + textwrap.dedent("""
            device = Device()
            kept = device.allocate(1 << 20)
            def wrong(device, kind):
                view = MemoryView(device.memory_view(kind))
                view.total_bytes_allocated_per_bank += 32
                return view
            ttnn.get_memory_view = wrong
            row = ttmem.verify(device)[0]
            answer([row.equal, row.runtime_used - row.ttmem_used])
        """))
        self.assertEqual(found, [False, 32])

    def test_without_ttnn_it_says_so(self):
        found = self.script("""
            device = Device()
            try: ttmem.verify(device)
            except ttmem.TtmemNotSupported as error: answer(str(error))
        """)
        self.assertIn("ttnn.get_memory_view", found)


if __name__ == "__main__":
    main()
