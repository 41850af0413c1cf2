#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads and forked children: scopes, blocks that are measured, figures and callbacks, observed as under 'ttmem run' and with a runtime
that reports by itself."""

import textwrap

from harness.python_package import run_script
from harness.test_case import TestCase, main

BEGIN = textwrap.dedent("""
    import gc, json, os, threading
    import ttmem
    from simulated_runtime import DRAM, L1, Device, OutOfMemory, op

    def names(): return sorted(each.name or '' for each in ttmem.allocations(pid=os.getpid(), kind=['dram', 'l1']).allocations)
    def segments():
        links = [f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd")]
        return len({os.readlink(each) + str(os.stat(each).st_ino) for each in links
                    if os.path.lexists(each) and os.readlink(each).startswith("/memfd:ttmem")})

    def in_child(work):
        # What the work returns in a forked child.
        end, other = os.pipe()
        child = os.fork()
        if child == 0:
            try: result = work()
            except BaseException as error: result = repr(error)
            os.write(other, json.dumps(result).encode())
            os._exit(0)
        os.close(other)
        with os.fdopen(end, "rb") as file: result = json.load(file)
        os.waitpid(child, 0)
        return result

    def in_threads(*works):
        problems = []
        def run(work):
            try: work()
            except BaseException as error: problems.append(repr(error))
        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return problems
""")


class TogetherCase(TestCase):
    def setUp(self):
        super().setUp()
        self.daemon()

    def both(self, code: str, expected):
        for observed in (True, False):
            with self.subTest(observed=observed):
                self.assertEqual(run_script(BEGIN + textwrap.dedent(code), self.directory.path, observed=observed), expected)


class Threads(TogetherCase):
    def test_scopes_that_are_open_at_the_same_time_name_what_their_thread_allocates(self):
        self.both("""
            device, kept, meeting = Device(), [], threading.Barrier(2)
            def work(name):
                for step in range(20):
                    with ttmem.scope(name):
                        meeting.wait()  # both scopes are open
                        kept.append(device.allocate(4096))
                        with ttmem.scope("inner"):
                            meeting.wait()
                            kept.append(device.allocate(4096))
                        meeting.wait()
            problems = in_threads(lambda: work("a"), lambda: work("b"))
            found = names()
            answer([problems, [[name, found.count(name)] for name in sorted(set(found))]])
        """, [[], [[name, 20] for name in ("a", "a/inner", "b", "b/inner")]])

    def test_first_scopes_of_many_threads_at_once_find_the_client(self):
        self.both("""
            device, kept, meeting = Device(), [], threading.Barrier(8)
            def work(name):
                meeting.wait()
                with ttmem.scope(name):
                    kept.append(device.allocate(4096))
            problems = in_threads(*(lambda name=name: work(name) for name in "abcdefgh"))
            answer([problems, names()])
        """, [[], list("abcdefgh")])

    def test_blocks_that_overlap_on_two_threads_have_the_peaks_of_the_process(self):
        self.both("""
            device, peaks, meeting = Device(), {}, threading.Barrier(2)
            def use(size): device.allocate(size << 20).free()
            def first():
                with ttmem.track() as block:
                    use(8)
                    meeting.wait()  # the second one begins
                    meeting.wait()  # ... and has used 4
                peaks["first"] = block
                meeting.wait()
            def second():
                meeting.wait()
                with ttmem.track() as block:
                    use(4)
                    meeting.wait()
                    meeting.wait()  # the first one has ended
                    use(2)
                peaks["second"] = block
            problems = in_threads(first, second)
            answer([problems, {name: block.peak["dram"] >> 20 for name, block in peaks.items()}, [block.inexact for block in peaks.values()]])
        """, [[], {"first": 8, "second": 4}, [[], []]])

    def test_blocks_on_many_threads_at_once_lose_no_peak_of_a_block_around_them(self):
        self.both("""
            device, meeting = Device(), threading.Barrier(4)
            def work():
                meeting.wait()
                for _ in range(10):
                    with ttmem.track() as block:
                        pass
                    assert block.peak is not None
            with ttmem.track() as outer:
                device.allocate(8 << 20).free()
                problems = in_threads(work, work, work, work)
            with ttmem.track() as after:
                pass
            answer([problems, outer.peak["dram"] >> 20, after.peak["dram"]])
        """, [[], 8, 0])


    def test_a_block_that_begins_while_another_one_begins_takes_no_peak_from_it(self):
        self.both("""
            device, begun, threads = Device(), threading.Event(), []
            real = ttmem._native.reset_peak
            def other():
                with ttmem.track():
                    begun.set()
            def reset(number=-1):
                ttmem._native.reset_peak = real
                real(number)
                device.allocate(8 << 20).free()
                threads.append(threading.Thread(target=other))
                threads[0].start()
                begun.wait(0.2)  # the other one must wait until this block has begun
            ttmem._native.reset_peak = reset
            with ttmem.track() as block:
                threads[0].join()
            answer(block.peak["dram"] >> 20)
        """, 8)


class Forks(TogetherCase):
    CHILD = """
        def child():
            before = segments(), ttmem.is_reporting()
            with ttmem.track() as block:
                device = Device()
                with ttmem.scope("child"):
                    kept = device.allocate(3 << 20)
                    device.allocate(5 << 20).free()
            own = ttmem.processes(pid=os.getpid()).processes[0]
            same = ttmem.memory_allocated() == own.devices[0].memory.dram.used
            answers = [names(), ttmem.is_reporting(), same, ttmem.default_client.own_process().pid == os.getpid(),
                       block.growth["dram"] >> 20, block.peak["dram"] >> 20, [row.name for row in block.leaked], block.inexact]
            ttmem.tag(kept, "weights")
            return [before[1], *answers, names(), ttmem.max_memory_allocated() >> 20]
    """
    EXPECTED = [False, ["child"], True, True, True, 3, 8, ["child"], [], ["child/weights"], 8]

    def test_a_child_that_allocates_has_a_segment_of_its_own(self):
        self.both(textwrap.dedent(self.CHILD) + textwrap.dedent("""
            found = in_child(child)  # before the parent has one
            device, kept = Device(), []
            kept.append(device.allocate(1 << 20))
            answer([found, names(), segments(), ttmem.memory_allocated() >> 20])
        """), [self.EXPECTED, [""], 1, 1])

    def test_a_scope_around_a_fork_names_what_both_allocate_inside(self):
        self.both("""
            def work(name):
                device = Device()
                with ttmem.scope(name):
                    inside = device.allocate(1 << 20)
                return device, inside
            kept = []
            def child():
                with scope:
                    pass
                kept.extend(work("child"))
                scope.__exit__(None, None, None)  # the block ends in the child too
                kept.append(kept[0].allocate(1 << 20))
                return names()
            scope = ttmem.scope("model")
            with scope:
                found = in_child(child)
                kept.extend(work("parent"))
            kept.append(kept[0].allocate(1 << 20))
            answer([found, names()])
        """, [["", "model/child"], ["", "model/parent"]])

    def test_figures_of_the_parent_are_not_those_of_a_child(self):
        self.both("""
            device, kept = Device(), []
            with ttmem.scope("parent"):
                kept.append(device.allocate(4 << 20))
            ttmem.memory_allocated(), ttmem.max_memory_allocated(), ttmem.memory_stats(), ttmem.mem_get_info()
            def child():
                refused = []
                for call in (ttmem.memory_allocated, ttmem.max_memory_allocated, ttmem.reset_peak_memory_stats, ttmem.memory_snapshot):
                    try: refused.append(call())
                    except ttmem.TtmemNotTracked as error: refused.append(str(os.getpid()) in str(error))
                return refused
            observed = "LD_PRELOAD" in os.environ
            found = in_child(child)
            answer([found == ([0, 0, None, True] if observed else [True] * 4) or found, ttmem.memory_allocated() >> 20])
        """, [True, 4])

    def test_a_block_that_a_child_leaves_has_the_figures_of_the_child(self):
        self.both("""
            os.environ["TTMEM_SIM_BOARD"] = "t3000"
            device, kept = Device(), []
            kept.append(device.allocate(4 << 20))
            with ttmem.track() as outer, ttmem.track() as block:
                device.allocate(8 << 20).free()
                def child():
                    outer.__exit__(None, None, None)
                    other = Device(1)
                    kept.append(other.allocate(1 << 20))
                    block.__exit__(None, None, None)
                    figures = [{device: kinds["dram"] >> 20 for device, kinds in each.by_device.items()} for each in (block.growth, block.peak)]
                    return [outer.was_tracked, outer.growth.by_device, outer.peak, *figures, [row.grown >> 20 for row in block.leaked]]
                found = in_child(child)
            answer([found, block.growth["dram"], block.peak["dram"] >> 20, block.inexact])
        """, [[False, {}, None, {"1": 1}, {"1": 1}, [1]], 0, 12, []])

    def test_a_child_of_a_process_whose_threads_measure_can_measure_too(self):
        self.both("""
            device, stop, begun = Device(), threading.Event(), threading.Event()
            def work():
                while not stop.is_set():
                    with ttmem.track(), ttmem.scope("thread"):
                        begun.set()
            thread = threading.Thread(target=work)
            thread.start()
            begun.wait()
            def child():
                with ttmem.track() as block, ttmem.scope("child"):
                    pass
                return block.was_tracked
            found = [in_child(child) for _ in range(5)]
            stop.set()
            thread.join()
            answer(found)
        """, [False] * 5)

    def test_callbacks_belong_to_the_process_that_asked_for_them(self):
        self.both("""
            seen = []
            def fail(device, name):
                with ttmem.scope(name):
                    try: device.allocate(1 << 40)
                    except OutOfMemory: pass
            def watched(name):
                device, done = Device(), threading.Event()
                def note(failure):
                    seen.append([failure.name, failure.pid == os.getpid()])
                    done.set()
                watch = ttmem.on_failure(note)
                fail(device, name)
                done.wait(30)
                watch.close()
                return seen
            found = in_child(lambda: watched("child"))
            watched("parent")
            answer([found, seen])
        """, [[["child", True]], [["parent", True]]])


if __name__ == "__main__":
    main()
