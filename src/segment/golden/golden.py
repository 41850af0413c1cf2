#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dumps a small segment by the tables of docs/SEGMENT_FORMAT.md, and compares the dump with the one that is kept.

    golden.py check  <segment_one_of_everything>    the dump equals small_segment.txt, and every byte is checked
    golden.py update <segment_one_of_everything>    writes small_segment.txt, after an intended change of the format
    golden.py dump   <file with a segment>          prints the dump of any segment

The program makes the segment (one_of_everything_test_support.cpp). All offsets come from the page. What differs from run to run
is masked.
"""

import difflib
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs" / "SEGMENT_FORMAT.md"
KEPT = HERE / "small_segment.txt"

SIZES = {"TTMEM_SLOTS": "32", "TTMEM_WRITERS": "3", "TTMEM_RING_RECORDS": "16", "TTMEM_NAMES": "16"}
REGIONS = ["devices", "sets", "core_sets", "pools", "tallies", "names", "failures", "writers", "rings", "ledger",
           "cards", "chips", "marks"]
NUMBERS = {"u8": "<B", "u16": "<H", "u32": "<I", "i32": "<i", "u64": "<Q"}
KINDS_PER_SET = 16
# The parts of a card behind its head: the field with their number, the table and the first byte.
CARD_PARTS = [("gaps", "gap", 512), ("sums", "sum", 1536), ("events", "record", 2560), ("blocks", "slot", 5760)]
FAILURE_EVENT = 5  # the type of a record that has a table of its own
SPOILED = 200
BLOCK = 4096

# Fields that no two runs have in common; times and thread ids keep whether they are there, threads also which they are.
VARIES = {"pid", "start_time", "boot_id", "clock_kind", "clock_ticks", "clock_monotonic_ns"}
TIMES = {"ticks", "ticks_16", "opened_ticks", "closed_ticks"}

HEADING = re.compile(r"^### (\w+) \((?:(\d+) bytes|values)\)$")
ROW = re.compile(r"^\| (\d+) \| ([^|]+?) \| (?:([^|]+?) \|)?")
TYPE = re.compile(r"^(\w+)(?:\[(\d+)\])?(?: bits (\d+)-(\d+))?$")


class PageError(Exception):
    pass


@dataclass(frozen=True)
class Field:
    offset: int
    type: str
    many: int | None        # of an array
    bits: tuple[int, int] | None
    name: str


@dataclass
class Page:
    """The tables: structs with their fields, and values with their names."""
    size: dict[str, int] = field(default_factory=dict)
    fields: dict[str, list[Field]] = field(default_factory=dict)
    values: dict[str, dict[int, str]] = field(default_factory=dict)

    def width(self, item: Field) -> int:
        one = struct.calcsize(NUMBERS[item.type]) if item.type in NUMBERS else self.size.get(item.type, 1)
        return one * (item.many or 1)


def read_page(text: str) -> Page:
    page = Page()
    name, is_struct = None, False
    for line in text.splitlines():
        if heading := HEADING.match(line):
            name, is_struct = heading[1], heading[2] is not None
            if is_struct:
                page.size[name] = int(heading[2])
                page.fields[name] = []
            else:
                page.values[name] = {}
        elif line.startswith("#"):
            name = None
        elif name and (row := ROW.match(line)):
            if is_struct:
                page.fields[name].append(read_field(row))
            else:
                page.values[name][int(row[1])] = row[2]
    check_page(page)
    return page


def read_field(row: re.Match) -> Field:
    kind = TYPE.match(row[2])
    if not kind or not row[3]:
        raise PageError(f"not a field: {row[0]}")
    bits = (int(kind[3]), int(kind[4])) if kind[3] else None
    return Field(int(row[1]), kind[1], int(kind[2]) if kind[2] else None, bits, row[3])


def check_page(page: Page) -> None:
    """No two fields on the same bits, and none beyond its struct."""
    for name, fields in page.fields.items():
        taken = set()
        for item in fields:
            first, last = item.bits or (0, 8 * page.width(item) - 1)
            mine = set(range(8 * item.offset + first, 8 * item.offset + last + 1))
            if taken & mine or last < first or 8 * item.offset + last >= 8 * page.size[name]:
                raise PageError(f"{name}.{item.name} does not fit")
            taken |= mine


class Dump:
    """Walks the bytes of a segment; `lines` is the text, `masked` where bytes may be anything."""

    def __init__(self, page: Page, data: bytes):
        self.page, self.data = page, data
        self.lines: list[str] = []
        self.masked: list[range] = []
        self.seen = bytearray(len(data))  # a bit that is set was shown
        self.threads: dict[int, str] = {0: "0"}
        self.walk()
        self.complain_about_the_rest()

    def number(self, at: int, item: Field) -> int:
        form = NUMBERS[item.type]
        value = struct.unpack_from(form, self.data, at)[0]
        if item.bits is None:
            size = struct.calcsize(form)
            self.seen[at:at + size] = b"\xff" * size
            return value
        first, last = item.bits
        for bit in range(first, last + 1):
            self.seen[at + bit // 8] |= 1 << bit % 8
        return value >> first & (1 << last - first + 1) - 1

    def text_of(self, at: int, item: Field) -> str:
        if item.type == "char":
            self.seen[at:at + item.many] = b"\xff" * item.many
            return repr(self.data[at:at + item.many].rstrip(b"\0").decode("utf-8", "backslashreplace"))
        if item.many:
            step = struct.calcsize(NUMBERS[item.type])
            return " ".join(str(self.number(at + i * step, item)) for i in range(item.many))
        value = self.number(at, item)
        if item.name in TIMES:
            return "a time" if value else "0"
        if item.name == "thread":
            return self.threads.setdefault(value, f"thread {len(self.threads)}")
        if item.name == "kind":
            return f"{value} {self.page.values['kinds'].get(value, '?')}"
        return str(value) if item.name not in {"magic", "asic_id", "address"} else hex(value)

    def show(self, what: str, at: int, title: str, indent: str = "") -> None:
        """One struct: a line with its place, then one a field that is not 0."""
        self.lines.append(f"{indent}{title} at {at}")
        for item in self.page.fields[what]:
            place = at + item.offset
            if item.type in self.page.fields:
                for i in range(item.many or 1):
                    start = place + i * self.page.size[item.type]
                    self.show(item.type, start, f"+{start - at} {item.name} {i}", indent + "  ")
                continue
            text = self.text_of(place, item)
            varies = item.name in VARIES
            if varies or item.name in TIMES or item.name == "thread":
                first, last = item.bits or (0, 8 * self.page.width(item) - 1)
                self.masked.append(range(place + first // 8, place + last // 8 + 1))
            bits = f" bits {item.bits[0]}-{item.bits[1]}" if item.bits else ""
            if set(text) - set("0 '") or varies:
                self.lines.append(f"{indent}  +{item.offset}{bits} {item.name} = {'(varies)' if varies else text}")

    def has_data(self, at: int, length: int) -> bool:
        return self.data.count(0, at, at + length) != length

    def value(self, what: str, name: str, at: int = 0) -> int:
        item = next(item for item in self.page.fields[what] if item.name == name)
        return struct.unpack_from(NUMBERS[item.type], self.data, at + item.offset)[0]

    def walk(self) -> None:
        self.show("header", 0, "header")
        table = next(item for item in self.page.fields["header"] if item.name == "region")
        for i, name in enumerate(REGIONS):
            at = table.offset + i * self.page.size["region"]
            offset, stride, count = (self.value("region", part, at) for part in ("offset", "stride", "count"))
            self.lines.append(f"region {name}: {count} of {stride} bytes from {offset}")
            for entry in range(count):
                start = offset + entry * stride
                if self.has_data(start, stride):
                    self.show_entry(name, entry, start, stride)

    def show_entry(self, region: str, entry: int, at: int, stride: int) -> None:
        if region == "cards":
            return self.show_card(entry, at)
        if region == "marks":
            return self.show_mark(entry, at)
        inner = {"tallies": "tally", "rings": "record"}.get(region)
        if inner is None:
            one = {"ledger": "slot"}.get(region, region.removesuffix("s"))
            return self.show(one, at, self.title(one, entry))
        size = self.page.size[inner]
        for i in range(stride // size):
            if self.has_data(at + i * size, size):
                start = at + i * size
                is_failure = inner == "record" and self.data[start] & 7 == FAILURE_EVENT
                self.show("failure_record" if is_failure else inner, start, f"{region} {entry}: " + self.title(inner, i))

    def show_card(self, entry: int, at: int) -> None:
        self.show("card", at, f"card {entry}")
        for number, table, start in CARD_PARTS:
            for i in range(self.value("card", number, at)):
                place = at + start + i * self.page.size[table]
                is_failure = table == "record" and self.data[place] & 7 == FAILURE_EVENT
                self.show("failure_record" if is_failure else table, place, f"card {entry}: {table} {i}")

    def show_mark(self, entry: int, at: int) -> None:
        self.show("mark", at, f"mark {entry}")
        for i in range(self.value("mark", "totals", at)):
            self.show("total", at + self.page.size["mark"] + i * self.page.size["total"], f"mark {entry}: total {i}")

    def title(self, one: str, index: int) -> str:
        if one in ("pool", "tally"):
            kind = self.page.values["kinds"].get(index % KINDS_PER_SET, "?")
            return f"{one} {index} (set {index // KINDS_PER_SET}, {kind})"
        return f"{one} {index}"

    def complain_about_the_rest(self) -> None:
        for at in places_in_use(self.data):
            if bits := self.data[at] & ~self.seen[at]:
                self.lines.append(f"no table explains the bits {bits:#04x} at {at}")


def places_in_use(data: bytes) -> Iterator[int]:
    """Bytes that are not 0. A segment is mostly empty, so most blocks are passed over as a whole."""
    for start in range(0, len(data), BLOCK):
        block = data[start:start + BLOCK]
        if block.count(0) != len(block):
            yield from (start + i for i, byte in enumerate(block) if byte)


def make_segment(program: str) -> bytes:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TTMEM_")}
    with tempfile.TemporaryDirectory() as folder:
        environment |= SIZES | {"TT_ALLOC_TRACKING_ENABLED": "1", "TTMEM_RUNTIME_DIR": folder}
        path = Path(folder) / "segment"
        subprocess.run([program, str(path)], env=environment, check=True, timeout=60)
        return path.read_bytes()


def text_of(page: Page, data: bytes) -> str:
    return "\n".join(Dump(page, data).lines) + "\n"


def changes_nobody_sees(page: Page, data: bytes) -> list[int]:
    """Turns over one bit in bytes here and there, most of them in use; gives those that the dump does not show."""
    before = Dump(page, data)
    masked = {at for part in before.masked for at in part}
    places = sorted({at for at in (*places_in_use(data), *range(0, len(data), 16411)) if at not in masked})
    unseen = []
    for at in places[::max(1, len(places) // SPOILED)]:
        changed = bytearray(data)
        changed[at] ^= 0x10
        try:
            after = Dump(page, bytes(changed)).lines
        except (struct.error, IndexError, KeyError):
            continue
        if after == before.lines:
            unseen.append(at)
    return unseen


def check(program: str) -> int:
    page = read_page(PAGE.read_text())
    data = make_segment(program)
    kept, now = KEPT.read_text(), text_of(page, data)
    if kept != now:
        sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), now.splitlines(True), KEPT.name, "now"))
        print(f"golden: the format has changed. If that is meant: {PAGE.name} says what to do.")
        return 1
    if unseen := changes_nobody_sees(page, data):
        print(f"golden: the dump does not show what is at {unseen[:10]}")
        return 1
    return 0


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in ("check", "update", "dump"):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[0] == "check":
        return check(arguments[1])
    page = read_page(PAGE.read_text())
    if arguments[0] == "dump":
        sys.stdout.write(text_of(page, Path(arguments[1]).read_bytes()))
    else:
        KEPT.write_text(text_of(page, make_segment(arguments[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
