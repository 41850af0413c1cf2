#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each command on the scenarios: the screen shows what the allocator holds."""

import json
import re

from harness.simulator import Simulator
from harness.test_case import TestCase, main
from harness.waiting import wait_until

MEMORY_ROWS = {"DRAM": "dram", "L1 Buffers": "l1", "CBs": "cb", "Kernels": "kernel", "L1_SMALL": "l1_small",
               "Trace": "trace"}


def refusal(sim: Simulator) -> str:
    """The message with which the runtime refused."""
    [line] = [line for line in sim.printed if line.startswith("refused: ")]
    return line


def breakdowns(text: str) -> list[dict[int, dict[str, int]]]:
    """{device: {row: used bytes}} of each block that a monitor with --bytes printed."""
    blocks = []
    for line in text.splitlines():
        if re.fullmatch(r"\S+: \d+ devices?, .*", line):
            blocks.append({})
        elif found := re.match(r"Device (\d+)", line):
            device = blocks[-1].setdefault(int(found[1]), {})
        elif found := re.match(r"    ([\w ]+): +(?:\[.*\])? +(\d+)", line):
            device[found[1]] = int(found[2])
    return blocks


class WithAndWithoutDaemon(TestCase):
    """Each test runs twice: first ttmem reads the host directly, then it asks a daemon."""

    def both_ways(self, sim: Simulator):
        yield "direct"
        self.daemon("--quiet").wait_for(sim.pid)
        yield "daemon"

    def why(self, sim: Simulator, source: str) -> dict:
        view = self.json_of("why")
        self.assertEqual(view["source"], source)
        [failure] = view["failures"]
        self.assertEqual(failure["pid"], sim.pid)
        return view | {"failure": failure}

    def test_why_names_what_fills_dram(self):
        sim = self.simulator_at("oom-dram", "out of memory")
        asked, needed, free, largest = (int(number) for number in re.search(
            r"allocate (\d+) B .* store (\d+) B.*, free: (\d+) B, largest free block: (\d+) B", refusal(sim)).groups())
        for source in self.both_ways(sim):
            view = self.why(sim, source)
            failure = view["failure"]
            self.assertEqual((failure["verdict"], failure["requested"], failure["needed"], failure["free"],
                              failure["largest_free"], failure["missing"], failure["name"]),
                             ("not enough", asked, needed, free, largest, needed - largest, "decoder.9"))
            [holders] = view["holders"]
            self.assertEqual((holders["device"], holders["kind"]), (0, "dram"))
            self.assertEqual([group["key"] for group in holders["by_process"]], [str(sim.pid)])
            self.assertEqual({group["memory"]["dram"]["used"] for group in holders["by_name"]}, {needed * 12})
            self.assertTrue(all(re.fullmatch(r"decoder\.[0-8]", group["key"]) for group in holders["by_name"]))

            text = self.output_of("why", "--bytes")
            self.assertRegex(text, rf"not enough +dram +0 +{asked} +{needed - free} .*decoder.9")
            self.assertIn(f"each bank has {free} B free, {largest} B in one block", text)
            self.assertRegex(text, rf"{needed * 12} +1 +decoder\.")

    def test_why_reports_fragmentation(self):
        sim = self.simulator_at("fragmentation", "no block large enough")
        asked, needed, free, largest = (int(number) for number in re.search(
            r"allocate (\d+) B .* store (\d+) B.*, free: (\d+) B, largest free block: (\d+) B", refusal(sim)).groups())
        self.assertGreater(free, needed)
        for source in self.both_ways(sim):
            view = self.why(sim, source)
            failure = view["failure"]
            self.assertEqual((failure["verdict"], failure["requested"], failure["needed"], failure["free"],
                              failure["largest_free"], failure["missing"], failure["name"]),
                             ("fragmented", asked, needed, free, largest, needed - largest, "logits"))
            self.assertEqual([group["key"] for group in view["holders"][0]["by_name"]], ["activations"])
            self.assertEqual(view["holders"][0]["by_name"][0]["memory"]["dram"]["used"],
                             sim.last_truth()["devices"][0]["memory"]["dram"]["used"])
            text = self.output_of("why", "--bytes")
            self.assertRegex(text, rf"fragmented +dram +0 +{asked} +{needed - largest} .*logits")
            self.assertIn("activations", text)

    def test_why_names_the_buffer_that_circular_buffers_run_into(self):
        sim = self.simulator_at("cb-clash", "clash")
        end, lowest, overlap = (int(number) for number in re.search(
            r"end at (\d+), .* begins at (\d+), (\d+) B below", refusal(sim)).groups())
        self.assertEqual(end - lowest, overlap)
        for source in self.both_ways(sim):
            failure = self.why(sim, source)["failure"]
            self.assertEqual((failure["verdict"], failure["cb_end"], failure["lowest_buffer"], failure["missing"],
                              failure["name"]), ("clash", end, lowest, overlap, "ttnn::conv2d"))
            self.assertEqual((failure["blocker"]["name"], failure["blocker"]["address"]),
                             ("decoder.0/activation", lowest))
            text = self.output_of("why", "--bytes")
            self.assertRegex(text, rf"clash +cb +0 .* {overlap} .*ttnn::conv2d")
            self.assertIn("decoder.0/activation", text)
            self.assertIn(hex(end), text)

    def test_allocations_since_the_mark_are_the_leak(self):
        sim = self.simulator_at("leak", "step 2")
        for _ in self.both_ways(sim):
            self.assertIn("Marked.", self.output_of("mark"))
            self.assertTrue(sim.next())
            self.assertTrue(sim.step.startswith("step"))
            groups = self.json_of("allocations", "--since-mark", "--group-by", "name")["groups"]
            self.assertEqual([(group["key"], group["count"], group["memory"]["dram"]["requested"]) for group in groups],
                             [("decoder.2/attention_mask", 1, 262144)])
            text = self.output_of("allocations", "--since-mark", "--bytes")
            self.assertRegex(text, r"^Since the mark, \d+m?s ago:\n")
            self.assertRegex(text, "262144 .*decoder.2/attention_mask")
            self.assertNotIn("decoder.1", text)

    def held_by_name(self) -> dict[str | None, tuple[int, int]]:
        """{name: (requested bytes, allocations)} of what is live on device 0."""
        groups = self.json_of("allocations", "--group-by", "name", "-d", "0", "--kind", "dram", "--limit", "0")["groups"]
        return {group["key"]: (group["memory"]["dram"]["requested"], group["count"]) for group in groups}

    def test_the_peak_is_made_of_what_was_live_at_its_step(self):
        sim = self.simulator_at("mesh-allocation", "matmul")
        expected = self.held_by_name()
        used = sim.last_truth()["devices"][0]["memory"]["dram"]["used"]
        self.assertGreater(len(expected), 2)
        sim.go_to("free add")
        now = sum(requested for requested, _ in self.held_by_name().values())
        for source in self.both_ways(sim):
            for filters in (["-d", "0"], []):  # without a device the mesh counts once
                view = self.json_of("peak", "--kind", "dram", *filters, "--limit", "0")
                self.assertEqual((view["source"], view["exact"]), (source, True), view["inexact"])
                [peak] = view["peaks"]
                self.assertEqual({one["name"]: (one["requested"], one["count"]) for one in peak["by_name"]}, expected)
                self.assertEqual((peak["pid"], peak["requested"], peak["count"]),
                                 (sim.pid, *(sum(sums) for sums in zip(*expected.values()))))
                self.assertEqual((peak["requested_now"], peak["used_peak"]), (now, used))
                self.assertEqual((peak["may_lie_earlier"], peak["since_ns"], peak["left_out"]), (False, None, 0))
                self.assertLess(peak["time_ns"], view["time_ns"])
            text = self.output_of("peak", "-d", "0", "--bytes", "--limit", "1")
            self.assertRegex(text, rf"\nProcess {sim.pid} \(.*\): {peak['requested']} B in {peak['count']} allocations, ")
            self.assertIn(f"  now: {now} B; highest use (reserved bytes): {used} B\n", text)
            self.assertRegex(text, rf"\n +{peak['by_name'][0]['requested']} +{peak['by_name'][0]['count']}  ")
            self.assertIn(f"... and {len(expected) - 1} more names", text)

    def test_the_peak_is_the_highest_since_the_records_begin(self):
        sim = self.simulator("churn", "--threads", "2", "--live", "50", "--rate", "0", "--seconds", "600",
                             pause_at="churned")
        for source in self.both_ways(sim):
            wait_until(lambda: [peak for peak in self.json_of("peak")["peaks"] if peak["may_lie_earlier"]],
                       "the rings have overwritten records")
            view = self.json_of("peak")
            self.assertEqual((view["source"], view["exact"]), (source, False))
            self.assertIn("events_not_kept", {reason["code"] for reason in view["inexact"]})
            self.assertEqual({reason["code"] for reason in view["inexact"]} & {"records_contradict"}, set())
            [peak] = view["peaks"]
            self.assertGreater(peak["missing_records"], 0)
            self.assertGreaterEqual(peak["time_ns"], peak["since_ns"])
            self.assertLessEqual(peak["count"], 2 * 51, "each thread holds 50, and one more while it replaces one")
            self.assertGreaterEqual(peak["requested"], peak["requested_now"])
            self.assertRegex(self.output_of("peak"), "the highest since .* ago; the peak of the process may lie earlier")

    def fit(self, code: int, *arguments: str) -> dict:
        """The answer of 'fit', which must have this exit code."""
        done = self.ttmem("fit", *arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (code, ""), arguments)
        return json.loads(done.stdout)

    def test_fit_predicts_the_refusal_of_the_allocator(self):
        sim = self.simulator_at("fragmentation", "every second freed")
        size = sim.last_truth()["devices"][0]["memory"]["dram"]["capacity"] // 4 // 2048 * 2048
        answers = []
        for source in self.both_ways(sim):
            view = self.fit(3, "-d", "0", "--kind", "dram", str(size), "--pid", str(sim.pid))
            self.assertEqual((view["source"], view["answer"], view["exact"]), (source, "does not fit", True))
            [answer] = [one for one in view["allocators"] if one["set"].startswith("mesh")]
            self.assertEqual((answer["verdict"], answer["fits_after_compaction"]), ("fragmented", True))
            answers.append((answer["needed"], answer["free"], answer["largest_free"]))
            cheapest = answer["to_free"][0]
            self.assertEqual({block["name"] for block in cheapest["blocks"]}, {"activations"})
            self.assertEqual(sum(block["bytes"] for block in cheapest["blocks"]), cheapest["bytes"])
            done = self.ttmem("fit", "-d", "0", str(size), "--bytes")
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            self.assertIn(f"  does not fit: fragmented, short by {answer['short_by']} B per bank\n", done.stdout)
            self.assertRegex(done.stdout, rf"after freeing {cheapest['bytes']} B per bank in {cheapest['count']} ")
        sim.go_to("no block large enough")
        refused = tuple(int(number) for number in re.search(
            r"store (\d+) B.*, free: (\d+) B, largest free block: (\d+) B", refusal(sim)).groups())
        self.assertEqual(answers, [refused, refused])

    def addresses_in_mesh(self) -> set[int]:
        """Of live DRAM buffers."""
        return {one["address"] for one in self.json_of("allocations", "--kind", "dram", "--limit", "0")["allocations"]
                if one["set"].startswith("mesh")}

    def test_fit_predicts_the_address_that_the_allocator_gives(self):
        sim = self.simulator_at("mesh-allocation", "tensor 1")
        addresses = []
        for source in self.both_ways(sim):
            for request in (["4MiB"], ["--shape", "8,512,512"], ["4194304", "--page", "2KiB", "--interleaved"]):
                view = self.fit(0, "-d", "0", *request)
                self.assertEqual((view["source"], view["answer"]), (source, "fits"))
                [answer] = [one for one in view["allocators"] if one["set"].startswith("mesh")]
                self.assertEqual((answer["pid"], sorted(answer["devices"])), (sim.pid, list(range(8))))
                addresses.append(answer["address"])
        before = self.addresses_in_mesh()
        sim.go_to("tensor 2")
        self.assertEqual(self.addresses_in_mesh() - before, set(addresses))

    def test_fit_says_with_its_exit_code_what_is_wrong(self):
        sim = self.simulator_at("mesh-allocation", "tensor 1")
        for _ in self.both_ways(sim):
            for words, part in ((["16QiB"], "must be a size"), (["0"], "must be a size"), (["-1"], ""), ([], "is missing"),
                                (["--shape", "32x32"], "must be one to eight numbers"), (["4096", "--cores", "0"], "1 or greater"),
                                (["--shape", "32", "--dtype", "bfloat17"], "did you mean 'bfloat16'"),
                                (["4096", "--kind", "cb"], "must be one of"), (["4096", "--kind", "l1_small"], "--cores"),
                                (["4096", "--cores", "2", "--interleaved"], ""), (["4096", "--shape", "32"], "one of them"),
                                (["--shape", "32", "--dtype", "bfloat8_b", "--layout", "row_major"], "must be tile")):
                done = self.ttmem("fit", "-d", "0", *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), words)
                self.assertIn(part, done.stderr)
            for words, part in ((["-d", "99", "4096"], "device 99"), (["-d", "0", "4096", "--set", "x"], "'x'"),
                                (["-d", "0", "4096", "--pid", "1"], "process 1")):
                done = self.ttmem("fit", *words)
                self.assertEqual((done.returncode, done.stdout), (1, ""), words)
                self.assertIn(part, done.stderr)
            self.assertEqual(self.fit(3, "-d", "0", "4096", "--kind", "l1", "--cores", "57")["allocators"][0]["verdict"],
                             "too many cores")

    def test_map_shows_the_block_table_of_the_allocator(self):
        sim = self.simulator_at("fragmentation", "no block large enough", "--blocks")
        memory = sim.last_truth()["devices"][0]["memory"]["dram"]
        tables = [[(block["address"], block["size"], block["allocated"]) for block in table]
                  for table in memory["blocks"] if any(block["allocated"] for block in table)]
        self.assertGreater(max(map(len, tables)), 80)
        for _ in self.both_ways(sim):
            maps = self.json_of("map", "--device", "0", "--kind", "dram", "--limit", "0")["maps"]
            self.assertCountEqual([[(block["address"], block["bytes"], not block["is_free"]) for block in one["blocks"]]
                                   for one in maps], tables)
            self.assertEqual(min(one["largest_free"] for one in maps), memory["largest_free"])
            text = self.output_of("map", "--device", "0", "--kind", "dram", "--limit", "0", "--bytes")
            for address, size, allocated in (block for table in tables for block in table):
                who = r"\d+ +\d+ +\S+ +activations" if allocated else r"- +- +- +\(free"
                self.assertRegex(text, rf"(?m)^ *{address:#x} +{size} +{who}")
            self.assertRegex(text, rf" {memory['largest_free']} .*\(free, largest\)")

    def without_circular_buffers(self, blocks: list[dict]) -> list[tuple[int, int, bool]]:
        """The blocks as the allocator sees them: what circular buffers occupy is free for it."""
        table = []
        for block in blocks:
            allocated = not block["is_free"] and block["circular_buffers"] == 0
            if table and not allocated and not table[-1][2]:
                address, size, _ = table.pop()
                table.append((address, size + block["bytes"], False))
            else:
                table.append((block["address"], block["bytes"], allocated))
        return table

    def test_cores_and_the_map_of_a_core_show_its_circular_buffers(self):
        sim = self.simulator_at("mesh-allocation", "matmul", "--blocks")
        for _ in self.both_ways(sim):
            worst = self.json_of("status")["devices"][0]["l1_worst_core"]
            core = ",".join(map(str, worst["core"]))
            [listed] = [one for one in self.json_of("cores", "-d", "0")["cores"] if one["core"] == worst["core"]]
            self.assertEqual((listed["cb_top"], listed["headroom"]), (worst["cb_top"], worst["headroom"]))
            programs = {program["program"]: program for program in self.json_of("programs", "-d", "0")["programs"]}
            self.assertEqual(programs[listed["program"]]["cb"]["top"], worst["cb_top"])
            self.assertRegex(self.output_of("cores", "-d", "0", "--limit", "1"),
                             rf"(?m)^ *\d+,\d+ +{worst['cb_top']:#x} .* {listed['program']} ")
            [of_core] = self.json_of("map", "-d", "0", "--core", core)["maps"]
            self.assertEqual((of_core["kind"], of_core["shown_core"]["core"]), ("l1", worst["core"]))
            circular = [block for block in of_core["blocks"] if block["circular_buffers"] != 0]
            self.assertEqual(circular[-1]["address"] + circular[-1]["bytes"], worst["cb_top"])
            self.assertFalse(any(block["is_free"] for block in circular))
            self.assertIn(listed["program"], [program["program"] for program in of_core["shown_core"]["programs"]])
            text = self.output_of("map", "-d", "0", "--core", core)
            self.assertRegex(text, rf"core {core} \(as requested\): circular buffers up to {worst['cb_top']:#x}")
            self.assertRegex(text, r"\n\[[c+]")
            maps = self.json_of("map", "-d", "0", "--kind", "cb")["maps"]
            self.assertEqual({one["shown_core"]["programs"][0]["program"] for one in maps},
                             {number for number, program in programs.items() if program["cb"]["count"] != 0})
            self.assertEqual(maps[0]["shown_core"]["cb_top"], worst["cb_top"])
        wrong = self.ttmem("map", "-d", "0", "--core", "99,99")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("has no core 99,99", wrong.stderr)
        self.assertEqual(self.ttmem("map", "-d", "0", "--core", "3").returncode, 2)

    def test_map_shows_the_block_tables_of_l1_and_of_a_mesh(self):
        sim = self.simulator_at("mesh-allocation", "matmul", "--blocks")
        for _ in self.both_ways(sim):
            for device in sim.last_truth()["devices"]:
                maps = self.json_of("map", "--device", device["asic_id"], "--limit", "0")["maps"]
                for kind in ("dram", "l1"):
                    tables = [[(block["address"], block["size"], block["allocated"]) for block in table]
                              for table in device["memory"][kind]["blocks"] if any(block["allocated"] for block in table)]
                    seen = [self.without_circular_buffers(one["blocks"])
                            for one in maps if one["kind"] == kind and one["used"] != 0]
                    self.assertCountEqual(seen, tables, (device["id"], kind))


class Monitor(TestCase):
    """The monitor shows the figures of the allocator."""

    def assert_truth(self, sim: Simulator, block: dict[int, dict[str, int]], view: dict):
        for device in sim.last_truth()["devices"]:
            [number] = [one["id"] for one in view["devices"] if one["asic_id"] == device["asic_id"]]
            for row, kind in MEMORY_ROWS.items():
                used = device["memory"][kind]["used"]
                if row in block[number] or used:
                    self.assertEqual(block[number][row], used, (sim.step, number, row))

    def test_monitor_shows_each_device_at_each_step(self):
        for scenario in ("mesh-allocation", "matmul-multicore-reuse", "tracking"):
            sim = self.simulator(scenario)
            while sim.next():
                view = self.json_of("status")
                if not view["devices"]:
                    continue
                [block] = breakdowns(self.output_of("monitor", "-a", "-n", "1", "--bytes"))
                self.assertEqual(sorted(block), [device["id"] for device in view["devices"]])
                self.assert_truth(sim, block, view)
            sim.close()

    def test_the_old_program_name_monitors_all_devices_twice_a_second(self):
        sim = self.simulator_at("mesh-allocation", "tensor 2")
        view = self.json_of("status")
        text = self.output_of("-a", "-r", "500", "-n", "3", "--bytes", program="allocation_monitor_client")
        blocks = breakdowns(text)
        self.assertEqual([len(block) for block in blocks], [8, 8, 8])
        for block in blocks:
            self.assert_truth(sim, block, view)
        self.assertEqual(text.count("Memory Breakdown:"), 24)

    def test_monitor_shows_the_chosen_devices_only(self):
        self.simulator_at("mesh-allocation", "tensor 2")
        [block] = breakdowns(self.output_of("-d", "1", "-d", "3", "-n", "1", "--bytes", program="allocation_monitor_client"))
        self.assertEqual(sorted(block), [1, 3])
        text = self.output_of("monitor", "-d", "99", "-n", "1")
        self.assertIn("Device 99: absent", text)
        self.assertNotIn("Memory Breakdown", text)

    def test_total_l1_is_the_figure_of_the_fullest_core(self):
        self.simulator_at("matmul-multicore-reuse", "first run")
        worst = self.json_of("status")["devices"][0]["l1_worst_core"]
        text = self.output_of("monitor", "-n", "1", "--bytes")
        self.assertRegex(text, rf"Total L1: +\[.*\] +{worst['used']} / +{worst['capacity']} .*headroom {worst['headroom']}")

    def test_a_mesh_tensor_of_32_mib_is_4_mib_on_each_of_8_devices(self):
        sim = self.simulator_at("mesh-allocation", "open")
        before = {device["id"]: device["memory"]["dram"]["requested"]
                  for device in self.json_of("status")["devices"]}
        sim.next()
        after = {device["id"]: device["memory"]["dram"]["requested"]
                 for device in self.json_of("status")["devices"]}
        self.assertEqual({id: after[id] - before[id] for id in after}, {id: 4194304 for id in range(8)})

    def test_on_a_terminal_monitor_redraws_within_the_window(self):
        self.simulator_at("mesh-allocation", "tensor 2")
        seen = self.terminal_output("monitor", "-a", "-r", "1", "-n", "3", NO_COLOR="1")
        pictures = seen.split("\x1b[H")[1:]
        self.assertEqual(len(pictures), 3)
        for picture in pictures:
            self.assertLess(picture.count("\n"), 24)
            self.assertIn("window too small", picture)
            self.assertTrue(picture.endswith("\x1b[J"))
        self.assertNotIn("window too small", self.terminal_output("monitor", "-a", "-n", "1", rows=100))


if __name__ == "__main__":
    main()
