#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command in the states a user meets: an empty host, no daemon, a daemon that went, a reader that went."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

import faces
from faces import BIN, PATIENCE, wait_until

ASK_ONCE = (["status"], ["ps"], ["allocations"], ["allocations", "--group-by", "age"], ["programs"], ["map", "-d", "0"], ["why"],
            ["monitor", "-n", "1"], ["query"])
NEED_A_DAEMON = (["post-mortem"], ["post-mortem", "1"], ["history"], ["events"], ["self"])


class Nothing(faces.TestCase):
    """No device, no driver, no tracked process."""

    def test_without_a_daemon_each_says_what_is_the_case_and_what_to_do(self):
        for words in ASK_ONCE:
            done = self.type(*words)
            said = done.stdout + done.stderr
            self.assertIn(done.returncode, (0, 1), words)
            self.assertRegex(said, "no tracked process|no devices here", words)
            self.assertRegex(said, "TT_ALLOC_TRACKING_ENABLED=1|'ttmem status'", words)
        for words in NEED_A_DAEMON:
            done = self.type(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertRegex(done.stderr, r"^ttmem: no daemon runs here, .*'ttmemd'\)\n$", words)

    def test_with_a_daemon_each_says_so_too(self):
        self.daemon("--quiet")
        for words in ASK_ONCE:
            done = self.type(*words)
            self.assertRegex(done.stdout + done.stderr, "no tracked process|no devices here", words)
        self.assertIn("no post-mortem", self.screen("post-mortem"))
        self.assertEqual(self.screen("history"), "Nothing has been held since the daemon began.\n")
        self.assertEqual(self.screen("events"), "Nothing has happened since the daemon began.\n")
        self.assertRegex(self.screen("self"), r"^ttmemd \d")

    def test_no_figure_is_a_wrong_zero(self):
        done = self.type("query", "--format=csv,noheader")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no devices here", done.stderr)

    def test_there_is_no_mark_before_the_first(self):
        done = self.type("allocations", "--since-mark")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("set one with 'ttmem mark'", done.stderr)

    def test_a_mark_tells_scripts_its_moment(self):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        mark = json.loads(self.screen("mark", "--json"))
        self.assertEqual(mark["schema"], 1)
        self.assertTrue(before <= mark["monotonic_ns"] <= time.clock_gettime_ns(time.CLOCK_MONOTONIC))

    def test_a_mark_needs_a_place(self):
        done = self.type("mark", XDG_STATE_HOME="/proc/nowhere")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("can't write the mark /proc/nowhere/ttmem/mark", done.stderr)
        self.assertEqual(self.type("mark", XDG_STATE_HOME="", HOME="").returncode, 1)

    def test_a_mark_of_an_earlier_boot_is_refused(self):
        self.screen("mark")
        path = os.path.join(self.environment["XDG_STATE_HOME"], "ttmem", "mark")
        with open(path, encoding="utf-8") as file:
            boot, when = file.read().split()
        for text in (f"not-this-boot {when}\n", f"{boot} {int(when) + 10**15}\n"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = self.type("allocations", "--since-mark")
            self.assertEqual(done.returncode, 1)
            self.assertIn("before the last boot", done.stderr)
        with open(path, "w", encoding="utf-8") as file:
            file.write("rubbish")
        self.assertIn("there is no mark yet", self.type("allocations", "--since-mark").stderr)


class Devices(faces.TestCase):
    def test_each_name_of_a_device_is_understood_by_each_command(self):
        self.daemon("--quiet")
        self.sim_at("tracking", "dram")
        [device] = json.loads(self.screen("status", "--json"))["devices"]
        for name in (str(device["id"]), device["asic_id"], f"/dev/tenstorrent/{device['id']}"):
            for command in ("status", "ps", "allocations", "programs", "map", "query", "history"):
                self.assertEqual(self.type(command, "-d", name).returncode, 0, (command, name))
            self.screen("monitor", "-n", "1", "-d", name)
        for command in ("status", "ps", "allocations", "programs", "map", "query", "history", "why"):
            done = self.type(command, "-d", "77")
            self.assertEqual((done.returncode, done.stdout), (1, ""), command)
            self.assertRegex(done.stderr, "device 77", command)


class Query(faces.TestCase):
    def setUp(self):
        super().setUp()
        self.sim_at("mesh-allocation", "tensor 2")
        self.devices = json.loads(self.screen("status", "--json"))["devices"]

    def test_tells_what_the_view_tells(self):
        lines = self.screen("query", "--fields=device,dram.used,dram.capacity,l1.used,board,asic_id,temperature",
                            "--format=csv,nounits").splitlines()
        self.assertEqual(lines[0], "device,dram.used [B],dram.capacity [B],l1.used [B],board,asic_id,temperature [C]")
        self.assertEqual(lines[1:], [
            f"{device['id']},{device['memory']['dram']['used']},{device['memory']['dram']['capacity']},"
            f"{device['memory']['l1']['used']},{device['board']},{device['asic_id']}," for device in self.devices])

    def test_every_field_answers_for_every_device(self):
        fields = re.findall(r"^([\w.]+)", self.screen("query", "--list"), re.MULTILINE)
        lines = self.screen("query", "--fields=" + ",".join(fields), "--format=csv,noheader").splitlines()
        self.assertEqual([line.count(",") for line in lines], [len(fields) - 1] * len(self.devices))

    def test_loops_until_nobody_reads(self):
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {BIN}/ttmem query --fields=device --loop-ms 1 | head -n 20"],
                              capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines()[:9], ["device", *map(str, range(8))])
        self.assertEqual(done.stdout.count("device"), 1, "the header comes once")

    def test_what_is_wrong_exits_with_2_and_names_it(self):
        for words, reason in ((["--fields=dram.size"], "'dram.size'"), (["--format=xml"], "'xml'"), (["--fields="], ""),
                              (["--format=csv,nohead"], "csv,nohead"), (["--loop-ms", "0"], "'0'"),
                              (["--loop-ms", "x"], "'x'")):
            done = self.type("query", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(reason, done.stderr)


class Daemon(faces.TestCase):
    def test_a_daemon_that_went_leaves_words_and_no_wrong_figures(self):
        daemon = self.daemon("--quiet")
        sim = self.sim_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        before = json.loads(self.screen("status", "--json"))
        daemon.kill()  # its sockets stay behind
        for words in ASK_ONCE:
            done = self.type(*words)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        after = json.loads(self.type("status", "--json").stdout)
        self.assertEqual((before["source"], after["source"]), ("daemon", "direct"))
        self.assertEqual(before["devices"][0]["memory"]["dram"]["used"], after["devices"][0]["memory"]["dram"]["used"])
        for words in NEED_A_DAEMON:
            done = self.type(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertRegex(done.stderr, "^ttmem: .*daemon", words)

    def test_a_daemon_that_hangs_is_named(self):
        daemon = self.daemon("--quiet")
        sim = self.sim_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        daemon.process.send_signal(signal.SIGSTOP)
        self.addCleanup(daemon.process.send_signal, signal.SIGCONT)
        done = self.type("status")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^ttmem: .*; looked directly instead\n$")
        self.assertIn("1 tracked process", done.stdout)

    def test_events_and_history_tell_what_a_process_did(self):
        daemon = self.daemon("--quiet")
        sim = self.sim_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        wait_until(lambda: "allocation" in self.type("events").stdout, "the allocation is an event")
        wait_until(lambda: "dram" in self.type("history", "--kind", "dram").stdout, "there is a value")
        sim.kill()
        wait_until(lambda: "process died" in self.type("events").stdout, "the death is an event")
        self.assertIn(str(sim.pid), self.screen("post-mortem"))
        self.assertIn(f"{sim.pid}", self.screen("post-mortem", str(sim.pid)))
        for line in self.screen("events", "--json").splitlines():
            self.assertLessEqual({"sequence", "what", "pid", "time_ns"}, set(json.loads(line)))
        self.assertEqual(len(self.screen("events", "--limit", "1").splitlines()), 1)
        # The device is known no more, and its number still chooses among what is past.
        self.assertIn("allocation", self.screen("events", "--device", "0", "--kind", "dram"))
        self.assertNotIn("allocation", self.screen("events", "--device", "1"))
        self.assertIn("None of the events", self.screen("events", "--pid", "1"))
        self.assertNotIn("allocation", self.screen("events", "--kind", "trace"))
        self.assertIn(f"{sim.pid}", self.screen("events", "--pid", str(sim.pid)))
        self.assertIn(str(sim.pid), self.screen("post-mortem", "--device", "0"))
        self.assertIn("None of the processes", self.screen("post-mortem", "--device", "1"))
        self.assertEqual(self.type("events", "--device", "0xdead").returncode, 1)

    def test_events_are_followed_until_nobody_reads(self):
        daemon = self.daemon("--quiet")
        follower = subprocess.Popen([os.path.join(BIN, "ttmem"), "events", "--follow", "--json"], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, env=self.environment)
        self.addCleanup(follower.kill)
        sim = self.sim_at("tracking", "dram")
        daemon.wait_for(sim.pid)
        line = json.loads(follower.stdout.readline())
        self.assertEqual((line["what"], line["pid"]), ("process_started", sim.pid))
        follower.stdout.close()
        sim.kill()  # which is an event that finds no reader
        self.assertEqual(follower.wait(PATIENCE), 0)
        self.assertEqual(follower.stderr.read(), b"")
        follower.stderr.close()


class OldNames(faces.TestCase):
    def test_tt_smi_umd_is_one_picture(self):
        self.sim_at("tracking", "dram")
        self.assertEqual(self.screen("--bytes", name="tt_smi_umd"), self.screen("status", "--bytes"))

    def test_allocation_monitor_client_is_the_monitor(self):
        self.sim_at("tracking", "dram")
        self.assertEqual(self.screen("-d", "0", "-n", "1", "--bytes", name="allocation_monitor_client"),
                         self.screen("monitor", "-d", "0", "-n", "1", "--bytes"))
        self.assertIn("monitor", self.screen("--help", name="allocation_monitor_client"))


class Output(faces.TestCase):
    COMMANDS = ("status", "ps", "allocations", "mark", "programs", "map", "history", "post-mortem", "why", "monitor", "top",
                "query", "events", "self", "demo", "top", "run", "doctor")

    def test_every_command_has_help_with_an_example_within_80_columns(self):
        for command in self.COMMANDS:
            text = self.screen(command, "--help")
            self.assertRegex(text, r"Examples?:\n  ")
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_bytes_are_plain_and_screens_fit(self):
        daemon = self.daemon("--quiet")
        sim = self.sim_at("transformer-dp4", "prefill")
        daemon.wait_for(sim.pid)
        wait_until(lambda: "dram" in self.type("history", "--kind", "dram").stdout, "there is a value")
        for words in (*ASK_ONCE, ["history"], ["events"], ["self"]):
            if words != ["query"]:
                self.assertNotRegex(self.screen(*words, "--bytes"), r"\d (KiB|MiB|GiB)", words)
                for columns in (80, 200):
                    for line in self.on_a_terminal(*words, columns=columns, rows=500, NO_COLOR="1").splitlines():
                        self.assertLessEqual(len(re.sub(r"\x1b\[[HJK]", "", line)), columns, (words, line))
                self.assertNotIn("\x1b[3", self.on_a_terminal(*words, NO_COLOR="1"))
                self.assertNotIn("\x1b", self.screen(*words))

    def test_json_is_json(self):
        daemon = self.daemon("--quiet")
        sim = self.sim_at("transformer-dp4", "prefill")
        daemon.wait_for(sim.pid)
        for words in (*ASK_ONCE, ["history"], ["self"], ["post-mortem"]):
            if words != ["query"]:
                self.assertEqual(json.loads(self.screen(*words, "--json"))["schema"], 1, words)


if __name__ == "__main__":
    faces.main()
