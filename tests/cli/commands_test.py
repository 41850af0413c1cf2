#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command on an empty host, without a daemon, after the death of the daemon, and with a reader that ends."""

import json
import os
import re
import shlex
import signal
import subprocess
import time

from harness.programs import TTMEM
from harness.test_case import TestCase, main
from harness.waiting import TIMEOUT, wait_until

ASK_ONCE = (["status"], ["ps"], ["allocations"], ["allocations", "--group-by", "age"], ["programs"], ["map", "-d", "0"], ["why"],
            ["monitor", "-n", "1"], ["query"])
NEED_A_DAEMON = (["post-mortem"], ["post-mortem", "1"], ["history"], ["events"], ["self"])


class EmptyHost(TestCase):
    """No device, no driver, no tracked process."""

    def test_without_a_daemon_each_command_reports_an_empty_host_and_the_next_step(self):
        for words in ASK_ONCE:
            done = self.ttmem(*words)
            said = done.stdout + done.stderr
            self.assertIn(done.returncode, (0, 1), words)
            self.assertRegex(said, "no tracked process|no devices yet", words)
            self.assertRegex(said, "TT_ALLOC_TRACKING_ENABLED=1|'ttmem status'", words)
        for words in NEED_A_DAEMON:
            done = self.ttmem(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertRegex(done.stderr, r"^ttmem: This needs a running daemon \(start it with 'ttmemd'\)\n$", words)

    def test_with_a_daemon_each_command_reports_an_empty_host(self):
        self.daemon("--quiet")
        for words in ASK_ONCE:
            done = self.ttmem(*words)
            self.assertRegex(done.stdout + done.stderr, "no tracked process|no devices yet", words)
        self.assertIn("no post-mortem", self.output_of("post-mortem"))
        self.assertEqual(self.output_of("history"), "No memory has been in use since the daemon started.\n")
        self.assertEqual(self.output_of("events"), "No events since the daemon started.\n")
        self.assertRegex(self.output_of("self"), r"^ttmemd \d")

    def test_query_prints_no_zeros_without_devices(self):
        done = self.ttmem("query", "--format=csv,noheader")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no devices yet", done.stderr)

    def test_since_mark_without_a_mark_is_an_error(self):
        done = self.ttmem("allocations", "--since-mark")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("set one with 'ttmem mark'", done.stderr)

    def test_a_mark_prints_its_time_as_json(self):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        mark = self.json_of("mark")
        self.assertEqual(mark["schema"], 1)
        self.assertTrue(before <= mark["monotonic_ns"] <= time.clock_gettime_ns(time.CLOCK_MONOTONIC))

    def test_a_mark_that_cannot_be_written_is_an_error(self):
        done = self.ttmem("mark", XDG_STATE_HOME="/proc/nowhere")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("can't write the mark /proc/nowhere/ttmem/mark", done.stderr)
        self.assertEqual(self.ttmem("mark", XDG_STATE_HOME="", HOME="").returncode, 1)

    def test_a_mark_of_an_earlier_boot_is_refused(self):
        self.output_of("mark")
        path = os.path.join(self.state_directory, "ttmem", "mark")
        with open(path, encoding="utf-8") as file:
            boot, when = file.read().split()
        for text in (f"not-this-boot {when}\n", f"{boot} {int(when) + 10**15}\n"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = self.ttmem("allocations", "--since-mark")
            self.assertEqual(done.returncode, 1)
            self.assertIn("before the last boot", done.stderr)
        with open(path, "w", encoding="utf-8") as file:
            file.write("rubbish")
        self.assertIn("there is no mark yet", self.ttmem("allocations", "--since-mark").stderr)


class Devices(TestCase):
    def test_each_name_of_a_device_is_understood_by_each_command(self):
        self.daemon("--quiet")
        self.simulator_at("tracking", "dram")
        [device] = self.json_of("status")["devices"]
        for name in (str(device["id"]), device["asic_id"], f"/dev/tenstorrent/{device['id']}"):
            for command in ("status", "ps", "allocations", "programs", "map", "query", "history"):
                self.assertEqual(self.ttmem(command, "-d", name).returncode, 0, (command, name))
            self.output_of("monitor", "-n", "1", "-d", name)
        for command in ("status", "ps", "allocations", "programs", "map", "query", "history", "why"):
            done = self.ttmem(command, "-d", "77")
            self.assertEqual((done.returncode, done.stdout), (1, ""), command)
            self.assertRegex(done.stderr, "device 77", command)


class Query(TestCase):
    def setUp(self):
        super().setUp()
        self.simulator_at("mesh-allocation", "tensor 2")
        self.devices = self.json_of("status")["devices"]

    def test_query_prints_the_figures_of_the_view(self):
        lines = self.output_of("query", "--fields=device,dram.used,dram.capacity,l1.used,board,asic_id,temperature",
                            "--format=csv,nounits").splitlines()
        self.assertEqual(lines[0], "device,dram.used [B],dram.capacity [B],l1.used [B],board,asic_id,temperature [C]")
        self.assertEqual(lines[1:], [
            f"{device['id']},{device['memory']['dram']['used']},{device['memory']['dram']['capacity']},"
            f"{device['memory']['l1']['used']},{device['board']},{device['asic_id']}," for device in self.devices])

    def test_query_prints_every_field_for_every_device(self):
        fields = re.findall(r"^([\w.]+)", self.output_of("query", "--list"), re.MULTILINE)
        lines = self.output_of("query", "--fields=" + ",".join(fields), "--format=csv,noheader").splitlines()
        self.assertEqual([line.count(",") for line in lines], [len(fields) - 1] * len(self.devices))

    def test_query_loops_until_its_reader_ends(self):
        command = f"set -o pipefail; {shlex.quote(TTMEM)} query --fields=device --loop-ms 1 | head -n 20"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=TIMEOUT, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines()[:9], ["device", *map(str, range(8))])
        self.assertEqual(done.stdout.count("device"), 1, "the header is printed once")

    def test_wrong_arguments_exit_with_2_and_are_named(self):
        for words, reason in ((["--fields=dram.size"], "'dram.size'"), (["--format=xml"], "'xml'"), (["--fields="], ""),
                              (["--format=csv,nohead"], "csv,nohead"), (["--loop-ms", "0"], "'0'"),
                              (["--loop-ms", "x"], "'x'")):
            done = self.ttmem("query", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(reason, done.stderr)


class Daemon(TestCase):
    def test_after_the_death_of_the_daemon_commands_read_directly_or_report_it(self):
        daemon = self.daemon("--quiet")
        sim = self.simulator_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        before = self.json_of("status")
        daemon.kill()  # its sockets remain
        for words in ASK_ONCE:
            done = self.ttmem(*words)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        after = json.loads(self.ttmem("status", "--json").stdout)
        self.assertEqual((before["source"], after["source"]), ("daemon", "direct"))
        self.assertEqual(before["devices"][0]["memory"]["dram"]["used"], after["devices"][0]["memory"]["dram"]["used"])
        for words in NEED_A_DAEMON:
            done = self.ttmem(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertRegex(done.stderr, "^ttmem: .*daemon", words)

    def test_a_daemon_that_hangs_is_reported(self):
        daemon = self.daemon("--quiet")
        sim = self.simulator_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        daemon.process.send_signal(signal.SIGSTOP)
        self.addCleanup(daemon.process.send_signal, signal.SIGCONT)
        done = self.ttmem("status")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^ttmem: .*; read directly instead\n$")
        self.assertIn("1 tracked process", done.stdout)

    def test_events_and_history_show_what_a_process_did(self):
        daemon = self.daemon("--quiet")
        sim = self.simulator_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        wait_until(lambda: "allocation" in self.ttmem("events").stdout, "the allocation is an event")
        wait_until(lambda: "dram" in self.ttmem("history", "--kind", "dram").stdout, "there is a sample")
        sim.kill()
        wait_until(lambda: "process died" in self.ttmem("events").stdout, "the death is an event")
        self.assertIn(str(sim.pid), self.output_of("post-mortem"))
        self.assertIn(f"{sim.pid}", self.output_of("post-mortem", str(sim.pid)))
        for line in self.output_of("events", "--json").splitlines():
            self.assertLessEqual({"sequence", "what", "pid", "time_ns"}, set(json.loads(line)))
        self.assertEqual(len(self.output_of("events", "--limit", "1").splitlines()), 1)
        # The device is no longer known, but its number still selects past events.
        self.assertIn("allocation", self.output_of("events", "--device", "0", "--kind", "dram"))
        self.assertNotIn("allocation", self.output_of("events", "--device", "1"))
        self.assertIn("No matching events.", self.output_of("events", "--pid", "1"))
        self.assertNotIn("allocation", self.output_of("events", "--kind", "trace"))
        self.assertIn(f"{sim.pid}", self.output_of("events", "--pid", str(sim.pid)))
        self.assertIn(str(sim.pid), self.output_of("post-mortem", "--device", "0"))
        self.assertIn("No process that died held this device.", self.output_of("post-mortem", "--device", "1"))
        self.assertEqual(self.ttmem("events", "--device", "0xdead").returncode, 1)

    def test_events_are_followed_until_the_reader_ends(self):
        daemon = self.daemon("--quiet")
        follower = subprocess.Popen([TTMEM, "events", "--follow", "--json"], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, env=self.environment())
        self.addCleanup(follower.kill)
        sim = self.simulator_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        line = json.loads(follower.stdout.readline())
        self.assertEqual((line["what"], line["pid"]), ("process_started", sim.pid))
        follower.stdout.close()
        sim.kill()  # this event has no reader
        self.assertEqual(follower.wait(TIMEOUT), 0)
        self.assertEqual(follower.stderr.read(), b"")
        follower.stderr.close()


class Arguments(TestCase):
    def test_an_error_names_the_option_as_the_user_typed_it(self):
        for words, typed in ((["allocations", "--group-by", "op"], "--group-by"), (["allocations", "--group=op"], "--group"),
                             (["allocations", "--top", "x"], "--top"), (["allocations", "--limit", "x"], "--limit"),
                             (["monitor", "-n", "x"], "-n"), (["monitor", "-nx"], "-n"), (["monitor", "--count=x"], "--count"),
                             (["top", "-r", "x"], "-r"), (["map", "-d"], "-d")):
            done = self.ttmem(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertEqual(re.findall(r"(?<!\S)-[\w-]+", done.stderr.splitlines()[0]), [typed], words)

    def test_an_unknown_value_lists_the_valid_ones_and_suggests_the_nearest(self):
        done = self.ttmem("allocations", "--group-by", "scpoe")
        self.assertRegex(done.stderr, r"'scpoe': must be one of name, scope, kind, .* \(did you mean 'scope'\?\)")
        self.assertNotIn("did you mean", self.ttmem("allocations", "--group-by", "op").stderr)
        self.assertIn("unknown command 'stauts' (did you mean 'status'?)", self.ttmem("stauts").stderr)


class OldNames(TestCase):
    def test_tt_smi_umd_is_status(self):
        self.simulator_at("tracking", "dram")
        self.assertEqual(self.output_of("--bytes", program="tt_smi_umd"), self.output_of("status", "--bytes"))

    def test_allocation_monitor_client_is_monitor(self):
        self.simulator_at("tracking", "dram")
        self.assertEqual(self.output_of("-d", "0", "-n", "1", "--bytes", program="allocation_monitor_client"),
                         self.output_of("monitor", "-d", "0", "-n", "1", "--bytes"))
        self.assertIn("monitor", self.output_of("--help", program="allocation_monitor_client"))


class Output(TestCase):
    COMMANDS = ("status", "ps", "allocations", "mark", "programs", "map", "history", "post-mortem", "why", "monitor", "top",
                "query", "events", "self", "demo", "top", "run", "doctor")

    def test_every_command_has_help_with_an_example_within_80_columns(self):
        for command in self.COMMANDS:
            text = self.output_of(command, "--help")
            self.assertRegex(text, r"Examples?:\n  ")
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_bytes_have_no_units_and_lines_fit_the_terminal(self):
        daemon = self.daemon("--quiet")
        sim = self.simulator_at("transformer-dp4", "prefill")
        daemon.wait_for(sim.pid)
        wait_until(lambda: "dram" in self.ttmem("history", "--kind", "dram").stdout, "there is a sample")
        for words in (*ASK_ONCE, ["history"], ["events"], ["self"]):
            if words != ["query"]:
                self.assertNotRegex(self.output_of(*words, "--bytes"), r"\d (KiB|MiB|GiB)", words)
                for columns in (80, 200):
                    for line in self.terminal_output(*words, columns=columns, rows=500, NO_COLOR="1").splitlines():
                        self.assertLessEqual(len(re.sub(r"\x1b\[[HJK]", "", line)), columns, (words, line))
                self.assertNotIn("\x1b[3", self.terminal_output(*words, NO_COLOR="1"))
                self.assertNotIn("\x1b", self.output_of(*words))

    def test_each_command_prints_json_in_schema_1(self):
        daemon = self.daemon("--quiet")
        sim = self.simulator_at("transformer-dp4", "prefill")
        daemon.wait_for(sim.pid)
        for words in (*ASK_ONCE, ["history"], ["self"], ["post-mortem"]):
            if words != ["query"]:
                self.assertEqual(self.json_of(*words)["schema"], 1, words)


if __name__ == "__main__":
    main()
