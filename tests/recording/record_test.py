#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem record' and the commands that show a moment of a recording."""

import json
import os
import re
import signal
import stat
import subprocess
import tempfile

from harness.programs import SIMULATOR
from harness.test_case import TestCase, main
from harness.tracked_process import SMALL_SEGMENT
from harness.waiting import wait_until
from recorder_process import RecorderProcess, moment


class Record(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.ttmem")

    def recorded_simulator(self):
        """A simulator that was recorded to its end."""
        simulator = self.simulator("matmul-single-core")
        self.assertTrue(simulator.next())
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(simulator.pid)
        while simulator.next():
            recorder.wait_for_rounds()
        simulator.process.wait()
        recorder.wait_for_rounds()
        code, text = recorder.stop()
        self.assertEqual(code, 0, text)
        return simulator

    def test_the_file_is_for_its_owner_and_is_not_replaced(self):
        done = self.ttmem("record", "-o", self.path, "--seconds", "0.05")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("recorded 0 events of 0 processes", done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        again = self.ttmem("record", "-o", self.path, "--seconds", "0.05")
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists (replace it with --force)", again.stderr)
        self.assertEqual(self.ttmem("record", "-o", self.path, "--seconds", "0.05", "--force").returncode, 0)

    def test_a_command_is_recorded_from_its_start(self):
        done = self.ttmem("record", "-o", self.path, "--from-start", "--", SIMULATOR, "matmul-single-core")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 1 process into", done.stderr)
        view = self.json_of("status", "--recording", self.path, "--at", "peak:dram")
        [process] = view["processes"]
        # The recorder may be too late for the reserved bytes of short-lived allocations, and says so.
        self.assertLessEqual({reason["code"] for reason in view["inexact"]}, {"reserved_unknown"})
        self.assertGreater(max(device["memory"]["dram"]["requested"] for device in process["devices"]), 0)

    def test_all_that_a_short_program_holds_is_on_its_devices(self):
        """Its devices, sets and events are in one block."""
        done = self.ttmem("record", "-o", self.path, "--from-start", "--", SIMULATOR, "transformer-dp4")
        self.assertEqual(done.returncode, 0, done.stderr)
        memory = self.json_of("status", "--recording", self.path, "--at", "peak:dram")["devices"][0]["memory"]
        rows = self.ttmem("export", "--format", "jsonl", "--recording", self.path, "--at", "peak:dram", "-o", "-").stdout.splitlines()
        live = [one for one in map(json.loads, rows)
                if one["type"] == "allocation" and one["freed_ns"] is None and one["kind"] == "dram" and 0 in one["devices"]]
        self.assertEqual(sum(one["used"] for one in live), memory["dram"]["used"])
        self.assertIn("system::command_queue", {one["name"] for one in live})

    def test_the_exit_code_is_that_of_the_command(self):
        done = self.ttmem("record", "-o", self.path, "--from-start", "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        missing = self.ttmem("record", "-o", self.path, "--force", "--from-start", "--", "/nonexistent/program")
        self.assertEqual(missing.returncode, 127)

    def test_from_start_refuses_what_it_would_ignore(self):
        for option in (("--pid", "1"), ("--device", "0")):
            done = self.ttmem("record", "-o", self.path, *option, "--from-start", "--", "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"leave out {option[0]}", done.stderr)
        self.assertFalse(os.path.exists(self.path))

    def test_the_command_goes_on_when_the_time_of_its_recording_is_over(self):
        recorder = RecorderProcess(self, self.path, "--seconds", "0.1", "--from-start", "--", "sh", "-c", "read line; exit 5",
                                   stdin=subprocess.PIPE)

        def is_finished() -> bool:
            done = self.ttmem("status", "--recording", self.path)
            return done.returncode == 0 and "was not ended" not in done.stderr
        wait_until(is_finished, "the recording has ended")
        self.assertIsNone(recorder.process.poll())
        size = os.path.getsize(self.path)
        recorder.process.stdin.write("\n")
        recorder.process.stdin.close()
        recorder.process.stdin = None
        self.assertEqual(recorder.wait()[0], 5)
        self.assertEqual(os.path.getsize(self.path), size)

    def test_a_signal_ends_the_command_and_the_recording_is_whole(self):
        recorder = RecorderProcess(self, self.path, "--from-start", "--", SIMULATOR, "churn", "--rate", "1000", "--seconds", "600")
        wait_until(lambda: self.ttmem("status", "--recording", self.path, "--json").stdout.count('"pid"') > 0, "it records")
        code, text = recorder.stop()
        self.assertEqual(code, 128 + signal.SIGINT, text)
        self.assertIn("of 1 process into", text)
        done = self.ttmem("events", "--recording", self.path, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("process_died", [event["what"] for event in json.loads(done.stdout)["events"]])

    def test_commands_show_a_moment(self):
        simulator = self.recorded_simulator()
        at = ("--recording", self.path, "--at", "peak:dram")
        [process] = self.json_of("ps", *at)["processes"]
        self.assertEqual(process["pid"], simulator.pid)
        allocations = self.json_of("allocations", *at)["allocations"]
        self.assertGreater(len(allocations), 0)
        self.assertTrue(all(allocation["pid"] == simulator.pid for allocation in allocations))
        for command in (("map", "-d", "0"), ("cores", "-d", "0"), ("programs",), ("why",), ("status",)):
            self.assertEqual(self.json_of(*command, *at)["source"], "recording", command)
            self.output_of(*command, *at)

    def test_errors_say_what_there_is(self):
        self.recorded_simulator()

        def error_of(*arguments: str) -> str:
            done = self.ttmem("status", *arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            return done.stderr

        self.assertIn("outside the recording, which goes from", error_of("--recording", self.path, "--at", "+99999s"))
        self.assertIn("must be +12.5s", error_of("--recording", self.path, "--at", "soon"))
        self.assertIn("the recording has 0 failures", error_of("--recording", self.path, "--at", "failure:1"))
        self.assertIn("the recording has no marks", error_of("--recording", self.path, "--at", "mark:warm"))
        self.assertIn("is not a recording", error_of("--recording", __file__))
        self.assertIn("No such file", error_of("--recording", self.path + ".missing"))
        self.assertEqual(self.ttmem("status", "--at", "+1s").returncode, 2)

    def test_a_killed_recorder_leaves_what_it_wrote(self):
        simulator = self.simulator("transformer-dp4")
        self.assertTrue(simulator.next())
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(simulator.pid)
        while simulator.next():
            pass
        recorder.process.send_signal(signal.SIGKILL)
        recorder.wait()
        done = self.ttmem("status", "--recording", self.path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the recording was not ended", done.stderr)
        self.assertEqual(json.loads(done.stdout)["source"], "recording")

    def test_lost_events_are_a_gap(self):
        process = self.tracked_process('mesh = open_set([device(0x11)], "mesh")', **SMALL_SEGMENT)
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(process.pid)
        recorder.process.send_signal(signal.SIGSTOP)
        process.run("handles = [library.ttmem_allocate(mesh, DRAM, 4096 * i, 64, 768, i) for i in range(40)]")
        recorder.process.send_signal(signal.SIGCONT)
        recorder.wait_for_rounds()
        process.run("library.ttmem_free(handles[0])")
        recorder.wait_for_rounds()
        code, text = recorder.stop()
        self.assertEqual(code, 0)
        lost = int(re.search(r"; (\d+) events were lost", text)[1])
        done = self.ttmem("events", "--recording", self.path, "--json")
        events = json.loads(done.stdout)["events"]
        self.assertEqual([event["count"] for event in events if event["what"] == "gap"], [lost])
        kinds = [event["what"] for event in events]
        self.assertGreater(kinds.index("free"), kinds.index("gap"))
        self.assertEqual(kinds.count("allocation"), 40 - lost)
        [status] = self.json_of("status", "--recording", self.path)["processes"]
        self.assertEqual(status["devices"][0]["memory"]["dram"]["used"], 39 * 768)

    def test_leaks_are_found_between_recorded_marks(self):
        process = self.tracked_process('mesh = open_set([device(0x11)], "mesh")\nlibrary.ttmem_scope_push(b"cache")')
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(process.pid)
        process.run("""for i in range(4):
    library.ttmem_allocate(mesh, DRAM, 4096 * i, 64, 768, i)
    library.ttmem_mark(b"step" if i else b"first")""")
        recorder.wait_for_rounds()
        living = self.json_of("leaks", "--direct")
        self.assertEqual(recorder.stop()[0], 0)
        recorded = self.json_of("leaks", "--recording", self.path)
        self.assertEqual(recorded["source"], "recording")
        without_age = [[leak | {"since_age_ns": 0, "full_in_ns": 0} for leak in view["leaks"]] for view in (recorded, living)]
        self.assertEqual(*without_age)
        self.assertEqual([leak["name"] for leak in recorded["leaks"]], ["cache"])
        self.assertEqual(self.json_of("leaks", "--recording", self.path, "--at", "mark:first")["leaks"], [])
        self.output_of("leaks", "--recording", self.path)
        failed = self.ttmem("leaks", "--recording", self.path, "--fail")
        self.assertEqual(failed.returncode, 3)

    def test_advice_is_that_of_the_host_at_that_moment(self):
        simulator = self.simulator("transformer-dp4")
        simulator.go_to("decode 1")
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(simulator.pid)
        living = self.json_of("advise", "--direct")
        self.assertEqual(recorder.stop()[0], 0)
        simulator.close()
        recorded = self.json_of("advise", "--recording", self.path)
        self.assertEqual(recorded["source"], "recording")
        self.assertGreater(len(recorded["advice"]), 0)
        self.assertEqual([(one["topic"], one["devices"], one["value"]) for one in recorded["advice"]],
                         [(one["topic"], one["devices"], one["value"]) for one in living["advice"]])
        self.output_of("advise", "--recording", self.path)

    def test_the_history_of_a_short_and_ended_process_is_there(self):
        simulator = self.recorded_simulator()
        history = self.json_of("history", "--recording", self.path)
        peak = self.json_of("status", "--recording", self.path, "--at", "peak:dram")["devices"][0]["memory"]["dram"]["used"]
        self.assertGreater(peak, 0)
        [dram] = [one for one in history["series"] if one["kind"] == "dram"]
        self.assertGreater(len(dram["samples"]), 100)
        highest = max(sample["used"] for sample in dram["samples"])
        self.assertLessEqual(highest, peak)
        self.assertGreater(highest, 0)
        text = self.output_of("history", "--recording", self.path)
        self.assertIn("dram", text)
        self.assertNotIn("daemon", text)
        self.assertRegex(text, r"[▁-█]{10}")
        self.assertIn("--at peak:dram shows the peak", self.output_of("status", "--recording", self.path))
        self.assertIn("device 0   dram", self.output_of("history", "--recording", self.path, "-d", "0"))
        kinds = [event["what"] for event in self.json_of("events", "--recording", self.path)["events"]]
        self.assertIn("process_died", kinds)
        simulator.close()

    def test_the_history_of_one_process_is_there(self):
        simulator = self.recorded_simulator()
        simulator.close()
        view = self.json_of("history", "--recording", self.path, "--pid", str(simulator.pid))
        self.assertEqual((view["source"], view["pid"]), ("recording", simulator.pid))
        status = self.json_of("status", "--recording", self.path, "--at", "peak:dram")["processes"][0]
        peak = sum(device["memory"]["dram"]["used"] for device in status["devices"])
        [dram] = [one for one in view["series"] if one["kind"] == "dram"]
        self.assertEqual((dram["comm"], dram["uid"], dram["start_time_ns"]), (status["comm"], status["uid"], status["start_time_ns"]))
        self.assertGreater(len(dram["samples"]), 100)
        highest = max(sample["used"] for sample in dram["samples"])
        self.assertLessEqual(highest, peak)
        self.assertGreater(highest, 0)
        text = self.output_of("history", "--recording", self.path, "--pid", str(simulator.pid), "--kind", "dram")
        self.assertIn(f"used bytes of process {simulator.pid} over the last", text)
        self.assertRegex(text, r"dram +\|[▁-█ ]*[▁-█]")
        self.assertIn("No memory of a process 1 is known", self.output_of("history", "--recording", self.path, "--pid", "1"))

    def test_failures_marks_and_ends_are_in_the_history(self):
        process = self.tracked_process('mesh = open_set([device(0x11)], "mesh")\nlibrary.ttmem_scope_push(b"cache")')
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(process.pid)
        process.run("""
library.ttmem_mark(b"warm")
for requested in (4096, 8192):
    allocation_failed(mesh, DRAM, requested, requested, 64, 32)""")
        recorder.wait_for_rounds()
        before_the_end = moment()
        recorder.wait_for_rounds()
        process.close()
        recorder.wait_for_rounds()
        self.assertEqual(recorder.stop()[0], 0)

        def moments(*arguments: str) -> list:
            return self.json_of("history", "--recording", self.path, *arguments)["moments"]

        found = moments()
        self.assertEqual([(one["type"], one["pid"], one.get("name") or "", one.get("failure_type"), one.get("requested")) for one in found],
                         [("mark", process.pid, "warm", None, None),
                          ("failure", process.pid, "cache", "out_of_memory", 4096),
                          ("failure", process.pid, "cache", "out_of_memory", 8192),
                          ("death", process.pid, "", None, None)])
        # At most one card per second.
        self.assertEqual([one.get("card_number") is not None for one in found], [False, True, False, False])
        self.assertEqual([one["time_ns"] for one in found], sorted(one["time_ns"] for one in found))
        self.assertEqual(moments("--at", before_the_end), found[:3])
        self.assertEqual(moments("--at", "mark:warm"), found[:1])
        self.assertEqual([one["requested"] for one in moments("--at", "failure:1")[1:]], [4096])
        text = self.output_of("history", "--recording", self.path)
        self.assertRegex(text, r"failure +\d+ .*out_of_memory, 4.0 KiB of dram, cache \(card\)")
        self.assertNotIn("daemon", text)
        # Its process has ended: 'why' finds nothing at the end, and names the way.
        done = self.ttmem("why", "--recording", self.path)
        self.assertIn("it has failures before: --at failure:1 shows the first", done.stderr)
        self.assertEqual(self.ttmem("why", "--recording", self.path, "--at", "failure:1").stderr, "")

    def test_a_kind_without_memory_and_a_mark_of_the_host_are_refused(self):
        self.recorded_simulator().close()
        done = self.ttmem("status", "--recording", self.path, "--at", "peak:trace")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "the recording has no memory of this kind; it has dram")
        self.assertEqual(self.ttmem("allocations", "--since-mark", "--recording", self.path).returncode, 2)

    def test_a_moment_in_between_lacks_what_comes_later(self):
        self.recorded_simulator().close()
        events = self.json_of("events", "--limit", "0", "--recording", self.path)["events"]
        first = [event["what"] for event in events].index("allocation")
        self.assertIn("free", [event["what"] for event in events[first:]])
        # Between two events, far from both in the recording's unit of time.
        until = next((a["time_ns"] + b["time_ns"]) // 2 for a, b in zip(events[first:], events[first + 1:])
                     if b["time_ns"] - a["time_ns"] > 1000)
        shown = self.json_of("events", "--limit", "0", "--recording", self.path, "--at", moment(until))["events"]
        self.assertEqual([(one["time_ns"], one["what"]) for one in shown],
                         [(one["time_ns"], one["what"]) for one in events if one["time_ns"] < until])
        self.assertLess(len(shown), len(events))
        last = max(sample["time_ns"] for one in self.json_of("history", "--recording", self.path)["series"] for sample in one["samples"])
        series = self.json_of("history", "--recording", self.path, "--at", moment(until))["series"]
        self.assertGreater(len(series), 0)
        self.assertLessEqual(max(sample["time_ns"] for one in series for sample in one["samples"]), until)
        self.assertGreater(last, until)

    def test_a_moment_before_everything_says_so(self):
        self.assertEqual(self.ttmem("record", "-o", self.path, "--seconds", "0.05").returncode, 0)
        for command in ("history", "events"):
            done = self.ttmem(command, "--recording", self.path)
            self.assertIn("in the recording until this moment", done.stdout)

    def test_the_state_after_a_failure_explains_it(self):
        done = self.ttmem("record", "-o", self.path, "--from-start", "--", SIMULATOR, "oom-dram")
        self.assertEqual(done.returncode, 0, done.stderr)
        view = self.json_of("why", "--recording", self.path, "--at", "failure:1")
        [failure] = view["failures"]
        self.assertEqual(failure["verdict"], "not enough")


if __name__ == "__main__":
    main()
