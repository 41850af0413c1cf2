#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The routes of docs/API.md: each answers, pages add up to the list, and the command line shows the same either way."""

from harness.http_client import http_get
from harness.test_case import TestCase, main
from harness.waiting import wait_until

FILTERS = ("", "&sort=age", "&sort=address", "&sort=name", "&kind=cb", "&name=decoder.0", "&device=0")


class Routes(TestCase):
    def setUp(self):
        super().setUp()
        self.running_daemon = self.daemon()
        self.paused_simulator = self.simulator("transformer-dp4")
        for _ in range(4):
            self.paused_simulator.next()
        self.running_daemon.wait_for(self.paused_simulator.pid)

    def test_each_route_answers_in_schema_1(self):
        for path in ("status", "status?scan=false", "processes", "allocations", "allocations?group=name", "programs",
                     "failures", "post-mortems", "history", "events", "self"):
            status, document = http_get(self.running_daemon.api, f"/v1/{path}")
            self.assertEqual((status, document.get("schema"), document.get("source")), (200, 1, "daemon"), path)
        self.assertEqual(http_get(self.running_daemon.api, "/v1/health")[1]["status"], "ok")

    def test_wrong_requests_are_refused_and_the_error_names_the_cause(self):
        for path, status, word in (("nothing", 404, "/v1/status"), ("status?x=1", 400, "'x'"),
                                   ("allocations?limit=0", 400, "limit"), ("allocations?limit=18446744073709551616", 400, "limit"),
                                   ("allocations?cursor=zz", 400, "cursor"), ("allocations?kind=x", 400, "dram"),
                                   ("allocations?pid=1", 404, "1"), ("allocations?device=99", 404, "99"),
                                   ("history?since=-1", 400, "since"), ("post-mortems?pid=1", 404, "1")):
            got, document = http_get(self.running_daemon.api, f"/v1/{path}")
            self.assertEqual(got, status, path)
            self.assertIn(word, document["error"], path)
            code = "bad_request" if status == 400 else "unknown_address" if path == "nothing" else "not_found"
            self.assertEqual(document["code"], code, path)

    def test_pages_join_to_the_whole_list(self):
        for more in FILTERS:
            whole = self.running_daemon.get(f"/v1/allocations?limit=100000{more}")
            self.assertIsNone(whole["next"])
            pages, cursor = [], ""
            while cursor is not None:
                page = self.running_daemon.get(f"/v1/allocations?limit=37{more}" + (f"&cursor={cursor}" if cursor else ""))
                self.assertEqual(page["total"], whole["total"])
                pages += page["allocations"]
                cursor = page["next"]
            self.assertGreater(len(pages), 0, more)
            for one in pages + whole["allocations"]:
                del one["age_ns"]
            self.assertEqual(pages, whole["allocations"], more)

    def test_the_command_line_shows_the_same_with_and_without_a_daemon(self):
        for arguments in (("allocations", "--limit", "0"), ("allocations", "--name", "mlp", "--sort", "address"),
                          ("allocations", "--group", "scope"), ("allocations", "--group", "device"), ("ps",)):
            asked, direct = self.json_of(*arguments), self.json_of(*arguments, "--direct")
            self.assertEqual((asked.pop("source"), direct.pop("source")), ("daemon", "direct"))
            for document in (asked, direct):
                del document["time_ns"]
                document.pop("processes_missed", None)  # only a daemon counts them
                for one in document.get("allocations", []):
                    del one["age_ns"]
                for one in document.get("groups", []):
                    del one["oldest_age_ns"]
                for one in document.get("processes", []):
                    del one["events"], one["rss"]
            self.assertEqual(asked, direct, arguments)

    def test_history_has_a_sample_of_the_bytes_in_use(self):
        used = self.running_daemon.view()["devices"][0]["memory"]["dram"]["used"]
        wait_until(lambda: any(
            sample["used"] == used for series in self.running_daemon.get("/v1/history?device=0&kind=dram")["series"]
            for sample in series["samples"]), "a sample of the bytes in use")
        self.assertEqual(self.running_daemon.get("/v1/history?since=9999999999999999999")["series"][0]["samples"], [])


if __name__ == "__main__":
    main()
