#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem export': each format says what a process did, to the byte, in a reader of that format."""

import csv
import io
import json
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import tempfile

from harness.programs import SIMULATOR, TTMEM
from harness.test_case import TestCase, main
from harness.users import OTHER_STRANGER, STRANGER, as_user, needs_other_users
from harness.waiting import TIMEOUT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recording"))
from protocol_buffers import decode  # noqa: E402
from recorder_process import RecorderProcess  # noqa: E402

INSTANT = 3
PPROF = "/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof"

# Two devices in one set. Addresses and sizes are exact: 12 banks of DRAM, 56 of L1.
BEFORE = """
first, second = device(0x11), device(0x22, 1)
mesh = open_set([first, second], "mesh")
library.ttmem_scope_push(b"model")
library.ttmem_scope_push(b"=1+1")
kept = library.ttmem_allocate(mesh, DRAM, 1048640, 12000, 12 * 1024, 7)
library.ttmem_scope_pop()
"""
DURING = """
library.ttmem_scope_push(b"step, \\"one\\"")
freed = [library.ttmem_allocate(mesh, DRAM, 1048640 + 1024 * (i + 1), 12 * 2048, 12 * 2048, i) for i in range(0, 20, 2)]
cores = Cores()
cores.row[0], cores.row[1] = 0b11, 0b1011
buffer = library.ttmem_allocate_cb(mesh, 5, 110000, 4096, ctypes.byref(cores), 0)
l1 = library.ttmem_allocate(mesh, L1, 105664, 5600, 5600, 99)
for one in freed[1:]:
    library.ttmem_free(one)
library.ttmem_scope_pop()
"""
DRAM_USED = 12 * 1024 + 12 * 2048
CB_USED = 5 * 4096
DRAM_ALLOCATED = 12 * 1024 + 10 * 12 * 2048


VISUALIZER_TABLES = {
    "devices": "device_id num_y_cores num_x_cores num_y_compute_cores num_x_compute_cores worker_l1_size l1_num_banks l1_bank_size "
               "address_at_first_l1_bank address_at_first_l1_cb_buffer num_banks_per_storage_core num_compute_cores num_storage_cores "
               "total_l1_memory total_l1_for_tensors total_l1_for_interleaved_buffers total_l1_for_sharded_buffers cb_limit",
    "operations": "operation_id name duration",
    "operation_arguments": "operation_id name value",
    "tensors": "tensor_id shape dtype layout memory_config device_id address buffer_type",
    "buffers": "operation_id device_id address max_size_per_bank buffer_type buffer_layout",
    "captured_graph": "operation_id captured_graph",
    "errors": "operation_id operation_name error_type error_message stack_trace timestamp",
    "stack_traces": "operation_id stack_trace source_file_id",
    "device_tensors": "tensor_id device_id address",
    "buffer_chunks": "operation_id device_id address bank_id core_x core_y chunk_address chunk_size page_size num_pages buffer_type",
    "nodes": "operation_id unique_id node_operation_id name",
    "edges": "operation_id source_unique_id sink_unique_id source_output_index sink_input_index key",
    "tensor_lifetime": "tensor_id producer_operation_id last_use_operation_id deallocate_operation_id producer_source_file "
                       "producer_source_line last_use_source_file last_use_source_line",
    "tensor_consumers": "tensor_id operation_id input_index",
    "tensor_producers": "tensor_id operation_id output_index",
    "local_tensor_comparison_records": "tensor_id golden_tensor_id matches desired_pcc actual_pcc",
    "global_tensor_comparison_records": "tensor_id golden_tensor_id matches desired_pcc actual_pcc",
    "input_tensors": "operation_id input_index tensor_id",
    "output_tensors": "operation_id output_index tensor_id",
}
VISUALIZER_TABLES_WITHOUT_RANK = {"report_metadata": "key value", "source_files": "id path contents"}


class Formats(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-exports-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def record(self) -> str:
        """A recording of a process that goes on."""
        path = self.path("run.ttmem")
        self.process = self.tracked_process(BEFORE)
        recorder = RecorderProcess(self, path)
        recorder.wait_for(self.process.pid)
        self.process.run(DURING)
        recorder.wait_for_rounds()
        code, text = recorder.stop()
        self.assertEqual(code, 0, text)
        return path

    def export(self, form: str, name: str, *arguments: str) -> str:
        path = self.path(name)
        done = self.ttmem("export", "--format", form, "-o", path, *arguments)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertRegex(done.stderr, rf"^ttmem: exported [^\n]* into {path}\n$")  # nothing is left out
        return path

    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def test_the_file_is_for_its_owner_and_is_not_replaced(self):
        path = self.export("csv", "out.csv")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        again = self.ttmem("export", "--format", "csv", "-o", path)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists (replace it with --force)", again.stderr)
        self.export("csv", "out.csv", "--force")
        self.assertEqual(os.listdir(self.folder), ["out.csv"])
        folder = self.ttmem("export", "--format", "csv", "-o", self.folder, "--force")
        self.assertIn("is not a file", folder.stderr)
        wrong = self.ttmem("export", "--format", "cvs", "-o", "-")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean 'csv'?", wrong.stderr)

    def test_a_full_disk_leaves_no_file(self):
        done = self.ttmem("export", "--format", "jsonl", "-o", "/dev/full/out")
        self.assertEqual(done.returncode, 1)
        done = subprocess.run(["sh", "-c", '"$0" export --format jsonl -o - > /dev/full', TTMEM],
                              capture_output=True, text=True, timeout=TIMEOUT, env=self.environment())
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device", done.stderr)

    def test_csv_has_every_allocation_and_no_formula(self):
        recording = self.record()
        text = self.read(self.export("csv", "out.csv", "--recording", recording)).decode()
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual(len(rows), 13)
        self.assertEqual({row["row"] for row in rows}, {"allocation"})
        self.assertEqual({row["devices"] for row in rows}, {"0 1"})
        self.assertEqual(sum(int(row["used"]) for row in rows if row["kind"] == "dram"), DRAM_ALLOCATED)
        self.assertEqual(sum(int(row["used"]) for row in rows if row["kind"] == "dram" and not row["freed"]), DRAM_USED)
        self.assertEqual({row["name"] for row in rows}, {"model/=1+1", 'model/step, "one"'})
        # Without a scope a name may begin like a formula.
        self.process.run('library.ttmem_scope_pop()\nlibrary.ttmem_scope_push(b"=2*3")\n'
                         'library.ttmem_allocate(mesh, DRAM, 999000000, 64, 768, 1)')
        living = list(csv.DictReader(self.output_of("export", "--format", "csv", "-o", "-").splitlines()))
        self.assertIn("'=2*3", {row["name"] for row in living})
        self.assertEqual(sum(int(row["used"]) for row in living if row["kind"] == "dram"), DRAM_USED + 768)

    def test_jsonl_says_what_there_is_and_what_is_left_out(self):
        recording = self.record()
        lines = [json.loads(line) for line in
                 self.read(self.export("jsonl", "all.jsonl", "--recording", recording)).splitlines()]
        self.assertEqual([line["type"] for line in lines], ["export", "device", "device", "process"] + 13 * ["allocation"])
        self.assertEqual(lines[1]["dram"]["bank_size"], 1072693184)
        self.assertEqual(sum(line["used"] for line in lines[4:] if line["kind"] == "dram" and not line["freed_ns"]),
                         DRAM_USED)
        path = self.path("few.jsonl")
        done = self.ttmem("export", "--format", "jsonl", "-o", path, "--recording", recording, "--max-allocations", "1")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\d allocations are left out: freed until ")
        few = [json.loads(line) for line in self.read(path).splitlines()]
        self.assertEqual([line for line in few if line["type"] == "allocation" and not line["freed_ns"]],
                         [line for line in lines if line["type"] == "allocation" and not line["freed_ns"]])
        peak = [json.loads(line) for line in
                self.output_of("export", "--format", "jsonl", "-o", "-", "--recording", recording, "--at",
                               "peak:dram").splitlines()]
        self.assertEqual([line["freed_ns"] for line in peak if line["type"] == "allocation"], 11 * [None])

    def test_pprof_has_the_bytes_by_scope(self):
        path = self.export("pprof", "memory.pb.gz", "--recording", self.record())

        def top(*arguments: str) -> str:
            done = subprocess.run([PPROF, "-top", "-unit=B", *arguments, path], capture_output=True, text=True,
                                  timeout=TIMEOUT, env=self.environment(HOME=self.folder, PPROF_TMPDIR=self.folder))
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        # An allocation of the set counts on both devices.
        self.assertIn("Type: inuse_space", top())
        self.assertIn(f"of {2 * (DRAM_USED + 5600 + CB_USED)}B total", top())
        self.assertIn(f"for {2 * DRAM_USED}B,", top("-tagfocus=kind=dram"))
        self.assertIn(f"for {DRAM_USED}B,", top("-tagfocus=kind=dram", "-tagignore=device=device 1"))
        self.assertIn(f"for {2 * DRAM_ALLOCATED}B,", top("-sample_index=alloc_space", "-tagfocus=kind=dram"))
        self.assertRegex(top("-cum"), rf"{2 * (DRAM_USED + 5600 + CB_USED)}B +100% +model\n")
        self.assertRegex(top(), rf"\n *{2 * 12 * 1024}B .* =1\+1\n")

    def test_perfetto_has_counters_slices_and_failures(self):
        trace = decode("trace.proto", "Trace",
                       self.read(self.export("perfetto", "out.pftrace", "--recording", self.record())))
        packets = trace["packet"]
        self.assertEqual(packets[0]["first_packet_on_sequence"], [True])
        tracks = {d["uuid"][0]: d for packet in packets for d in packet.get("track_descriptor", [])}
        events = [packet | packet["track_event"][0] for packet in packets if "track_event" in packet]
        for packet in packets:
            fields = [packet, *packet.get("track_event", []), *packet.get("track_descriptor", [])]
            self.assertFalse([name for one in fields for name in one if name.isdigit()])
        title = {uuid: (tracks[d["parent_uuid"][0]].get("name", [""])[0], d["name"][0])
                 for uuid, d in tracks.items() if "parent_uuid" in d}
        last = {title[event["track_uuid"][0]]: event["counter_value"][0] for event in events if event["type"] == [4]}
        self.assertEqual(last[("device 0 (n300)", "dram used")], DRAM_USED)
        self.assertEqual(last[("device 1 (n300)", "dram used")], DRAM_USED)
        self.assertEqual(last[("device 0 (n300)", "dram capacity")], 12872318208)
        self.assertEqual(last[("", "dram used, all devices")], 2 * DRAM_USED)
        highest = max(event["counter_value"][0] for event in events if event["type"] == [4] and
                      title[event["track_uuid"][0]] == ("device 0 (n300)", "dram used"))
        self.assertEqual(highest, DRAM_ALLOCATED)
        self.assertEqual(sum(event["type"] == [1] for event in events), 2 * 13)
        self.assertEqual(sum(event["type"] == [2] for event in events), 2 * 9)
        names = {n["iid"][0]: n["name"][0] for packet in packets for data in packet.get("interned_data", [])
                 for n in data["event_names"]}
        self.assertEqual(set(names.values()), {"model/=1+1", 'model/step, "one"'})
        # Slices of one track do not overlap.
        depth: dict[int, int] = {}
        for event in events:
            if event["type"][0] in (1, 2):
                track = event["track_uuid"][0]
                depth[track] = depth.get(track, 0) + (1 if event["type"] == [1] else -1)
                self.assertIn(depth[track], (0, 1))

    def test_failures_and_marks_are_instants_of_their_process_in_a_trace(self):
        path = self.path("instants.ttmem")
        process = self.tracked_process(BEFORE)
        recorder = RecorderProcess(self, path)
        recorder.wait_for(process.pid)
        process.run("""
library.ttmem_mark(b"=warm")
allocation_failed(mesh, DRAM, 4096, 4096, 64, 32)""")
        recorder.wait_for_rounds()
        self.assertEqual(recorder.stop()[0], 0)
        events = self.json_of("history", "--recording", path)["moments"]
        first = self.json_of("events", "--limit", "0", "--recording", path)
        self.assertEqual(first["source"], "recording")
        packets, tracks = self.trace(self.export("perfetto", "instants", "--recording", path))
        instants = [packet for packet in packets if packet["track_event"][0]["type"] == [INSTANT]]
        found = {}
        for packet in instants:
            event = packet["track_event"][0]
            track = tracks[event["track_uuid"][0]]
            owner = tracks[track["parent_uuid"][0]]["process"][0]
            self.assertEqual(owner["pid"], [process.pid])
            found[track["name"][0]] = (event["name"], event.get("debug_annotations", []), packet["timestamp"][0])
        self.assertEqual(set(found), {"failures", "marks"})
        self.assertEqual(found["marks"][:2], (["=warm"], []))
        name, annotations, _ = found["failures"]
        self.assertEqual(name, ["out_of_memory"])
        self.assertRegex(annotations[0]["string_value"][0], "^out of memory: dram, 4096 bytes requested")
        # Times of the history are since the epoch, those of a trace are not: what is between them is the same.
        [mark, failure] = [one["time_ns"] for one in events]
        self.assertAlmostEqual(found["failures"][2] - found["marks"][2], failure - mark, delta=10_000)
        # As a table for a spreadsheet.
        rows = list(csv.DictReader(self.output_of("export", "--format", "csv", "-o", "-", "--recording", path).splitlines()))
        [failure, mark] = sorted((row for row in rows if row["row"] != "allocation"), key=lambda row: row["row"])
        self.assertEqual((mark["row"], mark["pid"], mark["name"]), ("mark", str(process.pid), "'=warm"))
        self.assertEqual((failure["row"], failure["pid"], failure["kind"], failure["requested"]),
                         ("failure", str(process.pid), "dram", "4096"))
        self.assertRegex(failure["text"], "^out of memory: dram, 4096 bytes requested")
        self.assertLessEqual(mark["time"], failure["time"])

    def test_no_text_of_a_table_is_a_formula(self):
        """A spreadsheet computes what begins with one of these."""
        process = self.tracked_process(BEFORE)
        process.run("""
library.ttmem_scope_pop()
for i, first in enumerate((b"=", b"+", b"-", b"@", b"\\t", b"\\r")):
    library.ttmem_scope_push(first + b"1")
    library.ttmem_allocate(mesh, DRAM, 999000000 + 1024 * i, 64, 768, 1)
    library.ttmem_mark(first + b"2")
    library.ttmem_scope_pop()""")
        text = self.output_of("export", "--format", "csv", "-o", "-")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        for row in rows:
            for column, value in row.items():
                self.assertNotIn(value[:1], ("=", "+", "-", "@", "\t", "\r"), (column, row))
        names = {row["name"] for row in rows}
        self.assertLessEqual({"'" + first + number for first in "=+-@" for number in "12"}, names)

    def test_all_marks_and_failures_of_a_recording_are_exported(self):
        """A process keeps a few of its marks; a recording has all that were read before they were overwritten."""
        path = self.path("many.ttmem")
        process = self.tracked_process(BEFORE)
        process.run('library.ttmem_mark(b"before")')
        recorder = RecorderProcess(self, path)
        recorder.wait_for(process.pid)
        for begin in range(0, 200, 20):
            process.run(f"for i in range({begin}, {begin + 20}): library.ttmem_mark(b'mark %d' % i)")
            recorder.wait_for_rounds()
        self.assertEqual(recorder.stop()[0], 0)

        def marks(*source: str) -> list:
            return [json.loads(line)["name"] for line in self.output_of("export", "--format", "jsonl", "-o", "-", *source).splitlines()
                    if json.loads(line)["type"] == "mark"]

        wanted = [f"mark {number}" for number in range(200)]
        self.assertEqual(marks("--recording", path), wanted)
        self.assertEqual(marks("--recording", path, "--at", "mark:mark 99"), wanted[:100])
        done = self.ttmem("export", "--format", "jsonl", "-o", self.path("host.jsonl"))
        kept = [one["name"] for one in map(json.loads, self.read(self.path("host.jsonl")).splitlines()) if one["type"] == "mark"]
        self.assertEqual((kept[0], kept[-1]), ("before", "mark 199"))
        self.assertIn(f"{201 - len(kept)} marks are left out: a process keeps the first and the last", done.stderr)

    def test_failures_are_in_every_format(self):
        recording = self.path("oom.ttmem")
        done = self.ttmem("record", "-o", recording, "--from-start", "--", SIMULATOR, "oom-dram")
        self.assertEqual(done.returncode, 0, done.stderr)
        for form, name, text in (("csv", "a.csv", b"failure,"), ("jsonl", "a.jsonl", b'"verdict":"not enough"'),
                                 ("perfetto", "a.pftrace", b"out of memory: dram"),
                                 ("memory-viz", "a.json", b'"action":"oom"')):
            done = self.ttmem("export", "--format", form, "-o", self.path(name), "--recording", recording)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(text, self.read(self.path(name)), form)
        folder = self.export("ttnn-visualizer", "report", "--recording", recording)
        database = sqlite3.connect(os.path.join(folder, "db.sqlite"))
        self.addCleanup(database.close)
        failures = self.json_of("why", "--recording", recording, "--at", "failure:1")["failures"]
        errors = database.execute("SELECT error_type, error_message, operations.name FROM errors JOIN operations USING (operation_id)").fetchall()
        self.assertEqual(len(errors), len(failures))
        self.assertGreater(len(errors), 0)
        for (kind, message, name), failure in zip(errors, failures):
            self.assertEqual((kind, name), ("out_of_memory", "failure: out_of_memory"))
            self.assertIn("SHORT/BANK", message)  # as 'ttmem why' shows it
            self.assertRegex(message, rf"\n1 .* {failure['pid']} .*{failure['verdict']}")

    def test_marks_are_in_every_format_with_a_place_for_them(self):
        path = self.path("marks.ttmem")
        process = self.tracked_process(BEFORE)
        recorder = RecorderProcess(self, path)
        recorder.wait_for(process.pid)
        process.run('library.ttmem_mark(b"warm")')
        recorder.wait_for_rounds()
        self.assertEqual(recorder.stop()[0], 0)
        for form, text in (("csv", "mark,"), ("jsonl", '"type":"mark"'), ("perfetto", "warm")):
            done = self.ttmem("export", "--format", form, "-o", self.path(form), "--recording", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(text.encode(), self.read(self.path(form)), form)
        folder = self.export("ttnn-visualizer", "marks", "--recording", path)
        database = sqlite3.connect(os.path.join(folder, "db.sqlite"))
        self.addCleanup(database.close)
        self.assertIn(("mark: warm",), database.execute("SELECT name FROM operations").fetchall())
        view = self.json_of("status", "--recording", path, "--at", "mark:warm")
        self.assertEqual(view["processes"][0]["devices"][0]["memory"]["dram"]["used"], 12 * 1024)
        wrong = self.ttmem("status", "--recording", path, "--at", "mark:cold")
        self.assertIn("no mark with this name; it has warm", wrong.stderr)

    def check_snapshot(self, snapshot: dict):
        self.assertEqual([segment["device"] for segment in snapshot["segments"]],
                         list(range(len(snapshot["device_traces"]))))
        for segment in snapshot["segments"]:
            at = segment["address"]
            for block in segment["blocks"]:  # they cover the segment without a gap
                self.assertEqual(block["address"], at)
                at += block["size"]
            self.assertEqual(at, segment["address"] + segment["total_size"])
            trace = snapshot["device_traces"][segment["device"]]
            self.assertTrue(all(segment["address"] <= event["addr"] < at for event in trace))
            self.assertEqual([event["time_us"] for event in trace], sorted(event["time_us"] for event in trace))
        self.assertEqual(len(snapshot["segments"]), 4)  # DRAM and L1 of two chips
        dram = snapshot["segments"][0]
        self.assertEqual(dram["active_size"], DRAM_USED // 12)
        self.assertEqual([block["requested_size"] for block in dram["blocks"] if block["state"] != "inactive"],
                         [1000, 2048])
        actions = [event["action"] for event in snapshot["device_traces"][0]]
        self.assertEqual(actions, 10 * ["alloc"] + 9 * ["free_requested", "free_completed"])
        self.assertEqual([frame["name"] for frame in dram["blocks"][0]["frames"]][:2], ["=1+1", "model"])

    def test_memory_viz_is_json_or_a_pickle(self):
        recording = self.record()
        text = self.read(self.export("memory-viz", "snapshot.json", "--recording", recording))
        self.check_snapshot(json.loads(text))
        data = self.read(self.export("memory-viz", "snapshot.pickle", "--recording", recording))
        self.assertEqual(data[:2], b"\x80\x04")
        self.assertEqual(pickle.loads(data), json.loads(text))

    def test_the_living_host_is_exported_as_a_recording_of_it_is(self):
        self.record()
        path = self.export("pprof", "now.pb.gz")
        done = subprocess.run([PPROF, "-top", "-unit=B", "-tagfocus=kind=dram", path], capture_output=True, text=True, check=True,
                              timeout=TIMEOUT, env=self.environment(HOME=self.folder, PPROF_TMPDIR=self.folder))
        self.assertIn(f"for {2 * DRAM_USED}B,", done.stdout)
        packets = decode("trace.proto", "Trace", self.read(self.export("perfetto", "now.pftrace")))["packet"]
        events = [event for packet in packets for event in packet.get("track_event", [])]
        self.assertEqual(sum(event["type"] == [1] for event in events), 2 * 4)
        self.assertEqual(sum(event["type"] == [2] for event in events), 0)  # all are live
        self.assertIn([2 * DRAM_USED], [event["counter_value"] for event in events if event["type"] == [4]])

    def test_a_snapshot_says_which_allocations_are_left_out(self):
        recording = self.record()
        done = self.ttmem("export", "--format", "memory-viz", "-o", self.path("few.json"), "--recording", recording,
                          "--max-allocations", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        [note] = [line for line in done.stderr.splitlines() if "left out" in line]
        self.assertRegex(note, r"\d allocations are left out: freed until ")
        snapshot = json.loads(self.read(self.path("few.json")))
        self.assertRegex(json.dumps(snapshot["allocator_settings"]), r'"note 1": "\d allocations are left out: freed until ')
        active = [block for block in snapshot["segments"][0]["blocks"] if block["state"] != "inactive"]
        self.assertEqual([block["requested_size"] for block in active], [1000, 2048])  # live ones never are

    def test_ttnn_visualizer_has_moments_buffers_and_circular_buffers(self):
        recording = self.record()
        folder = self.export("ttnn-visualizer", "report", "--recording", recording)
        self.assertEqual(sorted(os.listdir(folder)), ["config.json", "db.sqlite"])
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, "db.sqlite")).st_mode), 0o600)
        again = self.ttmem("export", "--format", "ttnn-visualizer", "-o", folder)
        self.assertIn("exists (replace it with --force)", again.stderr)
        database = sqlite3.connect(os.path.join(folder, "db.sqlite"))
        self.addCleanup(database.close)
        rows = lambda text: database.execute(text).fetchall()  # noqa: E731
        self.assertEqual(rows("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(rows("SELECT value FROM report_metadata WHERE key = 'schema_version'"), [("3.3",)])
        moments = {name: number for number, name in rows("SELECT operation_id, name FROM operations")}
        self.assertEqual(set(moments), {"beginning", "peak of dram", "peak of l1", "end"})
        self.assertEqual(rows("SELECT device_id, num_x_cores, l1_num_banks, l1_bank_size FROM devices"),
                         [(0, 8, 56, 1393472), (1, 8, 56, 1393472)])
        self.assertEqual(rows(f"""SELECT address, max_size_per_bank, buffer_type FROM buffers WHERE device_id = 0
                                  AND operation_id = {moments['end']} ORDER BY buffer_type, address"""),
                         [(1048640, 1024, 0), (1048640 + 1024, 2048, 0), (105664, 100, 1)])
        self.assertEqual(rows(f"""SELECT sum(max_size_per_bank) FROM buffers WHERE device_id = 1 AND buffer_type = 0
                                  AND operation_id = {moments['peak of dram']}"""), [(DRAM_ALLOCATED // 12,)])
        [[graph]] = rows(f"SELECT captured_graph FROM captured_graph WHERE operation_id = {moments['end']}")
        nodes = json.loads(graph)
        self.assertEqual([node["id"] for node in nodes], list(range(len(nodes))))
        kinds = [node["node_type"] for node in nodes]
        self.assertEqual(kinds, ["capture_start", "function_start", "function_start",
                                 *2 * ["circular_buffer_allocate"], *2 * ["circular_buffer_deallocate_all"],
                                 "function_end", "function_end", "capture_end"])
        self.assertEqual(nodes[3]["params"], {"size": "4096", "address": "110000", "device_id": "0",
                                              "core_range_set": "{[0-0 - 1-1], [3-1 - 3-1]}", "globally_allocated": "0"})
        for table in ("operation_arguments", "tensors", "stack_traces", "input_tensors", "output_tensors"):
            rows(f"SELECT * FROM {table}")  # a reader wants them

    def test_ttnn_visualizer_finds_the_tables_and_columns_of_schema_3_3(self):
        """The columns that a reader of this schema selects, in their order, and what it joins."""
        folder = self.export("ttnn-visualizer", "report", "--recording", self.record())
        database = sqlite3.connect(os.path.join(folder, "db.sqlite"))
        self.addCleanup(database.close)
        rows = lambda text: database.execute(text).fetchall()  # noqa: E731
        for table, columns in VISUALIZER_TABLES.items():
            found = [name for _, name, *_ in rows(f"PRAGMA table_info({table})")]
            self.assertEqual(found, [*columns.split(), "rank"], table)
            rows(f"SELECT {', '.join(columns.split())} FROM {table} WHERE rank = 0")
        for table, columns in VISUALIZER_TABLES_WITHOUT_RANK.items():
            self.assertEqual([name for _, name, *_ in rows(f"PRAGMA table_info({table})")], columns.split(), table)
        self.assertEqual({name for name, in rows("SELECT name FROM sqlite_master WHERE type = 'table'")},
                         {*VISUALIZER_TABLES, *VISUALIZER_TABLES_WITHOUT_RANK})
        self.assertIn(("idx_stack_traces_source_file_id",), rows("SELECT name FROM sqlite_master WHERE type = 'index'"))
        self.assertEqual([number for number, in rows("SELECT device_id FROM devices ORDER BY device_id")], [0, 1])
        self.assertEqual(rows("SELECT count(*) FROM operations WHERE rank <> 0 OR duration < 0 OR name = ''"), [(0,)])
        # Each buffer is of an operation and of a device that exist, and two of one operation have not the same place.
        self.assertEqual(rows("""SELECT count(*) FROM buffers LEFT JOIN operations USING (operation_id) LEFT JOIN devices USING (device_id)
                                 WHERE operations.name IS NULL OR devices.l1_num_banks IS NULL"""), [(0,)])
        self.assertEqual(rows("""SELECT count(*) FROM (SELECT 1 FROM buffers
                                 GROUP BY operation_id, device_id, buffer_type, address HAVING count(*) > 1)"""), [(0,)])
        self.assertEqual(rows("SELECT count(*) FROM buffers WHERE buffer_type NOT IN (0, 1, 2, 3, 4) OR buffer_layout <> 0"), [(0,)])
        # What is live after each operation, as the reader sums it.
        live = dict(rows("""SELECT name, sum(max_size_per_bank) FROM buffers JOIN operations USING (operation_id)
                            WHERE device_id = 0 AND buffer_type = 0 GROUP BY operation_id"""))
        self.assertEqual(live["end"], DRAM_USED // 12)
        self.assertEqual(live["peak of dram"], DRAM_ALLOCATED // 12)
        self.assertEqual(rows("""SELECT count(*) FROM captured_graph LEFT JOIN operations USING (operation_id)
                                 WHERE operations.name IS NULL"""), [(0,)])
        for graph, in rows("SELECT captured_graph FROM captured_graph"):
            for node in json.loads(graph):
                self.assertTrue(all(isinstance(value, str) for value in node["params"].values()), node)
                self.assertTrue({"id", "node_type", "params", "connections", "stacking_level"} <= set(node), node)
        metadata = dict(rows("SELECT key, value FROM report_metadata"))
        self.assertLessEqual({"schema_version", "capture_timestamp_ns"}, set(metadata))
        self.assertEqual((metadata["ttmem most moments"], metadata["ttmem most rows of buffers"]), ("2000", "5000000"))
        self.assertFalse([key for key in metadata if "note" in key])
        # The names of live buffers stand beside each operation.
        [[text]] = rows("""SELECT stack_trace FROM stack_traces JOIN operations USING (operation_id)
                           JOIN source_files ON source_files.id = source_file_id WHERE operations.name = 'end'""")
        self.assertEqual(text, 'dram 2048 bytes per bank in 1 buffer: model/step, "one"\n'
                               "dram 1024 bytes per bank in 1 buffer: model/=1+1\n"
                               'l1 100 bytes per bank in 1 buffer: model/step, "one"\n')
        self.assertEqual(rows("SELECT count(*) FROM stack_traces"), rows("SELECT count(*) FROM operations"))

    def test_what_is_left_out_is_in_the_report(self):
        recording = self.record()
        folder = self.path("report")
        done = self.ttmem("export", "--format", "ttnn-visualizer", "-o", folder, "--recording", recording, "--max-allocations", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        database = sqlite3.connect(os.path.join(folder, "db.sqlite"))
        self.addCleanup(database.close)
        [[note]] = database.execute("SELECT value FROM report_metadata WHERE key LIKE 'ttmem note %'").fetchall()
        self.assertRegex(note, r"\d allocations are left out: freed until ")
        self.assertIn(note, done.stderr)
        # A trace has it where it begins.
        path = self.path("trace")
        done = self.ttmem("export", "--format", "perfetto", "-o", path, "--recording", recording, "--max-allocations", "1")
        packets, tracks = self.trace(path)
        [shown] = [packet for packet in packets if packet["track_event"][0].get("name") == [note]]
        event = shown["track_event"][0]
        self.assertEqual((event["type"], tracks[event["track_uuid"][0]]["name"]), ([INSTANT], ["notes"]))
        self.assertEqual(shown["timestamp"], [min(packet["timestamp"][0] for packet in packets)])

    def trace(self, path: str) -> tuple[list, dict]:
        """The packets with events, and the descriptors of tracks by their number."""
        packets = decode("trace.proto", "Trace", self.read(path))["packet"]
        tracks = {track["uuid"][0]: track for packet in packets for track in packet.get("track_descriptor", [])}
        return [packet for packet in packets if "track_event" in packet], tracks

    @needs_other_users
    def test_omitted_processes_of_the_host_are_reported(self):
        process = self.tracked_process(BEFORE, uid=OTHER_STRANGER)
        done = subprocess.run(as_user(STRANGER, TTMEM, "export", "--format", "jsonl", "-o", "-"), capture_output=True, text=True,
                              timeout=TIMEOUT, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["type"] for line in lines], ["export"])
        [note] = [note for note in lines[0]["notes"] if "process" in note]
        self.assertIn(note, done.stderr)
        self.assertIsNone(process.code)

    @needs_other_users
    def test_processes_with_recorded_totals_alone_are_reported(self):
        """A daemon gives a user the totals of other users."""
        self.daemon()
        process = self.tracked_process(BEFORE, uid=OTHER_STRANGER)
        self.tracked_process(BEFORE, uid=STRANGER)
        os.chmod(self.folder, 0o777)
        path = self.path("others.ttmem")
        done = subprocess.run(as_user(STRANGER, TTMEM, "record", "-o", path, "--seconds", "1"), capture_output=True, text=True,
                              timeout=TIMEOUT, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(process.pid, [one["pid"] for one in self.json_of("ps", "--recording", path)["processes"]])
        done = self.ttmem("export", "--format", "jsonl", "-o", "-", "--recording", path)
        note = "1 process of another user is left out: the recording has only its totals"
        self.assertIn(note, done.stderr)
        self.assertIn(note, json.loads(done.stdout.splitlines()[0])["notes"])

    def test_a_long_pickle_is_whole(self):
        self.process = self.tracked_process(BEFORE + "many = [library.ttmem_allocate(mesh, DRAM, 2000000 + 64 * i, 64, 768, i)"
                                            " for i in range(2500)]")
        data = self.read(self.export("memory-viz", "long.pickle"))
        blocks = pickle.loads(data)["segments"][0]["blocks"]
        self.assertEqual(sum(block["state"] == "active_allocated" for block in blocks), 2501)


if __name__ == "__main__":
    main()
