#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command on an empty host, without a daemon, after the death of the daemon, and with a reader that ends."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time

from harness.programs import BIN, TTMEM
from harness.test_case import TestCase, main
from harness.waiting import TIMEOUT, wait_until

ASK_ONCE = (["status"], ["ps"], ["allocations"], ["allocations", "--group-by", "age"], ["programs"], ["map", "-d", "0"],
            ["cores", "-d", "0"], ["fit", "-d", "0", "4096"], ["peak"], ["why"], ["monitor", "-n", "1"], ["query"])
NEED_A_DAEMON = (["post-mortem"], ["post-mortem", "1"], ["history"], ["events"], ["self"])


class EmptyHost(TestCase):
    """No device, no driver, no tracked process."""

    def test_without_a_daemon_each_command_reports_an_empty_host_and_the_next_step(self):
        for words in ASK_ONCE:
            done = self.ttmem(*words)
            said = done.stdout + done.stderr
            self.assertIn(done.returncode, (0, 1, 4), words)
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
        self.assertEqual(self.output_of("history"), "No memory was in use in this time, as far as the daemon knows.\n")
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
            self.assertEqual((done.returncode, done.stdout), (4, ""), command)
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
        events = self.json_of("events")
        self.assertEqual((events["exact"], events["inexact"], events["hidden_events"]), (True, [], 0))
        for event in events["events"]:
            self.assertLessEqual({"sequence", "what", "pid", "time_ns"}, set(event))
        titles, _ = self.output_of("events", "--limit", "1").splitlines()
        self.assertEqual(titles.split(), ["TIME", "PID", "EVENT", "KIND", "REQUESTED", "DEV", "NOTE", "ADDRESS", "NAME"])
        # The device is no longer known, but its number still selects past events.
        self.assertIn("allocation", self.output_of("events", "--device", "0", "--kind", "dram"))
        self.assertNotIn("allocation", self.output_of("events", "--device", "1"))
        self.assertIn("No matching events.", self.output_of("events", "--pid", "1"))
        self.assertNotIn("allocation", self.output_of("events", "--kind", "trace"))
        self.assertIn(f"{sim.pid}", self.output_of("events", "--pid", str(sim.pid)))
        self.assertIn(str(sim.pid), self.output_of("post-mortem", "--device", "0"))
        self.assertIn("No process that died held this device.", self.output_of("post-mortem", "--device", "1"))
        self.assertEqual(self.ttmem("events", "--device", "0xdead").returncode, 4)

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


    def test_help_of_a_command_and_short_options(self):
        self.assertEqual(self.output_of("help", "status"), self.output_of("status", "--help"))
        self.assertEqual(self.output_of("help"), self.output_of("--help"))
        self.assertEqual(self.output_of("-V"), self.output_of("--version"))
        self.assertEqual(self.ttmem("help", "stauts").returncode, 5)
        self.assertIn("did you mean 'status'", self.ttmem("help", "stauts").stderr)

    def test_exit_codes_tell_an_unknown_device_and_an_unknown_command_from_other_errors(self):
        for words, code in ((["map", "-d", "77"], 4), (["status", "-d", "77"], 4), (["stauts"], 5), (["help", "stauts"], 5),
                            (["--stauts"], 2), (["status", "more"], 2)):
            self.assertEqual(self.ttmem(*words).returncode, code, words)

    def test_an_option_before_the_command_is_refused(self):
        for words in (["--json", "status"], ["-l", "1", "ps"]):
            done = self.ttmem(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("must follow the command", done.stderr)
        self.assertEqual(self.ttmem("--color=never", "status").returncode, 0)

    def test_an_unknown_option_suggests_the_nearest(self):
        self.assertIn("unknown option --jsno (did you mean '--json'?)", self.ttmem("ps", "--jsno").stderr)
        self.assertIn("(did you mean '--device'?)", self.ttmem("status", "--devcie=0").stderr)
        self.assertNotIn("did you mean", self.ttmem("ps", "--xyzzy").stderr)

    def test_a_monitor_of_no_samples_is_refused(self):
        done = self.ttmem("monitor", "-n", "0")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("-n: '0': must be 1 or greater", done.stderr)


class Habits(TestCase):
    def setUp(self):
        super().setUp()
        self.sim = self.simulator_at("mesh-allocation", "tensor 2")

    def test_colour_can_be_forced_and_turned_off(self):
        self.assertIn("\x1b[", self.output_of("status", "--color=always"))
        self.assertNotIn("\x1b", self.output_of("status", "--color", "auto"))
        self.assertNotIn("\x1b[", self.terminal_output("status", "--color=never"))
        self.assertIn("\x1b[", self.terminal_output("status", "--color=always", NO_COLOR="1"))
        self.assertEqual(self.ttmem("status", "--color=blue").returncode, 2)

    def test_no_header_leaves_the_rows(self):
        lines = self.output_of("ps", "--no-header").splitlines()
        self.assertEqual(lines[0].split()[0], str(self.sim.pid))
        self.assertNotIn("PID", "".join(lines))

    def test_every_list_has_the_options_of_lists(self):
        for command in ("status", "ps", "allocations", "programs", "map", "cores", "why", "growth", "leaks", "peak", "history", "events",
                        "post-mortem", "self"):
            text = self.output_of("help", command)
            for option in ("-l,--watch", "--color", "--no-header", "--json", "--bytes"):
                self.assertIn(option, text, command)

    def test_a_command_is_repeated_until_its_reader_ends(self):
        for words in (["status"], ["ps"], ["allocations"], ["programs"], ["map", "-d", "0"], ["why"],
                      ["cores", "-d", "0"]):
            command = f"set -o pipefail; {shlex.quote(TTMEM)} {' '.join(words)} -l 0.1 | head -n 1; exit ${{PIPESTATUS[0]}}"
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=TIMEOUT,
                                  env=self.environment())
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        watched = subprocess.Popen([TTMEM, "status", "--json", "--watch", "0.1"], stdout=subprocess.PIPE, text=True,
                                   env=self.environment())
        self.addCleanup(watched.kill)
        documents = [json.loads(watched.stdout.readline()) for _ in range(2)]  # one per line
        self.assertLess(documents[0]["time_ns"], documents[1]["time_ns"])
        watched.stdout.close()
        self.assertEqual(watched.wait(TIMEOUT), 0)
        for seconds in ("0", "x", "4000"):
            self.assertEqual(self.ttmem("status", "-l", seconds).returncode, 2)

    def test_several_devices_can_be_chosen(self):
        for words in (["-d", "1", "-d", "3"], ["-i", "1,3"], ["--device=1", "-i", "3"]):
            self.assertEqual([device["id"] for device in self.json_of("status", *words)["devices"]], [1, 3], words)
            self.assertEqual([held["id"] for held in self.json_of("ps", *words)["processes"][0]["devices"]], [1, 3])
            self.assertEqual(self.output_of("query", "--fields=device", "--no-header", *words), "1\n3\n")

    def test_several_devices_are_also_a_range(self):
        self.assertEqual([device["id"] for device in self.json_of("status", "-d", "1-3")["devices"]], [1, 2, 3])
        self.assertEqual(self.json_of("allocations", "-d", "1-3")["total"], self.json_of("allocations", "-d", "1,2,3")["total"])
        self.assertEqual(self.ttmem("status", "-d", "3-1").returncode, 4)

    def test_maps_of_several_devices_and_kinds_follow_one_another(self):
        def maps(*words: str) -> list[tuple]:
            return [(one["device"], one["pid"], one["kind"], one["used"], one["free"]) for one in self.json_of("map", *words)["maps"]]
        expected = maps("-d", "1", "--kind", "dram,l1") + maps("-d", "3", "--kind", "l1", "--kind", "dram")
        self.assertEqual({one[0::2][:2] for one in expected}, {(1, "dram"), (1, "l1"), (3, "dram"), (3, "l1")})
        for words in (["-d", "1", "-i", "3"], ["--device=3,1"]):
            self.assertEqual(maps(*words, "--kind", "dram,l1"), expected, words)
        self.assertEqual(self.json_of("map", "-d", "1-3")["devices"], [1, 2, 3])
        text = self.output_of("map", "-d", "1,3", "--kind", "dram")
        self.assertLess(text.index("\nDevice 1\n"), text.index("\nDevice 3\n"))
        for words, problem in ((["--kind", "dram,cb"], "ask for cb without other kinds"),
                               (["--kind", "l1,kernel"], "kernel has no addresses of its own"),
                               (["--kind", "dram,l1", "--core", "0,0"], "dram is not part of a core")):
            done = self.ttmem("map", "-d", "1,3", *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertIn(problem, done.stderr)

    def test_the_past_is_chosen_by_several_devices_and_kinds(self):
        daemon = self.daemon("--quiet")
        daemon.wait_for(self.sim.pid)
        dead = self.simulator_at("tracking", "dram")
        daemon.wait_for(dead.pid)
        [number] = [held["id"] for process in self.json_of("ps")["processes"] if process["pid"] == dead.pid
                    for held in process["devices"]]
        def series(view: dict) -> set[tuple]:
            return {(one["device"], one["kind"]) for one in view["series"]}
        def is_sampled() -> bool:
            return {(device, "dram") for device in range(4)} <= series(self.json_of("history"))
        wait_until(is_sampled, "there are samples of each device")
        everything = series(self.json_of("history"))
        for words, devices in ((["-d", "1", "-i", "3"], {1, 3}), (["--device=1,3"], {1, 3}), (["-d", "1-3"], {1, 2, 3})):
            self.assertEqual(series(self.json_of("history", *words, "--kind", "dram,trace")),
                             {one for one in everything if one[0] in devices and one[1] in ("dram", "trace")}, words)
        self.assertEqual(series(daemon.get("/v1/history?device=1,3&kind=dram,trace")),
                         series(self.json_of("history", "-d", "1,3", "--kind", "dram", "--kind", "trace")))
        self.assertEqual(self.ttmem("history", "-d", "1,99").returncode, 4)

        events = self.json_of("events", "--limit", "0")["events"]
        expected = [one["sequence"] for one in events if one["kind"] in (None, "dram", "trace") and
                    (not one["devices"] or {1, 3} & set(one["devices"]))]
        self.assertLess(len(expected), len(events))
        self.assertEqual([one["sequence"] for one in self.json_of("events", "--limit", "0", "-d", "1,3", "--kind", "dram,trace")["events"]],
                         expected)
        self.assertEqual([one["sequence"] for one in daemon.get("/v1/events?device=1,3&kind=dram,trace&limit=10000")["events"]], expected)

        self.output_of("growth", "--kind", "dram,l1", "-d", "0", "--name", "model*", "--no-header")
        self.assertEqual(self.ttmem("growth", "--kind", "dram,gold").returncode, 2)

        dead.kill()
        daemon.wait_for_death(dead.pid)
        for words, count in ((["-d", f"1,{number}"], 1), (["-d", "1", "-d", "2"], 0), (["-d", f"{number}-{number + 1}"], 1)):
            self.assertEqual(len(self.json_of("post-mortem", *words)["post_mortems"]), count, words)
        self.assertIn("No process that died held one of these devices.", self.output_of("post-mortem", "-d", "1,2"))
        done = self.ttmem("post-mortem", str(dead.pid), "-d", "0")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("leave out --device", done.stderr)

    def test_allocations_are_chosen_by_several_kinds_and_devices_and_by_pattern(self):
        self.simulator_at("matmul-multicore-reuse", "first run")
        everything = self.json_of("allocations", "--limit", "0")["allocations"]
        named = [one for one in everything if one["name"] is not None]
        def chosen(*words: str) -> list[tuple]:
            return sorted(key(one) for one in self.json_of("allocations", "--limit", "0", *words)["allocations"])
        def key(one: dict) -> tuple:
            return one["pid"], one["kind"], str(one["address"]), str(one["name"]), tuple(one["devices"])
        def expected(is_wanted, among=everything) -> list[tuple]:
            return sorted(key(one) for one in among if is_wanted(one))
        kinds = sorted({one["kind"] for one in everything})[:2]
        self.assertEqual(len(kinds), 2)
        wanted = expected(lambda one: one["kind"] in kinds)
        self.assertEqual(chosen("--kind", ",".join(kinds)), wanted)
        self.assertEqual(chosen("--kind", kinds[0], "--kind", kinds[1]), wanted)
        self.assertEqual(chosen("-d", "1", "-i", "3"), expected(lambda one: {1, 3} & set(one["devices"])))
        name = next(one["name"] for one in named if len(one["name"]) > 4)
        part, glob, regex = name[1:-1], name[0] + "*" + name[-1], "/^" + re.escape(name[:3]) + ".*" + re.escape(name[-1]) + "$/"
        self.assertEqual(chosen("--name", part), expected(lambda one: part in one["name"], named))
        self.assertEqual(chosen("--name", glob),
                         expected(lambda one: len(one["name"]) > 1 and (one["name"][0], one["name"][-1]) == (name[0], name[-1]), named))
        self.assertEqual(chosen("--name", regex),
                         expected(lambda one: re.search(regex[1:-1], one["name"]) is not None, named))
        done = self.ttmem("allocations", "--name", "/(a/")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("a ( without a )", done.stderr)

    def test_processes_are_sorted_and_chosen_by_user(self):
        small = self.simulator_at("tracking", "dram")
        pids = [process["pid"] for process in self.json_of("ps", "--sort", "age")["processes"]]
        self.assertEqual(pids, [self.sim.pid, small.pid])
        most = {process["pid"]: max(held["memory"]["dram"]["used"] for held in process["devices"])
                for process in self.json_of("ps")["processes"]}
        pids = [process["pid"] for process in self.json_of("ps", "--sort", "dram")["processes"]]
        self.assertEqual(pids, sorted(most, key=most.get, reverse=True))
        self.assertEqual(len(self.json_of("ps", "--user", str(os.getuid()))["processes"]), 2)
        self.assertEqual(self.json_of("ps", "-u", "nobody-at-all")["processes"], [])
        self.assertIn("No process of this user", self.output_of("ps", "-u", "nobody-at-all"))
        done = self.ttmem("ps", "--sort", "drma")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'dram'", done.stderr)

    def test_query_of_processes_and_as_json(self):
        view = self.json_of("status")
        [process] = view["processes"]
        rows = json.loads(self.output_of("query", "--processes", "--fields=pid,device,dram.used,dram.percent", "--json"))
        self.assertEqual([(row["pid"], row["device"], row["dram.used"]) for row in rows],
                         [(process["pid"], held["id"], held["memory"]["dram"]["used"]) for held in process["devices"]])
        for row, device in zip(json.loads(self.output_of("query", "--fields=dram.free,dram.percent,board", "--format=json")),
                               view["devices"]):
            memory = device["memory"]["dram"]
            self.assertEqual(row["dram.free"], memory["capacity"] - memory["used"])
            self.assertAlmostEqual(row["dram.percent"], 100 * memory["used"] / memory["capacity"], delta=0.1)
            self.assertEqual(row["board"], device["board"])

    def test_a_long_list_on_a_terminal_goes_through_the_pager(self):
        with tempfile.TemporaryDirectory() as folder:
            paged = os.path.join(folder, "paged")
            script = f"{shlex.quote(TTMEM)} allocations"
            for rows, expected in (("5", True), ("200", False)):
                subprocess.run(["script", "-qec", f"stty rows {rows} cols 80; {script}", "/dev/null"], capture_output=True,
                               env=self.environment(TERM="xterm", PAGER=f"cat > {shlex.quote(paged)}"), timeout=TIMEOUT,
                               stdin=subprocess.DEVNULL)
                self.assertEqual(os.path.exists(paged), expected, rows)
                if expected:
                    with open(paged, encoding="utf-8") as file:
                        self.assertIn("dram", file.read())
                    os.unlink(paged)

    def test_each_shell_has_a_completion(self):
        scripts = {shell: self.output_of("completion", shell) for shell in ("bash", "zsh", "fish")}
        self.assertIn("complete -F _ttmem ttmem", scripts["bash"])
        self.assertIn("bashcompinit", scripts["zsh"])
        self.assertIn("complete -c ttmem", scripts["fish"])
        done = subprocess.run(["bash", "-n"], input=scripts["bash"], text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.ttmem("completion", "tcsh").returncode, 2)


class OldNames(TestCase):
    def test_tt_smi_umd_in_a_pipe_is_status(self):
        self.simulator_at("tracking", "dram")
        once = self.output_of("status", "--bytes")
        for words in ([], ["-s"], ["--sysfs"], ["-w"], ["--watch", "--sysfs"], ["-r", "500"]):
            self.assertEqual(self.output_of("--bytes", *words, program="tt_smi_umd"), once, words)

    def test_tt_smi_umd_with_s_prints_once_on_a_terminal(self):
        self.simulator_at("tracking", "dram")
        done = subprocess.run(["script", "-qec", shlex.quote(os.path.join(BIN, "tt_smi_umd")) + " -s", "/dev/null"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                              env=self.environment(TERM="xterm", PAGER="cat"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 tracked process", done.stdout)

    def test_the_old_monitor_takes_all_devices_and_chosen_ones_and_shows_an_absent_one(self):
        self.simulator_at("tracking", "dram")
        text = self.output_of("-a", "-d", "0", "-n", "1", program="allocation_monitor_client")
        self.assertEqual(text.count("Memory Breakdown:"), 1)
        text = self.output_of("-d", "0", "-d", "7", "-n", "1", program="allocation_monitor_client")
        self.assertEqual(text.count("Memory Breakdown:"), 1)
        self.assertIn("Device 7: absent", text)
        self.assertEqual(self.ttmem("-d", "0xdead", "-n", "1", program="allocation_monitor_client").returncode, 4)

    def test_the_old_monitor_goes_on_when_its_application_ends(self):
        sim = self.simulator_at("tracking", "dram")
        monitor = subprocess.Popen([os.path.join(BIN, "allocation_monitor_client"), "-d", "0", "-r", "10"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(monitor.kill)
        self.addCleanup(monitor.stderr.close)
        self.addCleanup(monitor.stdout.close)
        for line in monitor.stdout:
            if "Memory Breakdown:" in line:
                break
        sim.kill()
        for line in monitor.stdout:
            if "Device 0: absent" in line:
                break
        else:
            self.fail(monitor.stderr.read())
        self.assertIsNone(monitor.poll())

    def test_allocation_monitor_client_is_monitor(self):
        self.simulator_at("tracking", "dram")
        self.assertEqual(self.output_of("-d", "0", "-n", "1", "--bytes", program="allocation_monitor_client"),
                         self.output_of("monitor", "-d", "0", "-n", "1", "--bytes"))
        self.assertIn("monitor", self.output_of("--help", program="allocation_monitor_client"))


class Output(TestCase):
    COMMANDS = ("status", "ps", "allocations", "mark", "programs", "map", "cores", "fit", "peak", "history", "post-mortem", "why", "monitor", "top",
                "query", "events", "self", "demo", "top", "run", "doctor", "observer")

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

    def test_a_pipe_has_all_columns_and_a_terminal_names_those_that_do_not_fit(self):
        sim = self.simulator_at("transformer-dp4", "prefill")
        for words in (["ps"], ["status", "--bytes"], ["allocations"], ["programs"], ["cores", "-d", "0"]):
            self.assertNotIn("Not shown", self.output_of(*words), words)
            narrow = self.terminal_output(*words, rows=500, NO_COLOR="1")
            [left_out] = re.findall(r"Not shown: ([^.]*)\.", " ".join(narrow.split()))
            names = left_out.split(", ")
            titles = self.output_of(*words).lower()
            for name in names:
                self.assertRegex(titles, name.replace("_", "."))
            chosen = self.terminal_output(*words, "--columns", ",".join(names), rows=500, NO_COLOR="1")
            for name in names:
                self.assertRegex(chosen.lower(), name.replace("_", "."))
            self.assertNotIn("Not shown", chosen)
        [pid, rss] = self.output_of("ps", "--bytes", "--columns", "pid,rss").splitlines()[3].split()
        self.assertEqual(int(pid), sim.pid)
        self.assertGreater(int(rss), 1_000_000)
        wrong = self.ttmem("ps", "--columns", "pid,drma")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertRegex(wrong.stderr, r"'drma' is not a column: must be pid, .*\(did you mean 'dram'\?\)")

    def test_each_command_prints_json_in_schema_1(self):
        daemon = self.daemon("--quiet")
        sim = self.simulator_at("transformer-dp4", "prefill")
        daemon.wait_for(sim.pid)
        for words in (*ASK_ONCE, ["history"], ["self"], ["post-mortem"]):
            if words != ["query"]:
                self.assertEqual(self.json_of(*words)["schema"], 1, words)


if __name__ == "__main__":
    main()
