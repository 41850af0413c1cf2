#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboard from end to end: keys, filters, marks, resizing, restarts of the daemon, and the terminal afterwards."""

import json
import os
import random
import re
import signal

from harness.processes import children_of, name_of, wait_for_child
from harness.programs import TTMEM
from harness.simulator import Simulator
from harness.terminal import Terminal
from harness.test_case import TestCase, main
from harness.waiting import TIMEOUT, wait_until


def format_bytes(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    amount = count / 1024
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 999.95:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return "too much"


class Dashboard(TestCase):
    def terminal(self, columns: int = 80, rows: int = 24, **environment: str) -> Terminal:
        """A new terminal, and a new runtime directory for what is started after it."""
        terminal = Terminal(columns, rows, **environment)
        self.addCleanup(terminal.close)
        self.directory = self.runtime_directory()
        return terminal

    def workload(self) -> Simulator:
        """A simulator that is paused at a busy moment."""
        return self.paused_simulator("transformer-dp4", "--board", "t3000", pause_at="decode 1")

    def paused_simulator(self, *arguments: str, **options) -> Simulator:
        simulator = self.simulator(*arguments, **options)
        self.assertTrue(simulator.wait_for_pause(), simulator.error_text())
        return simulator

    def top(self, terminal: Terminal, *arguments: str, program: str = TTMEM) -> int:
        """Starts the dashboard; returns its pid."""
        terminal.run("env", f"TTMEM_RUNTIME_DIR={self.directory.path}", program, *(arguments or ("top",)))
        terminal.wait_for("ttmem top  ")
        return wait_for_child(terminal.shell(), "ttmem")

    def assert_no_residue(self, terminal: Terminal, code: int):
        """The terminal shows the shell again, with the settings from before."""
        text = terminal.wait_for(f"code:{code}\n", absent="ttmem top  |Overview")  # the newline excludes the typed command
        self.assertNotRegex(text, "n300|DRAM|[█░⣿]")
        terminal.run("stty", "-a")
        settings = terminal.wait_for("speed", "icanon", "echo ", r"(?s)extproc.*code:0\n")
        self.assertRegex(settings, r"[ ;]icanon")
        self.assertRegex(settings, r"[ ;]echo ")
        cursor = terminal.tmux("display-message", "-p", "-t", "test", "#{cursor_flag} #{alternate_on} #{mouse_any_flag}")
        self.assertEqual(cursor.split(), ["1", "0", "0"], "the cursor is visible, the normal screen is back, the mouse is free")

    def test_history_that_is_not_kept_is_a_notice_of_the_charts(self):
        terminal = self.terminal(columns=160)
        state = os.path.join(self.directory.path, "state")
        with open(state, "w", encoding="utf-8") as file:
            file.write("a file in the place of the folder")
        os.environ["TTMEM_STATE_DIR"] = state
        self.addCleanup(os.environ.pop, "TTMEM_STATE_DIR")
        self.daemon()
        self.workload()
        self.top(terminal)
        terminal.press("2")
        terminal.wait_for(r"history on disk: .*Not a directory")
        terminal.press("q")
        self.assert_no_residue(terminal, 0)

    def test_the_demo_shows_every_screen_and_ends_what_it_started(self):
        terminal = self.terminal()
        terminal.run(TTMEM, "demo")
        terminal.wait_for(r"DEV +BOARD", "n300", "ttmem-sim", "8 devices", "1 tracked process", "daemon")
        pid = wait_for_child(terminal.shell(), "ttmem")
        has_page = self.ttmem("export", "--format", "html", "-o", "-").returncode == 0
        if has_page:
            terminal.wait_for(r"page: http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}")

        terminal.press("1")
        terminal.wait_for("Memory Breakdown", "L1 Buffers:", "CBs:", "Kernels:", "Total L1:", "L1 per core")
        terminal.press("2")
        terminal.wait_for("Device 0", "DRAM .* / 12.0 GiB", "L1 core", "now", "[⣿⣀]")
        terminal.press("a")
        terminal.wait_for("process started")
        terminal.press("d")
        terminal.wait_for("Device 1", absent="Device 0")
        terminal.press("3")
        terminal.wait_for("No telemetry")
        terminal.press("4", "a")
        terminal.wait_for("live allocations in .* groups by name", "model/decoder.0/kv_cache")
        terminal.press("5")
        terminal.wait_for("12 identical banks", "IN BANK", "pool 1|pool 2", "░")
        terminal.press("z", "z")
        terminal.wait_for("zoom 4x")
        terminal.press("6")
        terminal.wait_for(r"\d\d:\d\d:\d\d\.\d{3} +\d+ +(allocation|free)")
        terminal.press("Space")
        terminal.wait_for("Events, paused")
        terminal.press("7")
        terminal.wait_for("0 failures")
        terminal.press("?")
        terminal.wait_for("Everywhere", "open a screen")
        if has_page:
            terminal.wait_for(r"Page +http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}")
        terminal.press("0")
        terminal.wait_for(r"DEV +BOARD")

        # Everything that the demo started ends with it.
        below = [one for one in children_of(pid)]
        self.assertIn("ttmemd", [name_of(one) for one in below])
        terminal.press("q")
        self.assert_no_residue(terminal, 0)
        for one in below:
            wait_until(lambda one=one: not os.path.exists(f"/proc/{one}"), f"process {one} ends")

    def test_enter_opens_the_card_of_a_failure_also_when_its_process_has_ended(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        simulator = self.simulator_at("case-02", "refused")
        self.top(terminal)
        terminal.press("7")
        terminal.wait_for("1 failure", r"1 +\w+ +\d+ +fragmented +l1")
        terminal.press("Enter")
        terminal.wait_for("Card 1: l1 of device 0", "Map around the largest free block", r"kv_cache\.0", absent="1 failure")
        terminal.press("Escape")
        terminal.wait_for("1 failure")
        simulator.close()
        terminal.wait_for("Processes that have ended", "1 card kept", absent="1 failure")
        terminal.press("Enter")
        terminal.wait_for("Card 1: l1 of device 0", "Map around the largest free block", absent="Processes that have ended")
        terminal.press("Escape", "q")
        self.assert_no_residue(terminal, 0)

    def test_filter_mark_and_groups_select_allocations(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        first = self.workload()
        self.top(terminal)
        terminal.press("4", "/")
        terminal.wait_for("Search: _")
        terminal.type("kv_cache")
        terminal.press("Enter")
        text = terminal.wait_for("name contains 'kv_cache'", "kv_cache", absent="embedding")
        self.assertIn("8 groups by name", text)
        terminal.press("g", "g")
        terminal.wait_for("groups? by kind", "dram")
        terminal.press("Escape", "G")
        terminal.wait_for("live allocations, all", "ADDRESS", "model/embedding")
        terminal.press("m")
        terminal.wait_for("Since the mark", "No matching allocations")
        second = self.workload()
        terminal.wait_for(r"Since the mark \S+ ago: [1-9]\d* live allocation", f" {second.pid} ", absent=rf" {first.pid}  ")
        terminal.press("M")
        terminal.wait_for("model/embedding", f" {first.pid} ", absent="Since the mark")

    def test_names_that_grow_from_mark_to_mark_are_shown_live_as_growing(self):
        terminal = self.terminal(120, 40)
        process = self.tracked_process('s = open_set([device(0xa1)])\nscope("decoder")')
        self.top(terminal)
        terminal.press("4", "w")
        terminal.wait_for("needs a running daemon")
        terminal.press("w")
        terminal.wait_for("no process has enough marks")
        for step in range(3):
            process.run(f'allocate(s, DRAM, {4096 * step}, 1000, 1024); mark("step")')
        terminal.wait_for("1 name grows from mark to mark", r"\+1\.0 KiB .* growing +dram .* decoder")
        process.run('allocate(s, DRAM, 4096 * 3, 1000, 1024); mark("step")')
        terminal.wait_for(r"\+1\.0 KiB +3\.0 KiB +4\.0 KiB +4 ")
        terminal.press("w")
        terminal.wait_for("1 group by name|in 1 group", absent="growing")

    def test_the_breakdown_shows_the_figures_of_the_view(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        self.workload()
        self.top(terminal, "top", "--screen", "1", "--device", "0")
        screen = terminal.wait_for("Device 0", "Total L1:", "L1 per core")
        device = self.json_of("status")["devices"][0]
        for title, kind in (("DRAM", "dram"), ("L1 Buffers", "l1"), ("CBs", "cb"), ("Kernels", "kernel"), ("Trace", "trace")):
            figures = device["memory"][kind]
            line = next(line for line in screen.splitlines() if line.strip().startswith(title + ":"))
            self.assertIn(f" {format_bytes(figures['used'])} ", line + " ")
            if figures["capacity"]:
                self.assertIn(f"/ {format_bytes(figures['capacity']):>9}", line)
            self.assertIn(format_bytes(figures["peak"]), line)
        worst = device["l1_worst_core"]
        line = next(line for line in screen.splitlines() if "Total L1:" in line)
        self.assertIn(f" {format_bytes(worst['used'])} / {format_bytes(worst['capacity']):>9}", line)
        self.assertIn(f"headroom {format_bytes(worst['headroom'])}", line)

    def test_it_starts_with_the_device_of_the_command_line(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        self.workload()
        device = self.json_of("status")["devices"][3]
        self.top(terminal, "top", "--screen", "1", "--device", device["asic_id"])
        terminal.wait_for(f"Device {device['id']}", "Total L1:")
        refused = self.ttmem("top", "--device", "0x99")
        self.assertEqual(refused.returncode, 4)
        self.assertIn("0x99", refused.stderr)

    def test_daemons_and_processes_may_end_and_start_while_it_runs(self):
        terminal = self.terminal()
        daemon = self.daemon("--quiet")
        first = self.workload()
        self.top(terminal)
        terminal.wait_for("1 tracked process", "daemon", str(first.pid))
        second = self.paused_simulator("tracking")
        terminal.wait_for("2 tracked processes", str(second.pid))
        second.kill()
        terminal.wait_for("1 tracked process ", absent=rf"(?m)^ *{second.pid} +\w+ +ttmem-sim")
        terminal.press("7", "p")
        terminal.wait_for("1 post-mortem", str(second.pid))
        terminal.press("Enter")
        terminal.wait_for(f"{second.pid}", "(?i)held")
        terminal.press("0")

        daemon.kill()
        terminal.wait_for("exact  direct", "The daemon is gone: reading directly", "n300", str(first.pid))
        terminal.press("4")
        terminal.wait_for("groups by name", "model/")
        self.daemon("--quiet")
        terminal.wait_for("exact  daemon", absent="STALE|is gone")
        terminal.press("0")
        terminal.wait_for(str(first.pid))

    def test_without_a_daemon_it_reads_the_host_directly_until_one_starts(self):
        terminal = self.terminal()
        workload = self.workload()
        self.top(terminal)
        terminal.wait_for("exact  direct", "1 tracked process", str(workload.pid))
        terminal.press("4")
        terminal.wait_for("groups by name", "model/")
        terminal.press("6")
        terminal.wait_for("This needs a running daemon")
        self.daemon("--quiet")
        terminal.wait_for("exact  daemon")
        terminal.wait_for(r"process started|allocation")

    def test_every_screen_works_on_an_empty_host(self):
        terminal = self.terminal()
        self.top(terminal)
        terminal.wait_for("no tracked process", "TT_ALLOC_TRACKING_ENABLED=1")
        for key in "1234567":
            terminal.press(key)
        terminal.wait_for("failures|no tracked process|Loading")
        terminal.press("q")
        self.assert_no_residue(terminal, 0)

    def test_signals_and_crashes_restore_the_terminal(self):
        self.terminal()
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGSEGV, 139),
                             (signal.SIGABRT, 134)):
            with self.subTest(signal=number):
                terminal = self.terminal()
                self.daemon("--quiet")
                self.workload()
                pid = self.top(terminal)
                terminal.wait_for("n300")
                os.kill(pid, number)
                self.assert_no_residue(terminal, code)

    def test_a_process_is_signalled_only_after_confirmation(self):
        terminal = self.terminal()
        self.daemon("--quiet")
        workload = self.workload()
        self.top(terminal)
        terminal.wait_for(str(workload.pid))
        terminal.press("Down", "F9")
        terminal.wait_for(f"Send SIGTERM to process {workload.pid}")
        terminal.press("n")
        terminal.wait_for(str(workload.pid), absent="Send SIGTERM")
        self.assertIsNone(workload.process.poll())
        terminal.press("F9")
        terminal.wait_for("Send SIGTERM")
        terminal.press("y")
        self.assertEqual(workload.process.wait(TIMEOUT), -signal.SIGTERM)
        terminal.wait_for("0 tracked processes|no tracked process")

    def test_it_adapts_to_every_size_of_the_terminal(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        self.workload()
        self.top(terminal)
        terminal.wait_for("4 Allocations")
        terminal.resize(80, 24)
        terminal.wait_for("4 Allocs", absent="4 Allocations")
        chance = random.Random(7)
        for _ in range(40):
            terminal.resize(chance.randint(1, 300), chance.randint(1, 100))
            terminal.press(str(chance.randint(0, 7)))
        terminal.resize(1, 1)
        terminal.resize(300, 100)
        terminal.press("0")
        text = terminal.wait_for("ttmem top  ", "4 Allocations", "DEV +BOARD", "n300")
        self.assertEqual(len(text.splitlines()[0].rstrip()), 300, "the clock stands in the last column")
        terminal.press("q")
        terminal.wait_for("code:0\n", absent="Overview")

    def test_it_works_without_utf8_and_without_colour(self):
        for environment in ({"LC_ALL": "C"}, {"LC_ALL": "C", "TERM": "vt100"}, {"NO_COLOR": "1"}, {"TERM": "xterm"},
                            {"TERM": "linux"}):
            with self.subTest(environment=environment):
                terminal = self.terminal(**environment)
                self.daemon("--quiet")
                self.workload()
                self.top(terminal)
                text = terminal.wait_for("n300", r"\[[#█▏-]")
                if environment.get("LC_ALL") == "C":
                    self.assertTrue(text.isascii(), text)
                terminal.press("2")
                text = terminal.wait_for("DRAM", "now")
                if environment.get("LC_ALL") == "C":
                    self.assertTrue(text.isascii(), text)
                terminal.press("q")
                terminal.wait_for("code:0\n", absent="Overview")

    def test_saved_settings_are_used_by_the_next_start(self):
        terminal = self.terminal()
        self.daemon("--quiet")
        self.workload()
        self.top(terminal)
        terminal.press("+", "2")
        terminal.wait_for("DRAM .*/", "1 s")
        terminal.press("F12")
        terminal.wait_for("Saved in .*top.json")
        terminal.press("q")
        terminal.wait_for("code:0\n")
        with open(os.path.join(terminal.folder.name, ".config/ttmem/top.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["interval_ms"], 1000)
        self.top(terminal)
        terminal.wait_for("1 s", "DRAM .*/", "now")

    def test_the_old_program_name_opens_it(self):
        terminal = self.terminal()
        self.daemon("--quiet")
        self.workload()
        old = os.path.join(terminal.folder.name, "tt_smi_umd")
        os.symlink(TTMEM, old)
        terminal.run("env", f"TTMEM_RUNTIME_DIR={self.directory.path}", old, "--sysfs")
        terminal.wait_for("ttmem top  ", "n300")
        terminal.press("q")
        terminal.wait_for("code:0", absent="ttmem top  ")
        terminal.run("env", f"TTMEM_RUNTIME_DIR={self.directory.path}", old, "--watch")
        terminal.wait_for("ttmem top  ", "n300")
        terminal.press("1")
        terminal.wait_for("Memory Breakdown")
        terminal.press("2")
        terminal.wait_for("Device 0", "now")

    def test_without_a_terminal_it_prints_an_error(self):
        done = self.ttmem("top")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^ttmem: no terminal .*ttmem status")
        terminal = self.terminal(TERM="screen")
        terminal.run("env", "TERM=nonsense", TTMEM, "top")
        terminal.wait_for("unknown terminal type", "code:1")

    def test_a_terminal_without_a_cursor_is_refused(self):
        terminal = self.terminal()
        terminal.run("env", "TERM=dumb", TTMEM, "top")
        terminal.wait_for("TERM is 'dumb'", "ttmem status", "code:1")

    def test_the_map_without_a_device_says_so(self):
        terminal = self.terminal()
        terminal.run("env", f"TTMEM_RUNTIME_DIR={self.directory.path}", TTMEM, "top", "-s", "5")
        terminal.wait_for("No devices yet.")
        terminal.press("q")

    def test_enter_goes_from_a_device_to_the_place_of_an_allocation_and_escape_back(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        workload = self.workload()
        self.top(terminal)
        terminal.wait_for("Processes, bytes summed", str(workload.pid), "Device 0 DRAM")
        terminal.press("Right", "Enter")
        terminal.wait_for("Processes on device 1", "Device 1 DRAM", str(workload.pid))
        terminal.press("Down", "Enter")
        terminal.wait_for(f"groups by name, device 1, process {workload.pid} only", "model/embedding")
        terminal.press("/")
        terminal.wait_for("Search: _")
        terminal.type("decoder.1/kv_cache")
        terminal.press("Enter")
        terminal.wait_for("1 group by name")
        terminal.press("Enter")
        terminal.wait_for("2 live allocations, device 1.*name contains 'model/decoder.1/kv_cache'", "ADDRESS")
        place = self.json_of("allocations", "--device", "1", "--name", "decoder.1/kv_cache")["allocations"][0]["address"]
        terminal.press("Enter")
        terminal.wait_for(f"dram of device.*1.*process {workload.pid}", f"{place:#x}: model/decoder.1/kv_cache, .* in each bank")
        for expected in ("2 live allocations, device 1", "groups? by name, device 1", "Processes on device 1",
                         "Processes, bytes summed"):
            terminal.press("Escape")
            terminal.wait_for(expected)

    def test_allocations_are_a_tree_and_growth_is_shown(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        self.workload()
        self.top(terminal)
        terminal.press("4", "t")
        terminal.wait_for("in a tree of scopes", r"- model", r"  - decoder\.0", "kv_cache")
        terminal.press("Space")
        terminal.wait_for(r"\+ model", absent="decoder")
        terminal.press("w")
        terminal.wait_for("names have changed in the last", r"\+\S+ [KMG]iB .* dram +model/embedding")
        terminal.press("Enter")
        terminal.wait_for("live allocations?, all devices, dram only", "name contains 'model/")
        grown = self.json_of("growth", "--kind", "dram", "--limit", "0")
        held = {}  # each allocation once, whatever the number of its devices
        for one in self.json_of("allocations", "--kind", "dram", "--limit", "0")["allocations"]:
            held[one["name"]] = held.get(one["name"], 0) + (0 if one["is_planned"] or one["view"] else one["used"])
        self.assertEqual({name["name"]: name["grown"] for name in grown["growth"]},
                         {name: used for name, used in held.items() if used},
                         "a process of the last minute has grown by all that it holds")

    def test_clicks_select_and_open(self):
        terminal = self.terminal()
        self.daemon("--quiet")
        workload = self.workload()
        self.top(terminal)
        lines = terminal.wait_for(rf"(?m)^ *{workload.pid} ").splitlines()
        row = next(i for i, line in enumerate(lines) if line.split()[:1] == [str(workload.pid)])
        terminal.click(row, 10)
        terminal.click(row, 10)
        terminal.wait_for(f"groups by name.*process {workload.pid} only")
        terminal.click(1, 2)
        terminal.wait_for("Processes, bytes summed")

    def test_a_button_that_is_released_later_does_not_stop_it(self):
        terminal = self.terminal()
        self.daemon("--quiet")
        self.workload()
        self.top(terminal)
        for pressed, released in ((32, 35), (33, 35), (34, 35)):  # left, middle, right
            for button in (pressed, released):
                time = self.clock_of(terminal.text())
                terminal.report_mouse(button, 10, 10)
                wait_until(lambda shown=time: self.clock_of(terminal.text()) != shown, "its clock goes on")

    @staticmethod
    def clock_of(screen: str) -> str:
        return re.search(r"\d\d:\d\d:\d\d", screen)[0]

    def test_lists_are_searched_and_reversed(self):
        terminal = self.terminal(120, 40)
        self.daemon("--quiet")
        workload = self.workload()
        self.top(terminal)
        terminal.wait_for(str(workload.pid))
        terminal.press("/")
        terminal.type("nobody")
        terminal.press("Enter")
        terminal.wait_for("those with 'nobody'", "No matching process")
        terminal.press("Escape")
        terminal.wait_for(rf"(?m)^ *{workload.pid} ", absent="nobody")
        terminal.press("4", "r")
        terminal.wait_for("reversed", absent="model/embedding")
        terminal.press("r")
        terminal.wait_for("model/embedding", absent="reversed")

    def test_a_galaxy_is_shown_as_its_mesh(self):
        terminal = self.terminal()
        self.daemon("--quiet")
        self.paused_simulator("lifetimes", "--board", "galaxy", "--devices", "32")
        self.top(terminal)
        terminal.wait_for("8x4 mesh", r"(?m)^ ?28 .* 29 .* 30 .* 31 ", "Device 0 DRAM", "ttmem-sim")

    def test_it_can_be_left_while_the_daemon_hangs(self):
        terminal = self.terminal()
        daemon = self.daemon("--quiet")
        self.workload()
        self.top(terminal)
        terminal.wait_for("n300")
        daemon.suspend()
        self.addCleanup(daemon.resume)
        terminal.press("4")
        terminal.wait_for("ttmem top  ")
        terminal.press("q")
        self.assert_no_residue(terminal, 0)


if __name__ == "__main__":
    main()
