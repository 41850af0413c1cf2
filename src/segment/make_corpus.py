#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the corpus of segment_reader_fuzz: inputs that pass the checks of the header, and false values of each sort.

    python3 src/segment/make_corpus.py

segment_reader_fuzz.cpp describes the inputs. Findings of a fuzzing run are added by hand, as found_*.
"""

import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"

RAW, SPOILED, FILE, LATER = range(4)
ALL_BEFORE = 63 << 2
MOST = 2**64 - 1

DEVICES, SETS, CORE_SETS, POOLS, TALLIES, NAMES, FAILURES, WRITERS, RINGS, LEDGER, CARDS = range(11)
HEADER = 15
REGION_WORD = 15        # of the header, where the region table begins; two words per region
MARKS = {"devices": 47, "sets": 48, "core_sets": 49, "names": 50, "writers": 51, "slots": 52}
FAILURE_COUNTS = 53
CARD_COUNT = 56          # of the header: cards ever written
CARD_PARTS = 36          # of a card: two words with the lengths of its parts


def change(part: int, word: int, value: int) -> bytes:
    return struct.pack("<I", word << 4 | part)[:3] + struct.pack("<Q", value & MOST)


def spoiled(*changes: bytes, mode: int = SPOILED, before: int = ALL_BEFORE) -> bytes:
    return bytes([mode | before]) + b"".join(changes)


def raw_segment() -> bytes:
    """A header with a table of empty regions, by hand: what a fuzzer would hardly find."""
    size = 64 << 10
    regions = [(256, 3), (128, 4), (64, 4), (64, 64), (2048, 2), (128, 8), (192, 192), (64, 2), (512, 2), (64, 48)]
    header = struct.pack("<QIIQIIQ", 0x4745534D454D5454, 2, 760, size, 4242, 1, 777).ljust(120, b"\0")
    offset = 768
    for stride, count in regions:
        header += struct.pack("<QII", offset, stride, count)
        offset += -(-stride * count // 64) * 64
    header = header.ljust(376, b"\0") + struct.pack("<6Q", 3, 4, 4, 8, 2, 48)
    return bytes([RAW]) + header


def inputs() -> dict[str, bytes]:
    raw = raw_segment()
    marks = [change(HEADER, word, MOST) for word in MARKS.values()]
    loops = [change(NAMES, 16 * i, (i % 7 + 1) << 32 | 0xFFFFFFFF) for i in range(1, 8)]
    heads = [change(WRITERS, 0, head) for head in (MOST, 5, 1 << 63, 0, 1 << 40, 7)]
    lengths = [change(CARDS, CARD_PARTS + i, MOST) for i in range(2)]
    result = {
        "cards_of_ones": spoiled(*(change(CARDS, word, MOST) for word in range(1, 60))),
        "cards_too_long": spoiled(change(HEADER, CARD_COUNT, MOST), *lengths),
        "cards_too_long_of_a_file": spoiled(change(HEADER, CARD_COUNT, MOST), *lengths, mode=FILE),
        "cards_while_reading": spoiled(*lengths, change(CARDS, 0, 4), change(CARDS, 0, 5), change(CARDS, 1, 2), *lengths, before=0),
        "valid_raw": raw,
        "valid_spoiled": spoiled(),
        "valid_file": spoiled(mode=FILE),
        "valid_later": spoiled(mode=LATER),
        "raw_no_magic": raw[:1] + bytes(8) + raw[9:],
        "raw_cut": raw[:300],
        "raw_of_ones": bytes([RAW]) + b"\xff" * 1024,
        "raw_marks_of_ones": raw[:1 + 376] + b"\xff" * 384,
        "marks": spoiled(*marks),
        "marks_of_a_file": spoiled(*marks, mode=FILE),
        "marks_while_reading": spoiled(*marks, before=0),
        "names_loop": spoiled(*loops, change(HEADER, MARKS["names"], 8)),
        "heads_jump": spoiled(*heads, before=0),
        "intent_stays": spoiled(change(WRITERS, 1, 0x1_0000_0000_0003)),
        "failures_of_ones": spoiled(*[change(FAILURES, i, MOST) for i in range(64)], change(HEADER, FAILURE_COUNTS, MOST)),
        "ledger_of_ones": spoiled(*[change(LEDGER, i, MOST) for i in range(64)]),
        "ledger_while_reading": spoiled(*[change(LEDGER, 8 * (i % 8), i) for i in range(64)], before=0),
        "sets_while_reading": spoiled(*[change(SETS, 16 * (i % 4), i) for i in range(64)], before=0),
        "clock": spoiled(change(HEADER, 3, 2 << 32), change(HEADER, 7, MOST), change(HEADER, 8, MOST)),
        "table_while_reading": spoiled(*[change(HEADER, REGION_WORD + i, MOST) for i in range(22)], before=0),
    }
    for head in (17, 1 << 20, 1 << 40, (1 << 63) - 1, 1 << 63, MOST):
        result[f"head_{head:x}"] = spoiled(change(WRITERS, 0, head))
    for region in range(11):
        word = REGION_WORD + 2 * region
        result[f"region_{region}_far"] = spoiled(change(HEADER, word, MOST - 63))
        result[f"region_{region}_on_devices"] = spoiled(change(HEADER, word, 768))
        result[f"region_{region}_many"] = spoiled(change(HEADER, word + 1, MOST - 7 & ~(7 << 29)))
    return result


def main() -> None:
    CORPUS.mkdir(exist_ok=True)
    for name, data in inputs().items():
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
