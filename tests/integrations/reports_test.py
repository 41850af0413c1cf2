#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The inserted calls on a stand-in of tt-metal: at each step ttmem shows what the stand-in holds by its own account.

    reports_test.py <C++ compiler>
"""

import json
import os
import subprocess
import sys
import unittest

from harness.programs import LIB
from harness.test_case import TestCase
from harness.waiting import TIMEOUT, LineReader
from stand_in import StandIn

COMPILER = sys.argv.pop(1)
STEPS = 15


def live_line(each: dict) -> str:
    flags = (" planned" if each["is_planned"] else "") + (" view" if each["view"] else "") + (f" {each['cb_type']}" if each["cb_type"] else "")
    return (f"{each['set']} {each['kind']} at {each['address']} requested {each['requested']} used {each['used']}{flags} "
            f"owner {each['owner']} name {each['name'] or ''}")


def failure_line(each: dict) -> str:
    if each["type"] == "cb_clash":
        return f"clash of {each['program']} ends {each['cb_end']} lowest {each['lowest_buffer'] or each['l1_end']}"
    return (f"no room for {each['requested']} needed {each['needed']} free {each['free']} "
            f"largest {each['largest_free']}")


class Reports(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stand_in = StandIn()
        cls.addClassCleanup(cls.stand_in.close)
        done = cls.stand_in.integrate("insert")
        assert done.returncode == 0, done.stderr
        cls.stand_in.add_other_headers()
        cls.program = cls.stand_in.compile(COMPILER, LIB)
        cls.truth = os.path.join(cls.stand_in.folder.name, "truth")

    def start(self, **variables: str) -> subprocess.Popen:
        process = subprocess.Popen([self.program, self.truth], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(**variables))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def answer(self, *arguments: str) -> dict:
        return json.loads(self.output_of(*arguments, "--json"))

    def test_at_each_step_it_is_equal(self):
        process = self.start(TT_ALLOC_TRACKING_ENABLED="1")
        lines, steps = LineReader(process.stdout.fileno()), 0
        while lines.next() is not None:
            with open(self.truth) as accounts:
                truth = json.loads(accounts.readlines()[-1])
            text, live, failures = truth["step"], truth["live"], truth["failures"]
            seen = self.answer("allocations", "--limit", "0", "--pid", str(process.pid))
            self.assertEqual(sorted(live_line(each) for each in seen["allocations"]), sorted(live), text)
            self.assertEqual((seen["exact"], seen["inexact"]), (True, []), text)
            devices = self.answer("status")["devices"]
            if text == "open":
                self.assertEqual([each["asic_id"] for each in devices], ["0xa51c00", "0xa51c01"])
                self.assertEqual([each["memory"]["dram"]["capacity"] for each in devices], [4194304 * 12] * 2)
            refused = self.answer("why", "--pid", str(process.pid)) if failures else {"failures": []}
            self.assertEqual(sorted(failure_line(each) for each in refused["failures"]), sorted(failures), text)
            for request in (each["card"]["request"] for each in refused["failures"] if each["card"] and each["needed"]):
                self.assertIsNotNone(request["page"], text)
                self.assertIsNotNone(request["banks"], text)
                self.assertIn(request["direction"], ("bottom_up", "top_down"), text)
            steps += 1
            process.stdin.write(b"\n")
            process.stdin.flush()
        self.assertEqual(steps, STEPS)
        self.assertEqual((process.wait(TIMEOUT), process.stderr.read()), (0, b""))

    def test_it_is_silent_where_tracking_is_off(self):
        done = subprocess.run([self.program, os.devnull], input=b"\n" * STEPS, capture_output=True, timeout=TIMEOUT,
                              env={name: value for name, value in os.environ.items() if name != "TT_ALLOC_TRACKING_ENABLED"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
