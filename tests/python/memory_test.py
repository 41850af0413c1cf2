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
    import os, threading, time
    import ttmem, ttmem._notebook
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
                while not any(segment["trace"][-1:] and segment["trace"][-1]["action"] == "free_completed"
                              for segment in ttmem.memory_snapshot(include_traces=True)):
                    time.sleep(0.01)  # the daemon follows events within moments
                ttmem._dump_snapshot({path!r}, include_traces=True)
                segments = ttmem.memory_snapshot()
                dram = [each for each in segments if each["segment_type"] == "dram"][0]
                answer([[block["state"] for block in dram["blocks"]], dram["blocks"][0]["frames"][0]["name"], dram["allocated_size"] * 12 == own().dram.used])
            """, observed=True)
            self.assertEqual(found, [["active_allocated", "inactive", "active_allocated", "inactive"], "weights", True])
            with open(path, "rb") as file:
                pickled = file.read()
        snapshot = pickle.loads(pickled)
        self.assertEqual(pickled[:2], bytes([0x80, 4]), "the protocol that memory_viz reads")
        trace = snapshot["device_traces"][0][-5:]
        self.assertEqual([event["action"] for event in trace], ["alloc"] * 3 + ["free_requested", "free_completed"])
        self.assertEqual({**trace[3], "action": "free_completed"}, trace[4])
        self.assertEqual({"segments", "device_traces"} - set(snapshot), set())
        self.assertEqual([each["device"] for each in snapshot["segments"]], list(range(len(snapshot["device_traces"]))))

    def test_segments_are_covered_by_their_blocks_and_sizes_are_those_in_one_bank(self):
        self.daemon()
        self.both("""
            device = Device(l1_small_size=32 << 10, trace_region_size=16 << 20)
            kept = [device.allocate(1 << 20, kind) for kind in (DRAM, L1) for _ in range(3)] + [device.allocate(4096, L1_SMALL)]
            kept.pop(4).free()
            device.run("conv2d", [4096, 8192], cores=(2, 2))
            segments, traced = ttmem.memory_snapshot(), ttmem.memory_snapshot(include_traces=True)
            problems = []
            for segment in segments:
                end = segment["address"]
                for block in segment["blocks"]:
                    if block["address"] != end or not 0 <= block["requested_size"] <= block["size"]: problems.append(block)
                    end += block["size"]
                if end != segment["address"] + segment["total_size"]: problems.append(segment)
            used = {each.kind: each.used for each in ttmem.map(0).maps if each.kind != "cb"}
            l1 = next(each for each in segments if each["segment_type"] == "l1")
            traces = {each["segment_type"]: each.pop("trace") for each in traced}
            answer([problems, {each["segment_type"]: each["allocated_size"] for each in segments} == used, traced == segments,
                    [block["requested_size"] for block in l1["blocks"] if block["state"] != "inactive"],
                    [[event["action"], event["size"], event["addr"] in (block["address"] for block in l1["blocks"])] for event in traces["l1"]],
                    len(ttmem._snapshot()["device_traces"]) == len(segments)])
        """, [[], True, True, [1 << 14] * 2, [["alloc", 1 << 14, True], ["alloc", 1 << 14, True], ["alloc", 1 << 14, True],
                                             ["free_requested", 1 << 14, True], ["free_completed", 1 << 14, True]], True])

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
            report = ttmem._notebook.CellReport(t)
            cards = "Card of failure 1: " in t.card(), "<pre" in report._repr_html_() and "Card of failure 1: " in report._repr_html_()
            answer([[[each.verdict, each.name] for each in t.failures], cards])
        """, [[["too big", "too much"]], [True, True]])


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
        def __init__(self, device, kind):
            (self.num_banks, self.total_bytes_per_bank, self.total_bytes_allocated_per_bank, self.total_bytes_free_per_bank,
             self.largest_contiguous_bytes_free_per_bank) = device.memory_view(kind)
            table = device.block_table(kind)  # ttnn's addresses begin at 0
            self.block_table = [{"blockID": str(at), "address": str(address - table[0][0]), "size": str(size), "allocated": "yes" if used else "no"}
                                for at, (address, size, used) in enumerate(table)]

    ttnn = types.ModuleType("ttnn")
    ttnn.BufferType = types.SimpleNamespace(DRAM=DRAM, L1=L1, L1_SMALL=L1_SMALL, TRACE=TRACE)
    ttnn.get_memory_view = MemoryView
    sys.modules["ttnn"] = ttnn

    def holes(device):
        # Free blocks between buffers, and circular buffers, which are free to the allocator.
        kept = [device.allocate(size << 20, kind) for kind in (DRAM, L1) for size in (1, 5, 3, 2)]
        kept += [device.allocate(64 << 10, kind) for kind in (L1_SMALL, TRACE) for _ in range(2)]
        for at in (9, 6, 4, 1):
            kept.pop(at).free()
        device.run("conv2d", [4096, 8192], cores=(2, 2))
        return kept
"""


class Verify(MemoryCase):
    def test_the_runtime_and_ttmem_agree_on_every_figure_of_a_bank(self):
        self.both(textwrap.dedent(STAND_IN) + textwrap.dedent("""
            device = Device(l1_small_size=32 << 10, trace_region_size=16 << 20)
            kept = holes(device)
            rows = ttmem.verify(device)
            views = [device.memory_view(kind) for kind in (DRAM, L1, L1_SMALL, TRACE)]
            names = ("banks", "size", "used", "free", "largest_free")
            answer([[[row.kind, row.equal, row.differences.to_list()] for row in rows], [tuple(row[name] for name in names) for row in rows] == views])
        """), [[[kind, True, []] for kind in ("dram", "l1", "l1_small", "trace")], True])

    def test_a_difference_is_shown_where_it_is(self):
        found = self.script(textwrap.dedent(STAND_IN) + textwrap.dedent("""
            device = Device(l1_small_size=32 << 10, trace_region_size=16 << 20)
            kept = holes(device)
            class Wrong(MemoryView):
                def __init__(self, device, kind):
                    super().__init__(device, kind)
                    if kind == DRAM:
                        self.num_banks += 1
                        self.total_bytes_per_bank += 32
                        self.total_bytes_free_per_bank += 64
                        self.largest_contiguous_bytes_free_per_bank += 96
                    if kind == L1:
                        self.total_bytes_allocated_per_bank += 32
                        del self.block_table
                    if kind == TRACE:
                        used = [each for each in self.block_table if each["allocated"] == "yes"]
                        used[0]["size"] = "1"
                        self.block_table.remove(used[-1])
                        self.block_table.append({"address": str(1 << 40), "size": "32", "allocated": "yes"})
            ttnn.get_memory_view = Wrong
            rows = {row.kind: row for row in ttmem.verify(device)}
            found = {kind: [[each.figure, each.address is None, each.runtime, each.ttmem] for each in row.differences] for kind, row in rows.items()}
            found["less"] = [[figure, runtime - ttmem] for figure, _, runtime, ttmem in found.pop("dram") + found.pop("l1")]
            base = device.block_table(TRACE)[0][0]
            found["addresses"] = [each.address >= base for each in rows["trace"].differences]
            answer([found, [row.equal for row in rows.values()], repr(ttmem.verify(device))])
        """))
        figures, equal, text = found
        self.assertEqual(figures["less"], [["banks", 1], ["size", 32], ["free", 64], ["largest_free", 96], ["used", 32]])
        self.assertEqual(equal, [False, False, True, False])
        (size,) = {each[3] for each in figures["trace"][:1]}
        self.assertEqual(figures["trace"], [["block", False, 1, size], ["block", False, None, size], ["block", False, 32, None]])
        self.assertEqual(figures["addresses"], [True] * 3)
        self.assertRegex(text, r"dram +no .* banks: runtime 13, ttmem 12; size: runtime \d+, ttmem \d+; free: .*; largest_free: ")
        self.assertRegex(text, r"trace +no .* block 0x\w+: runtime 1, ttmem \d+; block 0x\w+: runtime none, ttmem \d+; block")
        self.assertRegex(text, r"l1_small +yes .* none\n")

    def test_of_several_allocators_the_one_of_the_mesh_is_compared_else_the_nearest(self):
        self.both(textwrap.dedent(STAND_IN) + textwrap.dedent("""
            os.environ["TTMEM_SIM_BOARD"] = "t3000"
            device = Device(1, 2)
            kept = device.allocate(1 << 20)
            class Mesh:  # as ttnn's: id() is the number of the mesh, not of a chip
                def __init__(self, number): self.number = number
                def id(self): return self.number
                def get_device_ids(self): return [1, 2]
                def __getattr__(self, name): return getattr(device, name)
            view = ttmem.default_client.map(ttmem._memory._host_number(device)).to_dict()
            def with_another(*_, **__):  # an allocator of another mesh, without blocks
                others = [{**each, "set": "mesh 5", "used": 0, "blocks": []} for each in view["maps"]]
                return ttmem.View({**view, "maps": others + [{**each, "set": "mesh 3"} for each in view["maps"]]})
            answers = []
            ttmem.default_client.map = with_another
            for number in (5, 3, 8):
                row = ttmem.verify(Mesh(number))[0]
                answers.append([row.equal, row.used > 0])
            answer([answers, ttmem.memory_allocated(Mesh(7)) > 0])
        """), [[[False, False], [True, True], [True, True]], True])

    def test_a_kind_without_a_region_is_left_out(self):
        self.both(textwrap.dedent(STAND_IN) + textwrap.dedent("""
            device = Device()
            answer([row.kind for row in ttmem.verify(device)])
        """), ["dram", "l1"])

    def test_without_ttnn_it_says_so(self):
        found = self.script("""
            device = Device()
            try: ttmem.verify(device)
            except ttmem.TtmemNotSupported as error: answer(str(error))
        """)
        self.assertIn("ttnn.get_memory_view", found)


if __name__ == "__main__":
    main()
