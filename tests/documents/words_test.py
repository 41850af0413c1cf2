#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Phrases that users stumbled over appear in no file of the repository.

The list holds each phrase with a '~' in every word, so that this file does not contain it.
"""

import os
import re
import unittest

from harness.programs import ROOT
from harness.tracked_files import is_clone, tracked_files

PHRASES = """
the daemon is g~one since
nothing that was as~ked for has failed
nothing that was as~ked for is live
no daemon runs h~ere, and this only
this only a daemon kn~ows
bytes on each device of an al~location, counted once
ever, of which the fi~rst and the last few are kept
allocation that found n~o room
allocations that found n~o room
banks al~ike
kib a let~ter
mib a let~ter
is no number from 0 u~p
at most so m~any
end after so m~any looks
again and ag~ain
look by it~self
looks by it~self
looked by it~self
look less of~ten
look more of~ten
the next order, the other way r~ound
what is in use of e~ach device
there are no groups b~y
another user's process: not listed (~1)
events passed ov~er
more than can be re~ad
the following arguments were not exp~ected
of the se~eds
founding docu~ments
shared/da~ta
ttmem_shared_da~ta
"""

# Headings of tables, as a whole word and in capital letters.
HEADINGS = ("SHORT B~Y", "ASK~ED", "L1 CO~RE", "HEA~RT")


def phrases() -> list[re.Pattern]:
    """A phrase may be broken across the lines of a text or of a comment."""
    gap = r"[\s/#*\"]+"
    found = [re.compile(gap.join(map(re.escape, phrase.replace("~", "").split())), re.IGNORECASE)
             for phrase in PHRASES.strip().splitlines()]
    return found + [re.compile(rf"(?<![\w.]){re.escape(heading.replace('~', ''))}(?!\w)") for heading in HEADINGS]


class Words(unittest.TestCase):
    def test_no_file_has_a_phrase_that_users_stumbled_over(self):
        if not is_clone(ROOT):
            self.skipTest("needs a git clone, for the list of files")
        patterns, found = phrases(), []
        for path in tracked_files(ROOT):
            with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
                text = file.read()
            for pattern in patterns:
                found += [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}" for match in pattern.finditer(text)]
        self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main(verbosity=2)
