#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What another user notices of a hostile one: each figure on a quiet host and under each attack of tests/harness/attacks.py.

usage: attack.py OUTPUT.json [--quick] [ATTACK ...]      (with PYTHONPATH=tests and the paths of harness/programs.py)
"""

import json
import os
import subprocess
import sys
import time

from harness.attack_case import HOLD
from harness.attacks import ATTACKS, launch
from harness.daemon import Daemon, RuntimeDirectory
from harness.programs import TTMEM
from harness.tracked_process import TrackedProcess
from harness.users import OTHER_STRANGER, may_become_other_users
from harness.waiting import wait_until

QUIET = "quiet"
# Milliseconds, except for idle_s.
GOALS = {"health_p99": 100, "status_p99": 100, "query_p99": 100, "direct": 1000, "attach": 200, "idle_s": 10}
IDLE_SHARE, IDLE_WINDOW, LONGEST_WAIT = 0.05, 0.5, 60.0
MOST_MEMORY = 256  # MiB

# The questions in turn, so that each meets every phase of the attack.
ASK = """
import time
from harness.classic_client import QUERY, Wire
from harness.http_client import http_get_text
wire = Wire({classic!r})
questions = {{"health": lambda: http_get_text({api!r}, "/v1/health"), "status": lambda: http_get_text({api!r}, "/v1/status"),
              "query": lambda: wire.ask(QUERY)}}
answer = {{name: [] for name in questions}}
end = time.perf_counter() + {seconds}
while time.perf_counter() < end:
    for name, ask in questions.items():
        start = time.perf_counter()
        ask()
        answer[name].append((time.perf_counter() - start) * 1e3)
"""


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)


def processor_ns(daemon: Daemon) -> int:
    return daemon.get("/v1/self")["cpu_ns"]


def memory_mebibytes(daemon: Daemon) -> int:
    with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
        values = dict(line.split(":", 1) for line in file)
    return (int(values["RssAnon"].split()[0]) + int(values["RssShmem"].split()[0])) >> 10


def attach_ms(daemon: Daemon, directory: RuntimeDirectory) -> float:
    with TrackedProcess("", directory.path, uid=OTHER_STRANGER) as newcomer:
        start = time.perf_counter()
        newcomer.run(HOLD.format(asic=0xA000, bytes=12288))
        wait_until(lambda: newcomer.pid in daemon.pids(), "an honest process is attached", interval=0.001)
        return (time.perf_counter() - start) * 1e3


def direct_ms(directory: RuntimeDirectory) -> float:
    start = time.perf_counter()
    done = subprocess.run([TTMEM, "status", "--direct"], capture_output=True,
                          env=os.environ | {"TTMEM_RUNTIME_DIR": directory.path})
    assert done.returncode == 0, done.stderr
    return (time.perf_counter() - start) * 1e3


def seconds_until_idle(daemon: Daemon) -> float:
    start = time.perf_counter()
    while True:
        before, window = processor_ns(daemon), time.perf_counter()
        time.sleep(IDLE_WINDOW)
        share = (processor_ns(daemon) - before) / 1e9 / (time.perf_counter() - window)
        if share < IDLE_SHARE or window - start > LONGEST_WAIT:
            return round(window - start, 1)


def measure(name: str, seconds: float, times: int) -> dict:
    directory = RuntimeDirectory()
    daemon = Daemon(directory, "--quiet", "--classic-wire", directory.classic)
    attacker = asker = None
    try:
        attacker = launch(name, directory) if name != QUIET else None
        asker = TrackedProcess("", uid=OTHER_STRANGER, tracked=False)
        asked = asker.run(ASK.format(api=directory.api, classic=directory.classic, seconds=seconds))
        result = {f"{question}_{key}": percentile(values, share) for question, values in asked.items()
                  for key, share in (("p50", 0.5), ("p99", 0.99))}
        result["attach"] = round(max(attach_ms(daemon, directory) for _ in range(times)), 1)
        result["direct"] = round(max(direct_ms(directory) for _ in range(times)), 1)
        result["memory_mib"] = memory_mebibytes(daemon)
        if attacker:
            attacker.kill()
        result["idle_s"] = seconds_until_idle(daemon)
        return result
    finally:
        for process in (asker, attacker):
            if process:
                process.close()
        daemon.close()
        directory.remove()


def row(name: str, figures: dict) -> str:
    def pair(question: str) -> str:
        return f"{figures[question + '_p50']:g} / {figures[question + '_p99']:g}"
    return (f"| {name} | {pair('health')} | {pair('status')} | {pair('query')} | {figures['direct']:g} | {figures['attach']:g} | "
            f"{figures['idle_s']:g} | {figures['memory_mib']} |")


def main():
    output, *words = sys.argv[1:]
    if not may_become_other_users():
        print("attacks: skipped, they need root, to become other users")
        return
    quick = "--quick" in words
    names = [word for word in words if word != "--quick"] or list(ATTACKS)
    result = {}
    print("| attack | health p50 / p99, ms | status, ms | QUERY, ms | `--direct`, ms | attach, ms | idle after, s | MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for name in [QUIET, *names]:
        result[name] = measure(name, 2 if quick else 5, 3 if quick else 10)
        print(row(name, result[name]), flush=True)
    missed = [(name, key, figures[key]) for name, figures in result.items() for key, goal in GOALS.items() if figures[key] > goal]
    missed += [(name, "memory_mib", figures["memory_mib"]) for name, figures in result.items()
               if figures["memory_mib"] >= MOST_MEMORY]
    for name, key, figure in missed:
        print(f"NOT MET {name}: {key} {figure} (goal {GOALS.get(key, MOST_MEMORY)})")
    print(f"goals: {'all met' if not missed else f'{len(missed)} not met'}")
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"figures": result, "goals": GOALS, "missed": missed}, file, indent=1)


if __name__ == "__main__":
    main()
