#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two hostile users with several attacks at once, in an order that follows from a seed, while others must be served.

usage: mixed_attacks.py [SEED]
"""

import random
import sys
import time

from harness.attack_case import AttackCase
from harness.attacks import ATTACKS, launch
from harness.test_case import main
from harness.users import OTHER_STRANGER, STRANGER, needs_other_users
from harness.waiting import wait_until

SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else random.randrange(1_000_000)
ATTACKERS = (STRANGER, STRANGER - 2)
ROUNDS, MOST_AT_ONCE = 20, 5
assert OTHER_STRANGER not in ATTACKERS


@needs_other_users
class MixedAttacks(AttackCase):
    def test_others_are_served_whatever_the_attackers_do(self):
        print(f"seed {SEED}", file=sys.stderr)
        self.random = random.Random(SEED)
        daemon = self.daemon("--quiet", "--classic-wire", self.directory.classic)
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        running = []
        for _ in range(ROUNDS):
            if len(running) == MOST_AT_ONCE or (running and self.random.random() < 0.4):
                running.pop(self.random.randrange(len(running))).kill()
            elif process := self.start_attack():
                running.append(process)
            self.assert_serves_others(daemon, rounds=1)
            view = daemon.view()
            held, = self.process_in(view, honest.pid)["devices"]
            self.assertEqual(held["memory"]["dram"]["used"], 12288)
            self.assertFalse(self.inexact_codes(view, honest.pid))
            self.assert_small(daemon)
        for process in running:
            process.kill()
        wait_until(lambda: daemon.pids() == [honest.pid], "only the honest process is left")
        wait_until(lambda: self.processor_share(daemon) < 0.1, "the daemon is idle again")
        wait_until(lambda: daemon.view()["exact"], "the figures are exact again")

    def start_attack(self):
        name = self.random.choice(sorted(ATTACKS))
        numbers = {key: max(1, int(value * self.random.uniform(0.05, 1))) for key, value in ATTACKS[name].numbers.items()}
        uid = self.random.choice(ATTACKERS)
        print(f"  user {uid}: {name} {numbers}", file=sys.stderr)
        try:
            process = launch(name, self.directory, uid=uid, **numbers)
        except AssertionError as problem:
            print(f"    refused: {str(problem).strip().splitlines()[-1]}", file=sys.stderr)
            return None
        self.addCleanup(process.close)
        return process

    def processor_share(self, daemon) -> float:
        before, start = daemon.get("/v1/self")["cpu_ns"], time.monotonic_ns()
        time.sleep(1)
        return (daemon.get("/v1/self")["cpu_ns"] - before) / (time.monotonic_ns() - start)


if __name__ == "__main__":
    main()
