#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package inside a tracked process: scopes, marks and own figures, observed as under 'ttmem run' and with a runtime that
reports by itself."""

import textwrap

from harness.python_package import run_script
from harness.test_case import TestCase, main

BEGIN = """
    import os, threading
    import ttmem
    from simulated_runtime import DRAM, L1, Device, op

    def names(): return sorted(each.name or '' for each in ttmem.allocations(pid=os.getpid(), kind=['dram', 'l1']).allocations)
    def segments():
        names = [f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd")]
        return sum(os.path.lexists(name) and os.readlink(name).startswith("/memfd:ttmem") for name in names)
"""
SIZE = 1 << 20


class Process(TestCase):
    def script(self, code: str, **options):
        return run_script(textwrap.dedent(BEGIN) + textwrap.dedent(code), self.directory.path, **options)

    def both(self, code: str, expected):
        for observed in (True, False):
            with self.subTest(observed=observed):
                self.assertEqual(self.script(code, observed=observed), expected)


class Scopes(Process):
    def test_a_scope_before_the_first_device_call_names_what_the_observer_records_and_there_is_one_segment(self):
        found = self.script("""
            with ttmem.scope("model"), ttmem.scope("decoder.3"):
                before = segments(), ttmem.is_reporting()
                device = Device()
                with op("ttnn::matmul"):
                    a = device.allocate(1 << 20)
                b = device.allocate(1 << 20)
            c = device.allocate(1 << 20)
            answer([before, segments(), ttmem.is_reporting(), names()])
        """, observed=True)
        self.assertEqual(found, [[0, False], 1, True, ["", "model/decoder.3", "model/decoder.3/ttnn::matmul"]])

    def test_scopes_after_the_first_device_call_are_exact(self):
        self.both("""
            device = Device()
            kept = []
            for layer in range(2):
                with ttmem.scope(f"decoder.{layer}"):
                    kept.append(device.allocate(1 << 20))
                    with ttmem.scope("attention"), op("ttnn::add"):
                        kept.append(device.allocate(1 << 20))
            @ttmem.scoped
            def mlp(): kept.append(device.allocate(1 << 20))
            @ttmem.scoped("norm")
            def other(): kept.append(device.allocate(1 << 20, L1))
            mlp()
            other()
            answer([names(), segments()])
        """, [["decoder.0", "decoder.0/attention/ttnn::add", "decoder.1", "decoder.1/attention/ttnn::add", "mlp", "norm"], 1])

    def test_a_waiting_scope_reaches_a_runtime_that_reports_by_itself_with_the_next_scope(self):
        found = self.script("""
            with ttmem.scope("model"):
                device = Device()
                with ttmem.scope("decoder"):
                    a = device.allocate(1 << 20)
                b = device.allocate(1 << 20)
            c = device.allocate(1 << 20)
            answer([names(), segments()])
        """)
        self.assertEqual(found, [["", "model", "model/decoder"], 1])

    def test_a_scope_belongs_to_its_thread(self):
        self.both("""
            device, kept = Device(), []
            def work():
                with ttmem.scope("worker"):
                    kept.append(device.allocate(1 << 20))
            thread = threading.Thread(target=work)
            with ttmem.scope("main"):
                thread.start()
                thread.join()
                kept.append(device.allocate(1 << 20))
            answer(names())
        """, ["main", "worker"])

    def test_a_scope_of_another_thread_waits_for_its_first_call(self):
        found = self.script("""
            kept, is_open = [], threading.Event()
            def work():
                with ttmem.scope("worker"):
                    is_open.wait()
                    kept.append(device.allocate(1 << 20))
            thread = threading.Thread(target=work)
            thread.start()
            device = Device()
            is_open.set()
            thread.join()
            answer(names())
        """, observed=True)
        self.assertEqual(found, ["worker"])

    def test_a_scope_is_left_when_an_exception_passes(self):
        self.both("""
            device = Device()
            try:
                with ttmem.scope("broken"):
                    raise KeyError
            except KeyError:
                kept = device.allocate(1 << 20)
            answer(names())
        """, [""])

    def test_a_forked_child_has_no_segment_until_it_allocates(self):
        self.both("""
            device = Device()
            with ttmem.scope("parent"):
                kept = device.allocate(1 << 20)
                child = os.fork()
                if child == 0:
                    with ttmem.scope("child"):
                        ttmem.mark("step")
                        # The parent's segment is an open file of the child too.
                        os._exit(0 if not ttmem.is_reporting() else 1)
                status = os.waitpid(child, 0)[1]
                after = device.allocate(1 << 20)
            answer([status, names(), segments()])
        """, [0, ["parent", "parent"], 1])

    def test_importing_and_using_it_makes_no_segment(self):
        self.both("""
            with ttmem.scope("a"):
                ttmem.mark("step")
                ttmem.status()
                with ttmem.track() as t:
                    pass
            answer([segments(), ttmem.is_reporting(), t.was_tracked])
        """, [0, False, False])

    def test_no_call_about_this_process_makes_a_segment(self):
        self.both("""
            names = [name for name in ttmem.__all__ if "memory_" in name and name != "_dump_snapshot"] + ["is_reporting"]
            calls = {name: getattr(ttmem, name) for name in names} | {"tag": lambda: ttmem.tag(4096, "a"), "mark": lambda: ttmem.mark("b"), "verify": lambda: ttmem.verify(0),
                     "pjrt_stats": ttmem.pjrt_stats, "own_process": ttmem.default_client.own_process, "_snapshot": ttmem._snapshot}
            found = {}
            for name, call in calls.items():
                try: call()
                except ttmem.TtmemError: pass
                if segments() or ttmem.is_reporting(): found[name] = segments()
            answer([found, len(calls) > 15, "reset_peak_memory_stats" in calls])
        """, [{}, True, True])

    def test_many_scopes_inside_each_other_are_left_in_order(self):
        self.both("""
            import contextlib
            with contextlib.ExitStack() as stack:
                for depth in range(300):
                    stack.enter_context(ttmem.scope(f"s{depth}"))
                device = Device()
            kept = device.allocate(1 << 20)
            answer(names())
        """, [""])

    def test_a_wrong_name_is_refused(self):
        found = self.script("""
            texts = []
            for name in ("", "a\\0b"):
                try: ttmem.scope(name)
                except ttmem.TtmemBadRequest as error: texts.append(str(error))
            answer(texts)
        """)
        self.assertEqual(len(found), 2)


class Tags(Process):
    def test_a_tag_is_inside_the_name(self):
        self.both("""
            device = Device()
            with ttmem.scope("decoder.3"):
                a, b = device.allocate(1 << 20), device.allocate(1 << 20, L1)
            ttmem.tag(a, "kv_cache")
            ttmem.tag(b.address, "mask", kind="l1")
            refused = []
            try: ttmem.tag(a, "other", kind="trace")
            except ttmem.TtmemNotFound as error: refused.append("no allocation of trace at" in str(error))
            for target in ("x", None):
                try: ttmem.tag(target, "other")
                except ttmem.TtmemBadRequest: refused.append(True)
            answer([names(), refused])
        """, [["decoder.3/kv_cache", "decoder.3/mask"], [True] * 3])


class Untracked(Process):
    def test_without_tracking_scopes_do_nothing_and_figures_are_refused(self):
        found = self.script("""
            device = Device()
            with ttmem.scope("a"):
                kept = device.allocate(1 << 20)
            texts = []
            for call in (ttmem.memory_allocated, ttmem.max_memory_allocated, ttmem.reset_peak_memory_stats, ttmem.memory_reserved):
                try: call()
                except ttmem.TtmemNotTracked as error: texts.append("ttmem run" in str(error))
            answer([segments(), texts])
        """, TT_ALLOC_TRACKING_ENABLED="0")
        self.assertEqual(found, [0, [True] * 4])


class Marks(Process):
    def test_a_mark_separates_old_from_new(self):
        self.daemon()
        self.both("""
            device = Device()
            old = device.allocate(1 << 20)
            mark = ttmem.mark("step")
            with ttmem.scope("new"):
                new = device.allocate(1 << 20)
            answer([mark.name, mark.is_kept, [each.name for each in ttmem.allocations(since=mark, pid=os.getpid()).allocations]])
        """, ["step", True, ["new"]])


if __name__ == "__main__":
    main()
