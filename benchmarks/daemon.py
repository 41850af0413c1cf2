#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures ttmemd as a whole: how fast it follows, how fast it answers, what it costs.

usage: daemon.py BIN-FOLDER BENCHMARKS-FOLDER OUTPUT.json [--quick]

Each figure stands beside a yardstick of the same run: an answer of a few bytes (/v1/health) for times, the events that the
writers wrote for events that were followed.
"""

import http.client
import json
import os
import pathlib
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

RING = str(1 << 21)


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Host:
    """A daemon in a directory of its own, and the processes that it watches."""

    def __init__(self, programs, benchmarks, *options):
        self.benchmarks = benchmarks
        self.folder = tempfile.TemporaryDirectory()
        self.environment = dict(os.environ, TTMEM_RUNTIME_DIR=self.folder.name, TT_ALLOC_TRACKING_ENABLED="1")
        self.daemon = subprocess.Popen([programs / "ttmemd", "--listen", "none", "--quiet", *options], env=self.environment,
                                       stdin=subprocess.DEVNULL)
        self.loads = []
        wait_for(lambda: os.path.exists(self.socket()))
        self.connection = Connection(self.socket())

    def socket(self):
        return os.path.join(self.folder.name, "api.sock")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for load in self.loads:
            if load.poll() is None:
                load.kill()
            load.wait()
        self.daemon.terminate()
        self.daemon.wait()
        self.folder.cleanup()

    def get(self, target):
        self.connection.request("GET", target)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (target, answer.status, body[:200])
        return body

    def ask(self, target):
        return json.loads(self.get(target))

    def load(self, devices, live, rate, names=1000, ring=None, last=()):
        environment = dict(self.environment, **({"TTMEM_RING_RECORDS": ring, "TTMEM_WRITERS": "2"} if ring else {}))
        process = subprocess.Popen([self.benchmarks / "daemon_load", str(devices), str(live), str(rate), str(names), *last],
                                   env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        self.loads.append(process)
        return process

    def pids(self):
        return {process["pid"] for process in self.ask("/v1/status?scan=false")["processes"]}

    def wait_for_loads(self):
        """Other tracked processes may be on this host: they don't matter."""
        wait_for(lambda: {load.pid for load in self.loads if load.poll() is None} <= self.pids())


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def end(process):
    """Lets a load end by itself; returns how many events it wrote, and in how many seconds."""
    process.stdin.close()
    words = process.stdout.readline().split()
    process.wait()
    return int(words[0]), int(words[3]) / 1e9


def percentiles(host, target, times):
    return timed(lambda: host.get(target), times)


def timed(call, times):
    values = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        values.append((time.perf_counter() - start) * 1e3)
    values.sort()
    return {"p50_ms": round(values[len(values) // 2], 3), "p99_ms": round(values[min(len(values) - 1, len(values) * 99 // 100)], 3)}


def following(programs, benchmarks, writers, rate, seconds):
    """Events that a daemon takes in from so many writers with large rings, and what is lost."""
    with Host(programs, benchmarks) as host:
        loads = [host.load(1, 1000, rate, ring=RING) for _ in range(writers)]
        host.wait_for_loads()
        before = host.ask("/v1/self")
        start = time.monotonic()
        time.sleep(seconds)
        after = host.ask("/v1/self")
        took = time.monotonic() - start
        written = [end(load) for load in loads]
        return {
            "followed_per_second": round((after["events_followed"] - before["events_followed"]) / took),
            "lost": after["events_lost"] - before["events_lost"],
            "written_per_second": round(sum(events / lasted for events, lasted in written)),
            "daemon_cpu_share": round((after["cpu_ns"] - before["cpu_ns"]) / took / 1e9, 3),
        }


QUESTIONS = {
    "health (yardstick)": "/v1/health",
    "totals": "/v1/status?scan=false",
    "grouping by name": "/v1/allocations?group=name&limit=100",
    "page of 1,000": "/v1/allocations?limit=1000",
}


def answering(programs, benchmarks, live, times):
    result = {}
    with Host(programs, benchmarks) as host:
        before = host.ask("/v1/self")["memory_bytes"]
        idle = host.load(1, live, 0)
        host.wait_for_loads()
        result["idle"] = {name: percentiles(host, target, times) for name, target in QUESTIONS.items()}
        memory = host.ask("/v1/self")
        result["memory_per_allocation_bytes"] = round((memory["memory_bytes"] - before) / live, 2)
        result["segment_bytes"] = memory["segment_bytes"]
        end(idle)
    with Host(programs, benchmarks) as host:
        busy = host.load(1, live, "max")
        host.wait_for_loads()
        result["under full load"] = {name: percentiles(host, target, times) for name, target in QUESTIONS.items()}
        end(busy)
    return result


# A request that fits, and one for which what to free is searched for: above what is live, and a whole bank; and where there are as many
# gaps as pairs of allocations, in one of them, and 16 MiB in each bank.
FITS = {
    "failing": {
        "fit that fits": f"/v1/fit?device=0&size={1 << 20}",
        "fit that does not fit": f"/v1/fit?device=0&size={12 << 30}&page={1 << 30}",
    },
    "fragmented": {
        "fit that fits": f"/v1/fit?device=0&size={12 << 12}",
        "fit that does not fit": f"/v1/fit?device=0&size={12 << 24}",
    },
}


def fitting(programs, benchmarks, live, times, how):
    """The answers to 'fit', and to 'why' with the card of a refused request; and the programs as a user runs them."""
    with Host(programs, benchmarks) as host:
        load = host.load(1, live, 0, last=(how,))
        host.wait_for_loads()
        for answer, target in FITS[how].items():
            assert host.ask(target)["answer"] == answer.removeprefix("fit that "), host.ask(target)
        why = "/v1/failures?limit=10"
        [failure] = host.ask(why)["failures"]
        assert failure["card"]["fix"] is not None, failure["card"]
        result = {name: percentiles(host, target, times) for name, target in {**FITS[how], "why": why}.items()}
        commands = {"ttmem fit": ["fit", "-d", "0", str(12 << 12)], "ttmem why --fix": ["why", "--fix"]}
        for name, words in commands.items():
            result[name] = whole_program([programs / "ttmem", *words], host.environment, times)
        end(load)
        return result


def whole_program(command, environment, times):
    def run():
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return timed(run, times)


def dying(programs, benchmarks, live, times):
    """From the kernel's word (a pidfd of our own is readable) to the first answer without the process."""
    values = []
    with Host(programs, benchmarks) as host:
        for _ in range(times):
            load = host.load(8, live, 0)
            host.wait_for_loads()
            handle = os.pidfd_open(load.pid)
            load.send_signal(signal.SIGKILL)
            select.select([handle], [], [])
            start = time.perf_counter()
            while load.pid in host.pids():
                pass
            values.append((time.perf_counter() - start) * 1e3)
            os.close(handle)
            load.wait()
    values.sort()
    return {"p50_ms": round(values[len(values) // 2], 2), "worst_ms": round(values[-1], 2)}


def idling(programs, benchmarks, processes, seconds):
    with Host(programs, benchmarks) as host:
        for _ in range(processes):
            host.load(32, 1000, 0)
        host.wait_for_loads()
        time.sleep(2)
        before = host.ask("/v1/self")
        time.sleep(seconds)
        after = host.ask("/v1/self")
        return {
            "cpu_share": round((after["cpu_ns"] - before["cpu_ns"]) / (after["uptime_ns"] - before["uptime_ns"]), 4),
            "memory_bytes": after["memory_bytes"],
        }


def keeping(programs, benchmarks, processes, seconds):
    """What history on disk costs: 32 devices and 64 processes, 128,000 events per second."""
    with Host(programs, benchmarks) as host:
        for _ in range(processes):
            host.load(32, 1000, 2000)
        host.wait_for_loads()
        tasks = pathlib.Path(f"/proc/{host.daemon.pid}/task")
        thread = next(task for task in tasks.iterdir() if (task / "comm").read_text() == "history-file\n")

        def figures():
            host.connection.close()  # the daemon closes it while nothing is asked
            return (int((thread / "schedstat").read_text().split()[0]), host.ask("/v1/self")["cpu_ns"], time.monotonic(),
                    int(dict(line.split(": ") for line in pathlib.Path(f"/proc/{host.daemon.pid}/io").read_text().splitlines())
                        ["write_bytes"]))
        wait_for(lambda: host.ask(f"/v1/history?pid={host.loads[-1].pid}")["series"])
        before = figures()
        time.sleep(seconds)
        after = figures()
        took = after[2] - before[2]
        folder = pathlib.Path(host.folder.name, "state", "history")
        host.daemon.terminate()
        host.daemon.wait()
        with sqlite3.connect(folder / "history.db") as database:
            kept = database.execute("SELECT max(second) - min(second) + 10 FROM samples").fetchone()[0]
            rows = database.execute("SELECT count(*) FROM samples").fetchone()[0]
            start = time.perf_counter()
            database.execute("PRAGMA quick_check").fetchall()
            checked = time.perf_counter() - start
        size = (folder / "history.db").stat().st_size
        return {
            "thread_cpu_share": round((after[0] - before[0]) / took / 1e9, 5),
            "daemon_cpu_share": round((after[1] - before[1]) / took / 1e9, 4),
            "file_bytes": size,
            "written_bytes_per_hour": round((after[3] - before[3]) / took * 3600),
            "samples_per_hour": round(rows / kept * 3600),
            "check_ms_per_mebibyte": round(checked * 1e3 / (size / (1 << 20)), 2),
        }


def main():
    programs, benchmarks, output = (pathlib.Path(word) for word in sys.argv[1:4])
    quick = "--quick" in sys.argv
    live = 1_000_000
    answers = answering(programs, benchmarks, live, 20 if quick else 100)
    result = {
        "following": {
            "1 writer, 6,000,000 a second": following(programs, benchmarks, 1, 6_000_000, 3),
            **{f"{writers} writers, all they can": following(programs, benchmarks, writers, "max", 3) for writers in (1, 4, 16)},
        },
        "answers at 1,000,000 live": answers,
        "fit and why at 100,000 live": fitting(programs, benchmarks, 100_000, 20 if quick else 100, "failing"),
        "fit and why with 50,000 gaps": fitting(programs, benchmarks, 100_000, 20 if quick else 100, "fragmented"),
        "SIGKILL to clean totals": dying(programs, benchmarks, 100_000, 5 if quick else 20),
        "idle with 32 devices and 64 processes": idling(programs, benchmarks, 64, 5 if quick else 10),
        "history on disk": keeping(programs, benchmarks, 64, 30 if quick else 120),
    }
    single = result["following"]["1 writer, 6,000,000 a second"]
    loaded = answers["under full load"]
    beyond_health = round(loaded["totals"]["p99_ms"] - loaded["health (yardstick)"]["p99_ms"], 3)
    budgets = [
        ("events followed a second, one busy writer", single["followed_per_second"], ">= 5000000",
         single["followed_per_second"] >= 5_000_000),
        ("events lost then", single["lost"], "== 0", single["lost"] == 0),
        ("totals under full load, beyond health, p99 ms", beyond_health, "<= 1", beyond_health <= 1),
        ("grouping under full load, p99 ms", loaded["grouping by name"]["p99_ms"], "<= 100",
         loaded["grouping by name"]["p99_ms"] <= 100),
        ("page of 1,000 under full load, beyond a scan of 100 ms, p99 ms", loaded["page of 1,000"]["p99_ms"], "<= 120",
         loaded["page of 1,000"]["p99_ms"] <= 120),
        ("daemon memory an allocation, bytes", answers["memory_per_allocation_bytes"], "<= 16",
         answers["memory_per_allocation_bytes"] <= 16),
        *((f"{what} at 100,000 live, p99 ms", figures["p99_ms"], "<= 50", figures["p99_ms"] <= 50)
          for what, figures in result["fit and why at 100,000 live"].items()),
        *((f"{what} with 50,000 gaps, p99 ms", figures["p99_ms"], "<= 50", figures["p99_ms"] <= 50)
          for what, figures in result["fit and why with 50,000 gaps"].items()),
        ("death to clean totals, worst ms", result["SIGKILL to clean totals"]["worst_ms"], "<= 100",
         result["SIGKILL to clean totals"]["worst_ms"] <= 100),
    ]
    result["budgets"] = [dict(zip(("what", "figure", "budget", "met"), row)) for row in budgets]
    output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({key: value for key, value in result.items() if key != "budgets"}, indent=1))
    for what, figure, budget, met in budgets:
        print(f"{'met    ' if met else 'NOT MET'} {what}: {figure} ({budget})")


if __name__ == "__main__":
    main()
