#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merges the results of the benchmarks and sets them against the budgets, as ratios to yardsticks of the same run.

usage: report.py RESULTS-FOLDER OUTPUT.json
"""

import json
import pathlib
import sys


def medians(folder):
    """The median over the repetitions of each benchmark's own median, in ns."""
    result = {}
    for file in sorted(folder.glob("*_bench.json")):
        text = file.read_text()
        # Empty: the filter has left nothing of this program.
        for run in json.loads(text)["benchmarks"] if text.strip() else []:
            if run.get("aggregate_name") == "median" and "median_ns" in run:
                name = run["run_name"].split("/threads:1")[0]
                result[name] = run["median_ns"]
    return result


def observer_budget_rows(ns, start):
    """The same rows for the observer: an event beyond what the runtime takes, and the start of a process."""
    rows = []
    for what, name in (("buffer", "observed event"), ("named_buffer", "observed event with the name of an op")):
        alone, observed = ns.get(f"runtime_alone/{what}"), ns.get(f"runtime_observed/{what}")
        if alone is not None and observed is not None:
            rows.append((name, f"{observed - alone:.1f} ns", "<= 100 ns", observed - alone <= 100))
    for key, name, budget in (("first_call_ms", "first call that is observed", 5),
                              ("preloaded_without_tt_metal_ms", "start without tt-metal, preloaded", 0.2)):
        if key in start:
            rows.append((name, f"{start[key]:.2f} ms", f"<= {budget} ms", start[key] <= budget))
    return rows


# Before the client counted peaks that can start again.
INSTRUCTIONS_BEFORE = {"native": 153.0, "keyed": 348.5}


def instruction_rows(instructions):
    for way, name in (("native", "native event, instructions"), ("keyed", "address-keyed event, instructions")):
        if way in instructions:
            budget = INSTRUCTIONS_BEFORE[way] + 5
            yield name, f"{instructions[way]:.1f}", f"<= {budget:.1f}", instructions[way] <= budget


def python_rows(python):
    """What the Python package costs inside a process."""
    for way in ("reporting", "observed"):
        for key, name, budget in (("scope_us", "Python, a known scope", 3), ("memory_allocated_us", "Python, own bytes", 5)):
            value = python.get(way, {}).get(key)
            if value is not None:
                yield f"{name}, {way}", f"{value:.2f} us", f"<= {budget} us", value <= budget
    if "import_ms" in python:
        yield "Python, import", f"{python['import_ms']:.1f} ms", "<= 20 ms", python["import_ms"] <= 20


def integration_rows(integration):
    """An event of a tt-metal that reports by itself."""
    if "on_ns" in integration:
        yield "integration, event", f"{integration['on_ns']:.1f} ns", "<= 25 ns", integration["on_ns"] <= 25


def budget_rows(ns, instructions):
    """(what, figure, budget, met): a row whose parts were not measured in this run is left out."""
    send, floor, nothing = ns.get("socket_send"), ns.get("floor_of_an_event"), ns.get("off_nothing")
    rows = []

    def ratio(what, part, whole, budget):
        if part is not None and whole is not None:
            value = part / whole
            rows.append((what, f"{value:.4f}" if value < 1 else f"{value:.2f}", f"<= {budget:.4g}", value <= budget))

    for live in (64, 10_000):
        event = ns.get(f"native_warm/{live}")
        ratio(f"native event, {live:,} live / socket send", event, send, 1 / 12)
        ratio(f"native event, {live:,} live / its floor", event, floor, 4)
        ratio(f"address-keyed event, {live:,} live / socket send", ns.get(f"keyed_warm/{live}"), send, 1 / 6)
    ratio("mesh of 32 / one device", ns.get("native_mesh/32"), ns.get("native_mesh/1"), 1.2)
    if nothing is not None:
        for name, what, budget in (("off_asked_first", "tracking off, asked first", 1), ("off_called", "tracking off, called", 4)):
            if name in ns:
                cost = max(0.0, ns[name] - nothing)
                rows.append((what, f"{cost:.2f} ns", f"<= {budget} ns", cost <= budget))
    failing = ns.get("failing_call/100000/iterations:5/manual_time")
    if failing is not None:
        rows.append(("failing call, 100,000 live", f"{failing / 1e6:.2f} ms", "<= 5 ms", failing <= 5e6))
    if instructions:
        ratio("mesh of 32 / one device, instructions", instructions["mesh"], instructions["native"], 1.2)
    return rows


def recording_budget_rows(whole, moments):
    """Rows for recordings: bytes and processor time of an event, and the longest search for a moment."""
    rows = []
    goals = whole.get("goals", {})
    for name, goal in (("transformer once", "transformer"), ("transformer 500 times", "transformer"), ("churn", "churn")):
        if name in whole:
            size = whole[name]["bytes_per_event"]
            rows.append((f"recording of {name}, per event", f"{size:.2f} B", f"<= {goals[goal]} B", size <= goals[goal]))
    for way in ("direct", "through the daemon", "flight recorder"):
        if f"cost, {way}" in whole:
            share = whole[f"cost, {way}"]["core_percent_at_a_million"]
            rows.append((f"recording a million events/s, {way}", f"{share:.1f} %", f"<= {goals['core_percent']} %",
                         share <= goals["core_percent"]))
    for run in moments.get("benchmarks", []):
        if run["name"].startswith("show_moment/") and "worst_ms" in run:
            pattern, processes = (part.partition(":")[2] for part in run["name"].split("/")[1:3])
            what = f"longest seek, {processes} {'random' if pattern == '1' else 'regular'}"
            rows.append((what, f"{run['worst_ms']:.1f} ms", "<= 200 ms", run["worst_ms"] <= 200))
    return rows


def observer_rows(ns):
    """What an event costs more than the runtime alone, in ns: reported by the runtime itself, and observed."""
    for what in ("buffer", "named_buffer", "mesh_buffer", "launch_again"):
        alone = ns.get(f"runtime_alone/{what}")
        for way in ("reporting", "observed", "preloaded"):
            value = ns.get(f"runtime_{way}/{what}")
            if alone is not None and value is not None:
                yield f"{way}, {what}", value - alone


def result(folder, name):
    """What a benchmark wrote; nothing if it did not run."""
    file = folder / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    ns = medians(folder)
    instructions = result(folder, "instructions")
    daemon = result(folder, "daemon")
    classic = result(folder, "classic_wire")
    start = result(folder, "observer_start")
    python = result(folder, "python")
    integration = result(folder, "integration")
    whole = result(folder, "recording_whole")
    moments = result(folder, "recording")
    rows = [*budget_rows(ns, instructions), *instruction_rows(instructions), *observer_budget_rows(ns, start), *python_rows(python),
            *integration_rows(integration), *recording_budget_rows(whole, moments)]
    output.write_text(json.dumps({
        "median_ns": ns,
        "instructions_per_event": instructions,
        "observer_start": start,
        "integration": integration,
        "daemon": daemon,
        "classic_wire": classic,
        "python": python,
        "recording": whole,
        "budgets": [dict(zip(("what", "figure", "budget", "met"), row)) for row in rows],
    }, indent=1) + "\n")

    print("median, ns an operation")
    for name, value in ns.items():
        print(f"  {name:<42} {value:>10.2f}")
    print("instructions per event (callgrind)")
    for name, value in instructions.items():
        print(f"  {name:<42} {value:>10.1f}")
    for number, (what, value) in enumerate(observer_rows(ns)):
        if number == 0:
            print("the runtime's own calls, ns an event more than alone")
        print(f"  {what:<42} {value:>10.1f}")
    print("budgets")
    for what, figure, budget, met in rows:
        print(f"  {what:<48} {figure:>10}  {budget:<10} {'met' if met else 'NOT MET'}")
    print(f"written to {output}")


main()
