#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Failure cards: what the bank held when a request failed, through unwinding, death, restart and a full disk."""

import json
import os

from harness.programs import SIMULATOR
from harness.test_case import TestCase, main
from harness.users import OTHER_STRANGER, STRANGER, needs_other_users
from harness.waiting import wait_until

HOLDER = """
s = open_set([device({asic:#x})], "my chip")
scope("decoder.3")
held = [allocate(s, DRAM, 1048640 + i * 8192, 1000, 12288, i) for i in range(5)]
def fail():
    allocation_failed(s, DRAM, 4096, 4096, 64, 32)
"""


class Cards(TestCase):
    def holder(self, asic: int = 0xc1, **options):
        return self.tracked_process(HOLDER.format(asic=asic), **options)

    def only_failure(self, *arguments: str) -> dict:
        failures = self.json_of("why", *arguments)["failures"]
        self.assertEqual(len(failures), 1)
        return failures[0]

    def test_a_card_shows_what_was_held_after_all_of_it_is_freed(self):
        process = self.holder()
        process.run("fail()\nfor handle in held: free(handle)")
        card = self.only_failure("--direct")["card"]
        self.assertEqual([block["owner"] for block in card["blocks"] if not block["is_free"]], [0, 1, 2, 3, 4])
        self.assertEqual(card["holders"], [{"name": "decoder.3", "used": 5 * 12288, "count": 5}])
        self.assertEqual(card["bank"]["banks"], 12)
        self.assertEqual(card["bank"]["size"], 1072693184)
        self.assertEqual(card["request"]["requested"], 4096)
        self.assertEqual([event["what"] for event in card["events"]], ["set_opened"] + 5 * ["allocation"])
        self.assertEqual(len(card["youngest"]), 5)
        text = self.output_of("why", "--direct")
        for part in ("Card of failure 1", "Largest holders then", "decoder.3", "Map around", "Last events"):
            self.assertIn(part, text)
        lines = self.terminal_output("why", "--direct", NO_COLOR="1").splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_a_card_is_of_the_allocator_that_refused_and_of_no_other_process(self):
        daemon = self.daemon()
        other, process = self.holder(), self.holder()
        daemon.wait_for(other.pid, process.pid)
        process.run("fail()")
        failure = self.only_failure()
        self.assertEqual(failure["pid"], process.pid)
        self.assertEqual(failure["card"]["holders"][0]["count"], 5)

    def test_the_simulator_writes_a_card_with_the_rules_of_the_request(self):
        sim = self.simulator_at("fragmentation", "no block large enough")
        card = self.only_failure("--direct")["card"]
        self.assertIsNotNone(card["request"]["page"])
        self.assertEqual(card["request"]["banks"], card["bank"]["banks"])
        self.assertIn(card["request"]["direction"], ("bottom_up", "top_down"))
        self.assertEqual(card["bank"]["used"] + card["bank"]["free"], card["bank"]["size"])
        free = [block["bytes"] for block in card["blocks"] if block["is_free"]]
        self.assertEqual(sum(free), card["bank"]["free"], "the map agrees with the allocator")
        self.assertEqual(max(free), card["bank"]["largest_free"])
        sim.finish()

    def test_a_clash_names_the_program_its_buffers_and_the_one_in_the_way(self):
        sim = self.simulator_at("cb-clash", "clash")
        failure = self.only_failure("--direct")
        program = failure["card"]["clash"]
        ends = [block["address"] + block["bytes"] for block in program["buffers"]]
        self.assertEqual(max(ends), failure["cb_end"])
        self.assertEqual(program["blocker"]["address"], failure["lowest_buffer"])
        self.assertEqual(program["blocker"]["name"], "decoder.0/activation")
        self.assertIn(failure["core"], program["cores"])
        sim.finish()

    def test_a_process_killed_right_after_the_failure_leaves_its_card(self):
        daemon = self.daemon()
        process = self.holder()
        daemon.wait_for(process.pid)
        process.start("import os\nfail()\nos.kill(os.getpid(), 9)")
        process.wait()
        daemon.wait_for_death(process.pid)
        dead = self.json_of("post-mortem", str(process.pid))["post_mortem"]
        self.assertEqual(dead["failures"][0]["card"]["holders"][0]["name"], "decoder.3")
        kept = wait_until(lambda: self.json_of("why")["kept"], "it is on the disk")
        self.assertEqual([(one["pid"], one["failure"]["card"]["number"]) for one in kept], [(process.pid, 1)])
        self.assertIn("Processes that have ended", self.output_of("why"))

    def test_cards_are_kept_through_a_restart(self):
        daemon = self.daemon()
        process, living = self.holder(0xc1), self.holder(0xc2)
        daemon.wait_for(process.pid, living.pid)
        process.run("fail()")
        living.run("fail()")
        process.kill()
        wait_until(lambda: self.json_of("why")["kept"], "it is on the disk")
        for is_killed in (True, False):
            daemon.kill() if is_killed else daemon.stop()
            daemon = self.daemon()
            daemon.wait_for(living.pid)
            view = self.json_of("why")
            self.assertEqual([one["pid"] for one in view["kept"]], [process.pid])
            self.assertEqual([one["pid"] for one in view["failures"]], [living.pid], "it is not listed twice")
        card = view["kept"][0]["failure"]["card"]
        self.assertEqual([block["owner"] for block in card["blocks"] if not block["is_free"]], [0, 1, 2, 3, 4])

    def test_a_folder_that_can_not_be_written_loses_the_card_and_says_so(self):
        with open(os.path.join(self.directory.path, "state"), "w", encoding="utf-8") as file:
            file.write("a file in the place of the folder")
        daemon = self.daemon()
        process = self.holder()
        daemon.wait_for(process.pid)
        process.run("fail()")
        process.kill()
        view = wait_until(lambda: (view := self.json_of("why"))["cards_lost"] and view, "it is counted")
        self.assertIn("Not a directory", view["cards_problem"])
        self.assertIn("Not a directory", self.output_of("why"))
        self.assertEqual(daemon.log().count("failure cards can't be kept"), 1)

    def test_the_report_of_a_run_has_the_card(self):
        report = os.path.join(self.state_directory, "report.json")
        self.ttmem("run", "--report", report, "--", SIMULATOR, "oom-dram")
        with open(report, encoding="utf-8") as file:
            document = json.load(file)
        self.assertGreater(len(document["failures"][0]["card"]["blocks"]), 0)


@needs_other_users
class CardsOfUsers(TestCase):
    def test_the_card_of_another_user_stays_theirs(self):
        daemon = self.daemon()
        first = self.tracked_process(HOLDER.format(asic=0xc1), uid=STRANGER)
        second = self.tracked_process(HOLDER.format(asic=0xc2), uid=OTHER_STRANGER)
        daemon.wait_for(first.pid, second.pid)
        for process in (first, second):
            process.run("fail()")
        second.kill()
        wait_until(lambda: self.json_of("why")["kept"], "it is on the disk")
        status, view = first.http_get(daemon.api, "/v1/failures")
        self.assertEqual(status, 200)
        self.assertEqual([one["pid"] for one in view["failures"]], [first.pid])
        self.assertEqual(view["kept"], [])
        self.assertEqual(view["kept_total"], 0)
        folder = os.path.join(self.directory.path, "state", "cards")
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)


if __name__ == "__main__":
    main()
