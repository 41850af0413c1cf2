#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of the dashboard: CPU time, that of the daemon included, memory, and growth of memory.

usage: top.py BIN-FOLDER BENCHMARKS-FOLDER OUTPUT.json [--quick] [--minutes N]

The host has 32 devices, 64 processes on all of them and 100,000 live allocations, and the dashboard refreshes twice per second:
once while no process allocates, once while every process allocates and frees. --minutes N then measures the growth of its memory
during N minutes under that load.
"""

import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from daemon import Host

DEVICES, PROCESSES, LIVE = 32, 64, 100_000
RATE = 2000  # events per second and process: every figure changes between two refreshes
SCREENS = {"overview": "0", "breakdown": "1", "charts": "2", "allocations": "4", "map": "5", "events": "6"}
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cpu_share(pid, seconds):
    cpu, start = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return round((cpu_seconds(pid) - cpu) / (time.monotonic() - start), 4)


class Top:
    """The dashboard on a terminal of 200 by 60 that discards the output."""

    def __init__(self, program, environment, *arguments):
        self.terminal, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        self.process = subprocess.Popen([program, "top", *arguments], stdin=other, stdout=other, stderr=other,
                                        env=environment | {"TERM": "screen-256color", "LC_ALL": "C.UTF-8"})
        os.close(other)
        self.written = 0

    def press(self, key):
        os.write(self.terminal, key.encode())

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                try:
                    self.written += len(os.read(self.terminal, 65536))
                except OSError:  # it has ended
                    return

    def memory_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

    def measure(self, daemon, seconds):
        self.watch(3)  # until the screen has settled
        cpu, daemon_cpu = cpu_seconds(self.process.pid), cpu_seconds(daemon)
        start, written = time.monotonic(), self.written
        self.watch(seconds)
        took = time.monotonic() - start
        return {"cpu_share": round((cpu_seconds(self.process.pid) - cpu) / took, 4),
                "daemon_cpu_share": round((cpu_seconds(daemon) - daemon_cpu) / took, 4),
                "memory_bytes": self.memory_bytes(), "written_bytes_per_second": round((self.written - written) / took)}

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.watch(1)
        self.process.wait()
        os.close(self.terminal)


def on_host(programs, benchmarks, rate, seconds, minutes=0):
    with Host(programs, benchmarks) as host:
        for _ in range(PROCESSES):
            host.load(DEVICES, LIVE // PROCESSES, rate, names=100)
        host.wait_for_loads()
        time.sleep(3)  # until the daemon has read all ledgers
        result = {"without a dashboard": {"daemon_cpu_share": cpu_share(host.daemon.pid, seconds)}}
        top = Top(programs / "ttmem", host.environment, "--refresh", "500")
        for name, key in SCREENS.items():
            top.press(key)
            result[name] = top.measure(host.daemon.pid, seconds)
        if minutes:
            top.press("0")
            top.watch(30)  # until the histories of the charts have their memory
            before = top.memory_bytes()
            top.watch(minutes * 60)
            result["growth"] = {"minutes": minutes, "before_bytes": before, "after_bytes": top.memory_bytes()}
        top.close()
        return result


def main():
    programs, benchmarks, output = (pathlib.Path(word) for word in sys.argv[1:4])
    quick = "--quick" in sys.argv
    minutes = float(sys.argv[sys.argv.index("--minutes") + 1]) if "--minutes" in sys.argv else 0
    seconds = 4 if quick else 10
    result = {
        "nothing happens": on_host(programs, benchmarks, 0, seconds),
        "every process allocates and frees": on_host(programs, benchmarks, RATE, seconds, minutes),
    }
    budgets = {"cpu_share": ("dashboard", 0.02), "daemon_cpu_share": ("daemon", 0.05)}
    result["budgets"] = [
        {"what": f"share of a core, {program}, {screen}, {when}", "figure": figures[name], "budget": f"<= {budget}",
         "met": figures[name] <= budget}
        for name, (program, budget) in budgets.items()
        for when, screens in result.items() for screen, figures in screens.items() if name in figures]
    output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
