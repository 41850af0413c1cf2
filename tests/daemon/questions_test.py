#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The questions of docs/API.md: each is answered, pages join to the whole, and the command line says the same either way."""

import json
import os
import subprocess

import host

FILTERS = ("", "&sort=age", "&sort=address", "&sort=name", "&kind=cb", "&name=decoder.0", "&device=0")


class Questions(host.TestCase):
    def setUp(self):
        super().setUp()
        self.the_daemon = self.daemon()
        self.the_sim = self.sim("transformer-dp4")
        for _ in range(4):
            self.the_sim.next()
        self.the_daemon.wait_for(self.the_sim.pid)

    def ttmem(self, *arguments: str) -> dict:
        done = subprocess.run([host.TTMEM, *arguments, "--json"], capture_output=True, text=True, timeout=host.PATIENCE,
                              env=os.environ | {"TTMEM_RUNTIME_DIR": self.directory.path})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_each_is_answered_in_schema_1(self):
        for path in ("status", "status?scan=false", "processes", "allocations", "allocations?group=name", "programs",
                     "failures", "post-mortems", "history", "events", "self"):
            status, document = host.ask(self.the_daemon.api, f"/v1/{path}")
            self.assertEqual((status, document.get("schema"), document.get("source")), (200, 1, "daemon"), path)
        self.assertEqual(host.ask(self.the_daemon.api, "/v1/health")[1]["status"], "ok")

    def test_what_is_wrong_is_said_and_refused(self):
        for path, status, word in (("nothing", 404, "/v1/status"), ("status?x=1", 400, "'x'"),
                                   ("allocations?limit=0", 400, "limit"), ("allocations?limit=18446744073709551616", 400, "limit"),
                                   ("allocations?cursor=zz", 400, "cursor"), ("allocations?kind=x", 400, "dram"),
                                   ("allocations?pid=1", 404, "1"), ("allocations?device=99", 404, "99"),
                                   ("history?since=-1", 400, "since"), ("post-mortems?pid=1", 404, "1")):
            got, document = host.ask(self.the_daemon.api, f"/v1/{path}")
            self.assertEqual(got, status, path)
            self.assertIn(word, document["error"], path)

    def test_pages_join_to_the_whole_list(self):
        for more in FILTERS:
            whole = self.the_daemon.get(f"/v1/allocations?limit=100000{more}")
            self.assertIsNone(whole["next"])
            pages, cursor = [], ""
            while cursor is not None:
                page = self.the_daemon.get(f"/v1/allocations?limit=37{more}" + (f"&cursor={cursor}" if cursor else ""))
                self.assertEqual(page["total"], whole["total"])
                pages += page["allocations"]
                cursor = page["next"]
            self.assertGreater(len(pages), 0, more)
            for one in pages + whole["allocations"]:
                del one["age_ns"]
            self.assertEqual(pages, whole["allocations"], more)

    def test_the_command_line_says_the_same_with_the_daemon_and_without(self):
        for arguments in (("allocations", "--limit", "0"), ("allocations", "--name", "mlp", "--sort", "address"),
                          ("allocations", "--group", "scope"), ("allocations", "--group", "device"), ("ps",)):
            asked, direct = self.ttmem(*arguments), self.ttmem(*arguments, "--direct")
            self.assertEqual((asked.pop("source"), direct.pop("source")), ("daemon", "direct"))
            for document in (asked, direct):
                del document["time_ns"]
                for one in document.get("allocations") if isinstance(document.get("allocations"), list) else []:
                    del one["age_ns"]
                for one in document.get("groups", []):
                    del one["oldest_age_ns"]
                for one in document.get("processes", []) if isinstance(document.get("processes"), list) else []:
                    del one["events"]
            self.assertEqual(asked, direct, arguments)

    def test_samples_are_what_is_in_use(self):
        used = self.the_daemon.view()["devices"][0]["memory"]["dram"]["used"]
        host.wait_until(lambda: any(
            sample["used"] == used for series in self.the_daemon.get("/v1/history?device=0&kind=dram")["series"]
            for sample in series["samples"]), "a sample of what is in use")
        self.assertEqual(self.the_daemon.get("/v1/history?since=9999999999999999999")["series"][0]["samples"], [])


if __name__ == "__main__":
    host.main()
