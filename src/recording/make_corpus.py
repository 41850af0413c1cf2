#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the corpus of recording_fuzz: a small recording as blocks, cut and spoiled in several ways.

    python3 src/recording/make_corpus.py

recording_fuzz.cpp describes the inputs, docs/RECORDING_FORMAT.md the payloads. Findings of a run are added by hand, as found_*.
"""

import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
HOST, PROCESS, LEDGER, EVENTS, END, FINISH, TOTALS = range(1, 8)
SUMMARIES = 32  # a bit of its own in the first byte
MOST = 2**64 - 1


def number(value: int) -> bytes:
    result = b""
    while value >= 0x80:
        result += bytes([value & 0x7F | 0x80])
        value >>= 7
    return result + bytes([value])


def text(value: bytes) -> bytes:
    return number(len(value)) + value


def block(kind: int, payload: bytes, process: int = 1) -> bytes:
    return struct.pack("<BBH", kind, process, len(payload)) + payload


def table(kind: int, index: int, value: bytes) -> bytes:
    return number(kind) + number(index) + text(value)


def tables(*entries: bytes) -> bytes:
    return number(len(entries)) + b"".join(entries)


def columns(count: int, *values: bytes) -> bytes:
    return number(count) + b"".join(text(value) for value in values)


def summary(sequence: int, flags: int) -> bytes:
    numbers = (sequence, flags, 1, 2, 0, 8192, MOST, 40, 8192, 6, 0, 1, 49, MOST)
    return b"".join(map(number, numbers))


def inputs() -> dict[str, bytes]:
    host = block(HOST, text(b"host") + text(b"ttmem") + number(0) + number(0) + number(0) + number(0), 0)
    numbers = b"".join(map(number, (42, 42, 7, 7, 1000)))
    process = block(PROCESS, numbers + text(b"user") + text(b"command") + b"".join(map(number, (0, 8, 64, 0))))
    one_set = table(1, 0, struct.pack("<QQ", 1, 10))
    name = table(5, 1, number(0) + b"name")
    one = columns(1, b"\x01", b"\0", b"\x02", b"\0", b"\0\0\0\x01\0\0", number(8192), b"\0", number(64), b"\0", b"")
    two = columns(3, b"\x01\x02\x05", b"\x02\x02\x02", b"\x04\x03", b"\0", b"\0\0\0\x01\0\0", number(8192), b"\0", number(64),
                  b"\0", b"\0\0\0\0\0\x10")
    many = columns(1, b"\x01", b"\0", number(MOST), b"\0", number(15) + number(255) + number(MOST) * 4, number(MOST),
                   number(MOST), number(MOST), number(MOST), b"")
    ledger = block(LEDGER, tables(one_set, name) + one)
    events = block(EVENTS, tables() + two)
    whole = host + process + ledger + events + block(END, b"") + block(FINISH, b"", 0)
    totals = table(34, 0, b"".join(map(number, (8192, 8000, MOST, 1, 1, 1, 0))))
    card = table(10, 1, text(b"\x01") + number(2) + text(b"") * 2 + number(0) + number(1) + text(b"\xff" * 32) + number(0))
    return {
        "whole": b"\x01" + whole,
        "no_ledger": b"\x01" + host + process + events,
        "no_process": b"\x01" + host + ledger + events,
        "loss": b"\x01" + host + process + ledger + block(EVENTS | 8, tables() + two) + ledger,
        "largest_numbers": b"\x01" + host + process + block(LEDGER, tables(one_set) + many) + block(EVENTS, tables() + many),
        "unknown_table": b"\x01" + host + process + block(LEDGER, tables(table(99, 5, b"x"), table(1, 500, b"x" * 200)) + one),
        "totals": b"\x01" + host + process + block(TOTALS, tables(one_set, totals)) + block(TOTALS, tables(one_set)),
        "summaries": b"\x01" + host + process + ledger + events + block(SUMMARIES, number(2) + summary(2, 3) + summary(3, 0)) + block(FINISH, b"", 0),
        "unfit_summaries": b"\x01" + host + process + ledger + events + events + block(SUMMARIES, number(3) + summary(3, MOST) * 2 + summary(2, 1)),
        "card": b"\x01" + host + process + block(LEDGER, tables(card) + one),
        "cut_columns": b"\x01" + host + process + block(EVENTS, (tables() + two)[:-8]),
        "too_many_entries": b"\x01" + host + process + block(EVENTS, number(MOST) + two),
        "not_a_recording": b"\0" + b"x" * 100,
        "header_only": b"\0" + struct.pack("<QII", 0x4345524D454D5454, 1, 64).ljust(64, b"\0"),
        "newer": b"\0" + struct.pack("<QII", 0x4345524D454D5454, 2, 64).ljust(64, b"\0"),
    }


def main() -> None:
    CORPUS.mkdir(exist_ok=True)
    for name, value in inputs().items():
        (CORPUS / name).write_bytes(value)


main()
