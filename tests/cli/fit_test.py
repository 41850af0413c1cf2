#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem fit' on a process that allocates and frees while it is asked."""

import json

from harness.test_case import TestCase, main

BUSY = """
s = open_set([device(0xc1)], "my chip")
held = [allocate(s, DRAM, 1048640 + i * 8192, 1000, 12288, i) for i in range(5)]
def churn():
    while True:
        free(allocate(s, L1, 1048576, 64, 6400, 9))
"""


class BusyProcess(TestCase):
    def test_is_decided_where_only_other_pools_change(self):
        process = self.tracked_process(BUSY)
        process.start("churn()")
        for _ in range(20):
            done = self.ttmem("fit", "-d", "0", "--kind", "dram", "4096", "--json", "--direct")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            [answer] = json.loads(done.stdout)["allocators"]
            self.assertEqual((answer["answer"], answer["address"]), ("fits", 1048640 + 1024))
        process.kill()


if __name__ == "__main__":
    main()
