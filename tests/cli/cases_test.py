#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Failures that users met, as scenarios: verdict, missing bytes, and a way out that lets the request through."""

import os
import tempfile

from harness import observer
from harness.programs import SIMULATOR
from harness.test_case import TestCase, main

# verdict, bytes that are missing in each bank, and what must be among the proposals.
REFUSED = {"case-01": ("fragmented", 1511776), "case-02": ("fragmented", 30720), "case-03": ("fragmented", 58181664),
           "case-04": ("fragmented", 53354496), "case-05": ("not enough", 22334528), "case-06": ("not enough", 272640)}
NEEDED = {"case-01": (4894720, 183397344, 3382944), "case-02": (552960, 912096, 522240),
          "case-03": (274686208, 286974112, 216504544), "case-04": (87556096, 129800224, 34201600),
          "case-05": (89479168, 67144640, 67140352), "case-06": (865408, 592768, 592768)}
CLASHES = {"case-09": (1563264, 1563072), "case-10": (125536, 122048), "case-11": (1364672, 709760),
           "case-12": (1430656, 1378048), "case-13": (1754272, 1499136)}

# Bytes of a bank, and those in use.
BANKS = {"case-02": (1329888, 417792), "case-06": (1330048, 737280), "case-07": (32768, 0), "case-08": (1364928, 0)}
# The size of a trace, and that of the region as it was set.
TRACES = {"case-14": (237371392, 235929600), "case-15": (53616640, 50000000), "case-15-next": (60825600, 50000000)}


class Cases(TestCase):
    def refused(self, case: str):
        sim = self.simulator_at(case, "refused")
        [failure] = self.json_of("why", "--direct")["failures"]
        self.assertIsNone(failure["card"]["no_fix"], case)
        return sim, failure, failure["card"]["fix"]

    def finish(self, sim, *others: str):
        """The scenario itself proves the ways out: it goes on to 'fits' only if the request is granted."""
        for step in ("fits", *others):
            sim.go_to(step)
        sim.finish()

    def test_banks_and_traces_have_the_sizes_that_were_reported(self):
        for case, (size, used) in BANKS.items():
            with self.subTest(case):
                sim, failure, _ = self.refused(case)
                self.assertEqual((failure["card"]["bank"]["size"], failure["card"]["bank"]["used"]), (size, used))
                sim.close()
        for case, (requested, region) in TRACES.items():
            with self.subTest(case):
                sim, failure, fix = self.refused(case)
                bank = failure["card"]["bank"]
                self.assertEqual((failure["requested"], bank["size"]), (requested, -(-region // bank["banks"] // 8192) * 8192))
                self.assertGreaterEqual(fix["region_size"], requested)
                sim.close()

    def test_a_refused_request_has_the_verdict_and_the_cheapest_blocks_to_free(self):
        for case, (verdict, short_by) in REFUSED.items():
            with self.subTest(case):
                sim, failure, fix = self.refused(case)
                self.assertEqual((failure["verdict"], failure["short_by"]), (verdict, short_by))
                self.assertEqual((failure["needed"], failure["free"], failure["largest_free"]), NEEDED[case])
                self.assertEqual(fix["fits_after_compaction"], verdict == "fragmented")
                self.finish(sim)
                [freed] = [line.removeprefix("freed: ").split() for line in sim.printed if line.startswith("freed: ")]
                self.assertEqual(sorted(block["name"] for block in fix["to_free"][0]["blocks"]), sorted(freed))

    def test_a_tensor_that_l1_has_no_room_for_may_go_to_dram(self):
        sim, _, fix = self.refused("case-06")
        self.assertIsNotNone(fix["dram_address"])
        self.finish(sim)

    def test_an_observed_sharded_request_may_go_to_dram_while_its_process_lives(self):
        sim = self.simulator("case-02", program=observer.SIMULATOR,
                             variables={name: observer.OBSERVED[name] for name in ("LD_PRELOAD", "TTMEM_SIM_REPORTING")})
        sim.go_to("refused")
        [failure] = self.json_of("why", "--direct")["failures"]
        self.assertEqual(failure["card"]["request"]["banks"], 48)
        self.assertIsNotNone(failure["card"]["fix"]["dram_address"])
        self.finish(sim)

    def test_a_request_larger_than_a_bank_names_the_setting_or_the_cores(self):
        for case, kind, short_by, field, value in (("case-07", "l1_small", 1024, "region_size", 33792),
                                                   ("case-08", "l1", 732224, "with_cores", 13),
                                                   ("case-14", "trace", 120832, "region_size", 237404160),
                                                   ("case-15", "trace", 299008, "region_size", 53673984),
                                                   ("case-15-next", "trace", 899072, "region_size", 60850176)):
            with self.subTest(case):
                sim, failure, fix = self.refused(case)
                self.assertEqual((failure["verdict"], failure["kind"], failure["short_by"]), ("too big", kind, short_by))
                self.assertEqual(fix[field], value)
                self.assertIn(str(value), self.output_of("why", "--direct", "--fix"))
                self.finish(sim)

    def test_a_clash_names_the_circular_buffer_and_what_to_take_off(self):
        for case, (end, floor) in CLASHES.items():
            with self.subTest(case):
                sim, failure, fix = self.refused(case)
                self.assertEqual((failure["verdict"], failure["short_by"], failure["cb_end"]), ("clash", end - floor, end))
                self.assertEqual(failure["lowest_buffer"] or failure["l1_end"], floor)
                self.assertEqual(fix["to_shrink"][0]["by"], end - floor)
                self.assertEqual(len(failure["devices"]), 32 if case == "case-11" else 1)
                if case == "case-12":
                    self.assertEqual(failure["core"], [0, 0])
                others = []
                if case != "case-13":
                    [release] = fix["to_free"]
                    self.assertEqual([block["name"] for block in release["blocks"]], ["decoder.0/activation"])
                    others = ["fits without the tensor"]
                self.finish(sim, *others)

    def test_a_clash_by_192_bytes_ends_with_a_smaller_l1_small(self):
        sim, _, fix = self.refused("case-09")
        self.assertEqual(fix["region_size"], 4096 - 192)
        self.finish(sim, "fits in another region")  # of 3,904

    def test_config_tensors_are_one_holder_and_the_budget_that_suffices_is_named(self):
        sim, failure, fix = self.refused("case-16")
        self.assertEqual((failure["verdict"], failure["short_by"]), ("not enough", 320))
        self.assertEqual(failure["card"]["holders"][0]["name"], "halo_cache/config")
        self.assertEqual(fix["region_size"], 31136)
        self.finish(sim, "fits in another region")  # of 31,136

    def changes_between(self, *cases: str) -> list[tuple]:
        """What 'ttmem diff' finds between the reports of two runs."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, case) for case in cases]
            for case, path in zip(cases, paths):
                done = self.ttmem("run", "--report", path, "--", SIMULATOR, case)
                self.assertEqual(done.returncode, 0, done.stderr)
            return [(one["name"], one["kind"], one["change"]) for one in self.json_of("diff", *paths)["changes"]
                    if one["name"] is not None and one["kind"] != "kernel"]

    def test_pairs_of_runs_are_told_apart_by_diff(self):
        self.assertEqual(self.changes_between("case-15", "case-15-next"), [("the request", "trace", 60825600 - 53616640)])
        grown = dict((name, change) for name, kind, change in self.changes_between("case-12-p150", "case-12") if kind == "l1")
        self.assertEqual(list(grown), ["decoder.0/activation"])
        self.assertGreater(grown["decoder.0/activation"], 0)

    def test_addresses_per_core_are_undecided_and_never_called_free(self):
        """Two buffers at one address lie on different cores, and nobody reports on which."""
        sim = self.simulator_at("case-17", "refused")
        [failure] = self.json_of("why", "--direct")["failures"]
        self.assertEqual((failure["needed"], failure["free"], failure["largest_free"]), (72 * 1024, 587 * 1024, 278 * 1024))
        self.assertEqual((failure["verdict"], failure["card"]["fix"]), ("unknown", None))
        self.assertEqual(failure["card"]["bank"]["allocation_count"], 2952)
        self.assertIn("cannot be decided: addresses per core", self.output_of("why", "--direct", "--fix"))
        done = self.ttmem("fit", "--direct", "-d", "0", "--kind", "l1", "--cores", "8", str(8 * 72 * 1024))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("addresses per core", done.stdout + done.stderr)
        sim.finish()


if __name__ == "__main__":
    main()
