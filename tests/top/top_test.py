#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboard from end to end: keys, filters, marks, resizing, a daemon that goes and comes, and what is left of it."""

import json
import os
import random
import signal
import subprocess
import unittest

from terminal import Terminal, child, children_of, name_of, wait_until

BIN = os.environ["TTMEM_BIN_DIR"]
TTMEM, TTMEMD, SIM = (os.path.join(BIN, name) for name in ("ttmem", "ttmemd", "ttmem-sim"))


def format_bytes(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    amount = count / 1024
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 999.95:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return "too much"


class Dashboard(unittest.TestCase):
    maxDiff = None

    def terminal(self, columns: int = 80, rows: int = 24, **environment: str) -> Terminal:
        terminal = Terminal(columns, rows, **environment)
        self.addCleanup(terminal.close)
        self.runtime = os.path.join(terminal.folder.name, "run")
        os.mkdir(self.runtime, 0o700)
        return terminal

    def environment(self) -> dict:
        return os.environ | {"TTMEM_RUNTIME_DIR": self.runtime, "TT_ALLOC_TRACKING_ENABLED": "1"}

    def started(self, *command: str, **options) -> subprocess.Popen:
        process = subprocess.Popen(command, env=self.environment(), stdin=subprocess.PIPE, **options)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdin.close()
            if process.stdout:
                process.stdout.close()
        self.addCleanup(end)
        return process

    def daemon(self, runtime: str | None = None) -> subprocess.Popen:
        runtime = runtime or self.runtime
        process = self.started(TTMEMD, "--quiet", "--listen", "none", "--runtime-dir", runtime, "--classic-wire", "none")
        wait_until(lambda: os.path.exists(os.path.join(runtime, "api.sock")), "the daemon's socket")
        return process

    def workload(self, *arguments: str) -> subprocess.Popen:
        """Stands still at a busy moment."""
        arguments = arguments or ("transformer-dp4", "--board", "t3000", "--pause-at", "decode 1")
        process = self.started(SIM, *arguments, stdout=subprocess.PIPE, text=True)
        while "paused" not in (line := process.stdout.readline()):
            self.assertTrue(line, "the workload ended")
        return process

    def top(self, terminal: Terminal, *arguments: str, program: str = TTMEM) -> int:
        """Starts it; returns its pid."""
        terminal.run("env", f"TTMEM_RUNTIME_DIR={self.runtime}", program, *(arguments or ("top",)))
        terminal.wait_for("ttmem top  ")
        return child(terminal.shell(), "ttmem")

    def assert_no_residue(self, terminal: Terminal, code: int):
        """The screen is the shell's again, and so are the terminal's settings."""
        text = terminal.wait_for(f"code:{code}\n", absent="ttmem top  |Overview")  # not what was typed
        self.assertNotRegex(text, "n300|DRAM|[█░⣿]")
        terminal.run("stty", "-a")
        settings = terminal.wait_for("speed", "icanon", "echo ", r"(?s)extproc.*code:0\n")
        self.assertRegex(settings, r"[ ;]icanon")
        self.assertRegex(settings, r"[ ;]echo ")
        cursor = terminal.tmux("display-message", "-p", "-t", "test", "#{cursor_flag} #{alternate_on}")
        self.assertEqual(cursor.split(), ["1", "0"], "the cursor is seen, and the first screen is back")

    def test_demo_with_every_key(self):
        terminal = self.terminal()
        terminal.run(TTMEM, "demo")
        terminal.wait_for(r"DEV +BOARD", "n300", "ttmem-sim", "1 tracked process", "daemon")
        pid = child(terminal.shell(), "ttmem")

        terminal.press("1")
        terminal.wait_for("Memory Breakdown", "L1 Buffers:", "CBs:", "Kernels:", "Total L1:", "L1 of each core")
        terminal.press("2")
        terminal.wait_for("Device 0", "DRAM .* / 12.0 GiB", "L1 core", "now", "[⣿⣀]")
        terminal.press("a")
        terminal.wait_for("process started")
        terminal.press("d")
        terminal.wait_for("Device 1", absent="Device 0")
        terminal.press("3")
        terminal.wait_for("there is no telemetry")
        terminal.press("a", "4")
        terminal.wait_for("live allocations in .* groups by name", "model/decoder.0/kv_cache")
        terminal.press("5")
        terminal.wait_for("12 banks alike", "IN BANK", "pool 1|pool 2", "░")
        terminal.press("z", "z")
        terminal.wait_for("zoom 4x")
        terminal.press("6")
        terminal.wait_for(r"\d\d:\d\d:\d\d\.\d{3} +\d+ +(allocation|free)")
        terminal.press("Space")
        terminal.wait_for("Events, paused")
        terminal.press("7")
        terminal.wait_for("0 failures")
        terminal.press("?")
        terminal.wait_for("Everywhere", "the screens, by their numbers")
        terminal.press("0")
        terminal.wait_for(r"DEV +BOARD")

        # Everything that the demonstration started goes with it.
        below = [one for one in children_of(pid)]
        self.assertIn("ttmemd", [name_of(one) for one in below])
        terminal.press("q")
        self.assert_no_residue(terminal, 0)
        for one in below:
            wait_until(lambda one=one: not os.path.exists(f"/proc/{one}"), f"process {one} ends")

    def test_filter_mark_and_groups(self):
        terminal = self.terminal(120, 40)
        self.daemon()
        first = self.workload()
        self.top(terminal)
        terminal.press("4", "/")
        terminal.wait_for("Filter: _")
        terminal.type("kv_cache")
        terminal.press("Enter")
        text = terminal.wait_for("with 'kv_cache' in the name", "kv_cache", absent="embedding")
        self.assertIn("8 groups by name", text)
        terminal.press("g", "g")
        terminal.wait_for("groups? by kind", "dram")
        terminal.press("Escape", "G")
        terminal.wait_for("live allocations by used", "ADDRESS", "model/embedding")
        terminal.press("m")
        terminal.wait_for("Since the mark", "Nothing that was asked for is live")
        second = self.workload()
        terminal.wait_for(r"Since the mark, \S+ ago: [1-9]\d* live allocation", f" {second.pid} ", absent=rf" {first.pid}  ")
        terminal.press("M")
        terminal.wait_for("model/embedding", f" {first.pid} ", absent="Since the mark")

    def test_figures_are_those_of_the_view(self):
        terminal = self.terminal(120, 40)
        self.daemon()
        self.workload()
        self.top(terminal, "top", "--screen", "1", "--device", "0")
        screen = terminal.wait_for("Device 0", "Total L1:", "L1 of each core")
        done = subprocess.run([TTMEM, "status", "--json"], env=self.environment(), capture_output=True, text=True, check=True)
        device = json.loads(done.stdout)["devices"][0]
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

    def test_it_begins_with_the_device_that_is_named(self):
        terminal = self.terminal(120, 40)
        self.daemon()
        self.workload()
        done = subprocess.run([TTMEM, "status", "--json"], env=self.environment(), capture_output=True, text=True, check=True)
        device = json.loads(done.stdout)["devices"][3]
        self.top(terminal, "top", "--screen", "1", "--device", device["asic_id"])
        terminal.wait_for(f"Device {device['id']}", "Total L1:")
        refused = subprocess.run([TTMEM, "top", "--device", "0x99"], env=self.environment(), capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("0x99", refused.stderr)

    def test_a_daemon_goes_and_comes_and_so_do_processes(self):
        terminal = self.terminal()
        daemon = self.daemon()
        first = self.workload()
        self.top(terminal)
        terminal.wait_for("1 tracked process", "daemon", str(first.pid))
        second = self.workload("tracking", "--pause-at", "all")
        terminal.wait_for("2 tracked processes", str(second.pid))
        second.kill()
        second.wait()
        terminal.wait_for("1 tracked process ", absent=rf"(?m)^ *{second.pid} +\w+ +ttmem-sim")
        terminal.press("7", "p")
        terminal.wait_for("1 post-mortem", str(second.pid))
        terminal.press("Enter")
        terminal.wait_for(f"{second.pid}", "(?i)held")
        terminal.press("0")

        daemon.kill()
        daemon.wait()
        terminal.wait_for(r"STALE \d+s", "The daemon is gone since", "n300", str(first.pid))
        terminal.press("1")
        terminal.wait_for("Memory Breakdown", "STALE", "12.0 GiB")
        self.daemon()
        terminal.wait_for("exact  daemon", absent="STALE|gone since")
        terminal.press("0")
        terminal.wait_for(str(first.pid))

    def test_without_a_daemon_it_looks_by_itself_until_one_comes(self):
        terminal = self.terminal()
        workload = self.workload()
        self.top(terminal)
        terminal.wait_for("exact  direct", "1 tracked process", str(workload.pid))
        terminal.press("4")
        terminal.wait_for("groups by name", "model/")
        terminal.press("6")
        terminal.wait_for("no daemon runs")
        self.daemon()
        terminal.wait_for("exact  daemon")
        terminal.wait_for(r"process started|allocation")

    def test_nobody_and_nothing(self):
        terminal = self.terminal()
        self.top(terminal)
        terminal.wait_for("no tracked process", "TT_ALLOC_TRACKING_ENABLED=1")
        for key in "1234567":
            terminal.press(key)
        terminal.wait_for("failures|no tracked process|Asking")
        terminal.press("q")
        self.assert_no_residue(terminal, 0)

    def test_signals_and_crashes_leave_the_terminal_as_it_was(self):
        self.terminal()
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGSEGV, 139),
                             (signal.SIGABRT, 134)):
            with self.subTest(signal=number):
                terminal = self.terminal()
                self.daemon()
                self.workload()
                pid = self.top(terminal)
                terminal.wait_for("n300")
                os.kill(pid, number)
                self.assert_no_residue(terminal, code)

    def test_a_process_is_signalled_after_a_yes(self):
        terminal = self.terminal()
        self.daemon()
        workload = self.workload()
        self.top(terminal)
        terminal.wait_for(str(workload.pid))
        terminal.press("Down", "F9")
        terminal.wait_for(f"Send SIGTERM to process {workload.pid}")
        terminal.press("n")
        terminal.wait_for(str(workload.pid), absent="Send SIGTERM")
        self.assertIsNone(workload.poll())
        terminal.press("F9")
        terminal.wait_for("Send SIGTERM")
        terminal.press("y")
        self.assertEqual(workload.wait(), -signal.SIGTERM)
        terminal.wait_for("0 tracked processes|no tracked process")

    def test_resizing_while_it_runs(self):
        terminal = self.terminal(120, 40)
        self.daemon()
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

    def test_without_utf8_and_without_colour(self):
        for environment in ({"LC_ALL": "C"}, {"LC_ALL": "C", "TERM": "vt100"}, {"NO_COLOR": "1"}, {"TERM": "xterm"},
                            {"TERM": "linux"}):
            with self.subTest(environment=environment):
                terminal = self.terminal(**environment)
                self.daemon()
                self.workload()
                self.top(terminal)
                text = terminal.wait_for("n300", r"\[[#█]")
                if environment.get("LC_ALL") == "C":
                    self.assertTrue(text.isascii(), text)
                terminal.press("2")
                text = terminal.wait_for("DRAM", "now")
                if environment.get("LC_ALL") == "C":
                    self.assertTrue(text.isascii(), text)
                terminal.press("q")
                terminal.wait_for("code:0\n", absent="Overview")

    def test_settings_are_saved_and_found_again(self):
        terminal = self.terminal()
        self.daemon()
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

    def test_the_old_name_opens_it_too(self):
        terminal = self.terminal()
        self.daemon()
        self.workload()
        old = os.path.join(terminal.folder.name, "tt_smi_umd")
        os.symlink(TTMEM, old)
        terminal.run("env", f"TTMEM_RUNTIME_DIR={self.runtime}", old, "-w")
        terminal.wait_for("ttmem top  ", "n300")
        terminal.press("1")
        terminal.wait_for("Memory Breakdown")
        terminal.press("2")
        terminal.wait_for("Device 0", "now")

    def test_where_there_is_no_terminal_it_says_so(self):
        self.runtime = "/nonexistent"
        done = subprocess.run([TTMEM, "top"], env=self.environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^ttmem: there is no terminal here .*ttmem status")
        terminal = self.terminal(TERM="screen")
        terminal.run("env", "TERM=nonsense", TTMEM, "top")
        terminal.wait_for("this terminal is not known", "code:1")

    def test_a_daemon_that_hangs_keeps_nobody_from_leaving(self):
        terminal = self.terminal()
        daemon = self.daemon()
        self.workload()
        self.top(terminal)
        terminal.wait_for("n300")
        daemon.send_signal(signal.SIGSTOP)
        self.addCleanup(daemon.send_signal, signal.SIGCONT)
        terminal.press("4")
        terminal.wait_for("ttmem top  ")
        terminal.press("q")
        self.assert_no_residue(terminal, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
