#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures recordings as a whole: bytes per event on the disk, and the processor time of the recorder.

usage: recording.py BIN-FOLDER BENCHMARKS-FOLDER OUTPUT.json [--quick]

Bytes: the scenario that opens a device and runs a transformer, once and repeatedly, and random churn. Time: a writer of 1,000,000 events
per second; its own rate is reported, because on a busy machine it does not reach that. It is recorded directly, through a daemon (daemon
and client together) and by the daemon's flight recorder; beside them stands a daemon that records nothing. Median of several runs.
"""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

from daemon import Host, end, wait_for

GOALS = {"transformer": 6, "churn": 12, "core_percent": 30}
LARGE_RING = str(1 << 18)  # so that other load on the machine loses no event


def cpu_seconds() -> float:
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def events_in(text: str) -> tuple[int, int]:
    recorded = int(re.search(r"recorded (\d+) event", text)[1])
    lost = re.search(r"; (\d+) events? (?:was|were) lost", text)
    return recorded, int(lost[1]) if lost else 0


def bytes_per_event(ttmem, simulator, environment, *scenario) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        done = subprocess.run([ttmem, "record", "-o", path, "--from-start", "--", simulator, *scenario], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
        events, lost = events_in(done.stderr)
        return {"bytes_per_event": round(os.path.getsize(path) / events, 2), "events": events, "lost": lost}


def cost(ttmem, load_program, environment, seconds) -> dict:
    """Of a recorder that reads a writer directly."""
    load = subprocess.Popen([load_program, "1", "50000", "1000000", "1000"], env=environment, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    assert load.stdout.readline() == "ready\n"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        before, start = cpu_seconds(), time.monotonic()
        done = subprocess.run([ttmem, "record", "--direct", "-o", path, "--pid", str(load.pid), "--seconds", str(seconds)],
                              env=environment, stderr=subprocess.PIPE, text=True, check=True)
        used, span = cpu_seconds() - before, time.monotonic() - start
        events, lost = events_in(done.stderr)
        size = os.path.getsize(path)
    load.stdin.close()
    load.stdout.read()
    load.wait()
    return shares(events, lost, used, span) | {"bytes_per_event": round(size / max(events, 1), 2)}


def cost_of_daemon(programs, benchmarks, seconds, way) -> dict:
    """Of a daemon beside a writer, and of what records through it."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--record", os.path.join(folder, "flight")) if way == "flight recorder" else ()
        with Host(programs, benchmarks, *options) as host:
            load = host.load(1, 50000, 1000000, ring=LARGE_RING)
            host.wait_for_loads()
            if way == "flight recorder":
                wait_for(lambda: host.ask("/v1/self")["flight_recorder"]["events"] > 0)
            before, client_before, start = host.ask("/v1/self"), cpu_seconds(), time.monotonic()
            if way == "through the daemon":
                done = subprocess.run([programs / "ttmem", "record", "-o", os.path.join(folder, "recording"), "--pid", str(load.pid),
                                       "--seconds", str(seconds)], env=host.environment, stderr=subprocess.PIPE, text=True, check=True)
            else:
                time.sleep(seconds)
            after, span = host.ask("/v1/self"), time.monotonic() - start
            used = (after["cpu_ns"] - before["cpu_ns"]) / 1e9 + cpu_seconds() - client_before
            end(load)
    if way == "through the daemon":
        events, lost = events_in(done.stderr)
    elif way == "flight recorder":
        events, lost = (after["flight_recorder"][name] - before["flight_recorder"][name] for name in ("events", "events_lost"))
    else:
        events, lost = (after[name] - before[name] for name in ("events_followed", "events_lost"))
    return shares(events, lost, used, span)


def shares(events, lost, used, span) -> dict:
    return {"events_per_second": round((events + lost) / span), "lost": lost, "core_percent": round(100 * used / span, 1),
            "core_percent_at_a_million": round(100 * used / (events + lost) * 1e6, 1)}


def median(measured: list[dict], name: str) -> dict:
    return sorted(measured, key=lambda one: one[name])[len(measured) // 2]


def main():
    programs, benchmarks, output = (pathlib.Path(word) for word in sys.argv[1:4])
    is_quick = "--quick" in sys.argv
    runs, seconds = (3, 2) if is_quick else (5, 5)
    ttmem, simulator = programs / "ttmem", programs / "ttmem-sim"
    environment = dict(os.environ, TTMEM_RUNTIME_DIR="/nonexistent", TT_ALLOC_TRACKING_ENABLED="1",
                       TTMEM_RING_RECORDS=LARGE_RING)
    result = {"goals": GOALS}
    for name, scenario in (("transformer once", ("transformer-dp4",)), ("transformer 500 times", ("transformer-dp4", "--repeat", "500")),
                           ("churn", ("churn", "--live", "50000", "--rate", "200000", "--seconds", str(seconds)))):
        measured = [bytes_per_event(ttmem, simulator, environment, *scenario) for _ in range(runs)]
        result[name] = median(measured, "bytes_per_event")
    measured = [cost(ttmem, benchmarks / "daemon_load", environment, seconds) for _ in range(runs)]
    result["cost, direct"] = median(measured, "core_percent_at_a_million")
    for way in ("daemon that records nothing", "through the daemon", "flight recorder"):
        measured = [cost_of_daemon(programs, benchmarks, seconds, way) for _ in range(runs)]
        result[f"cost, {way}"] = median(measured, "core_percent_at_a_million")
    output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
