# SPDX-License-Identifier: Apache-2.0
"""How answers are shown: the columns of each list, and plain tables in a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from ._sizes import format_age, format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Sequence

    Row = Mapping[str, Any]

KINDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel")
MOST_ROWS = 100


def _at(row: Row, path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


class Column:
    def __init__(self, title: str, path: str, show: Callable[[Any], str] | None = None) -> None:
        self.title, self.path, self.show = title, path, show or _plain

    def is_number(self, rows: Sequence[Row]) -> bool:
        """Numbers are aligned to the right."""
        values = [self.value(row) for row in rows[:MOST_ROWS]]
        return all(value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values)

    def value(self, row: Row) -> Any:
        return _at(row, self.path)

    def text(self, row: Row) -> str:
        value = self.value(row)
        return "-" if value is None else self.show(value)


class Held(Column):
    """What a process holds of a kind, over its devices."""

    def value(self, row: Row) -> Any:
        known = [_at(device, self.path) for device in row.get("devices", [])]
        return sum(each for each in known if each is not None) if any(each is not None for each in known) else None


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(_plain(each) for each in value) if len(value) <= 8 else f"{len(value)} entries"
    return str(value)


def _hex(value: Any) -> str:
    return f"{value:#x}"


def _differences(values: list[dict[str, Any]]) -> str:
    """What verify() found."""
    parts = []
    for each in values[:8]:
        what = each["figure"] if each["address"] is None else f"{each['figure']} {each['address']:#x}"
        figures = ("none" if value is None else str(value) for value in (each["runtime"], each["ttmem"]))
        parts.append(f"{what}: runtime {next(figures)}, ttmem {next(figures)}")
    return "; ".join(parts) + (f"; ... and {len(values) - 8} more" if len(values) > 8 else "") or "none"


def _columns(*specs: Column) -> list[Column]:
    return list(specs)


def _memory(*kinds: str, at: type[Column] = Column) -> list[Column]:
    return [at(kind.upper(), f"memory.{kind}.used", format_size) for kind in kinds]


_NAME = Column("NAME", "name")
_PID = Column("PID", "pid")
_KIND = Column("KIND", "kind")

# By the name of the list; the first one that an answer has is its main list.
TABLES: dict[str, list[Column]] = {
    "allocations": _columns(
        _PID, Column("DEVICES", "devices"), _KIND, Column("ADDRESS", "address", _hex), Column("USED", "used", format_size),
        Column("REQUESTED", "requested", format_size), Column("AGE", "age_ns", format_age), _NAME,
    ),
    "groups": _columns(Column("KEY", "key"), *_memory("dram", "l1", "cb", "kernel"), Column("COUNT", "count"),
                       Column("LARGEST", "largest", format_size), Column("OLDEST", "oldest_age_ns", format_age)),
    "failures": _columns(
        Column("AGE", "age_ns", format_age), _PID, Column("TYPE", "type"), Column("VERDICT", "verdict"), _KIND,
        Column("REQUESTED", "requested", format_size), Column("SHORT/BANK", "short_by", format_size), _NAME,
    ),
    "growth": _columns(_KIND, Column("BEFORE", "before", format_size), Column("NOW", "now", format_size),
                       Column("GROWN", "grown", format_size), _NAME),
    "leaks": _columns(_PID, _KIND, Column("VERDICT", "verdict"), Column("GROWN", "grown", format_size),
                      Column("PER MARK", "per_mark", format_size), Column("NOW", "last", format_size), _NAME),
    "allocators": _columns(_PID, Column("SET", "set"), Column("ANSWER", "answer"), Column("VERDICT", "verdict"),
                           Column("ADDRESS", "address", _hex), Column("NEEDED/BANK", "needed", format_size),
                           Column("LARGEST FREE", "largest_free", format_size), Column("SHORT", "short_by", format_size)),
    "comparison": _columns(_KIND, Column("EQUAL", "equal"), Column("BANKS", "banks"), Column("SIZE/BANK", "size", format_size),
                           Column("USED/BANK", "used", format_size), Column("FREE/BANK", "free", format_size),
                           Column("LARGEST FREE", "largest_free", format_size), Column("DIFFERENCES", "differences", _differences)),
    "maps": _columns(_PID, Column("DEVICE", "device"), _KIND, Column("SET", "set"), Column("USED/BANK", "used", format_size),
                     Column("FREE/BANK", "free", format_size), Column("LARGEST FREE", "largest_free", format_size)),
    "blocks": _columns(Column("ADDRESS", "address", _hex), Column("BYTES/BANK", "bytes", format_size), Column("FREE", "is_free"),
                       Column("AGE", "age_ns", format_age), _NAME),
    "cores": _columns(Column("CORE", "core"), Column("CB TOP", "cb_top", _hex), Column("HEADROOM", "headroom", format_size),
                      Column("USED", "used", format_size), _PID, _NAME),
    "programs": _columns(_PID, Column("PROGRAM", "program"), Column("SET", "set"), Column("KERNELS", "kernel_count"),
                         Column("AGE", "age_ns", format_age), _NAME),
    "peaks": _columns(_PID, Column("COMMAND", "comm"), Column("REQUESTED", "requested", format_size), Column("COUNT", "count"),
                      Column("NOW", "requested_now", format_size), Column("USED PEAK", "used_peak", format_size)),
    "devices": _columns(
        Column("DEVICE", "id"), Column("BOARD", "board"), *_memory("dram"),
        Column("OF", "memory.dram.capacity", format_size), *_memory("l1", "cb", "kernel"),
        Column("HEADROOM", "l1_worst_core.headroom", format_size),
    ),
    "processes": _columns(_PID, Column("USER", "user"), Column("COMMAND", "comm"), Column("STATE", "state"),
                          *_memory("dram", "l1", "cb", "kernel", at=Held)),
}  # fmt: skip


def main_list(fields: Row) -> str | None:
    for name in TABLES:
        if name != "blocks" and isinstance(fields.get(name), list) and all(isinstance(row, dict) for row in fields[name]):
            return name
    lists = [name for name, value in fields.items() if isinstance(value, list) and name != "inexact"]
    return next((name for name in lists if all(isinstance(row, dict) for row in fields[name])), None)


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """The table whose columns the rows have, else every field that is one value."""
    first = rows[0]
    for columns in TABLES.values():
        if all(column.path.split(".")[0] in (*first, "memory") for column in columns) and _has_memory(columns, first):
            return columns
    return [Column(name.upper(), name) for name, value in first.items() if not isinstance(value, (dict, list))]


def _has_memory(columns: list[Column], row: Row) -> bool:
    if not any(column.path.startswith("memory.") for column in columns):
        return True
    if any(isinstance(column, Held) for column in columns):
        return "devices" in row
    return "memory" in row


def _aligned(cells: list[list[str]], are_numbers: list[bool]) -> list[str]:
    widths = [max(len(line[at]) for line in cells) for at in range(len(are_numbers))]
    return [
        "  ".join(text.rjust(width) if is_number else text.ljust(width) for text, width, is_number in zip(line, widths, are_numbers)).rstrip()
        for line in cells
    ]


def clean(text: str) -> str:
    """Names come from other programs: no control character reaches the terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def text_table(rows: Sequence[Row], columns: list[Column] | None = None) -> str:
    if not rows:
        return "none"
    columns = columns or columns_of(rows)
    cells = [[column.title for column in columns]]
    cells += [[clean(column.text(row)) for column in columns] for row in rows[:MOST_ROWS]]
    lines = _aligned(cells, [column.is_number(rows) for column in columns])
    if len(rows) > MOST_ROWS:
        lines.append(f"... and {len(rows) - MOST_ROWS} more")
    return "\n".join(lines)


def reasons(fields: Row) -> list[str]:
    """Why the figures are not exact."""
    if fields.get("exact") is not False:
        return []
    return [f"process {each['pid']}: {each['reason']}" if each.get("pid") else each["reason"] for each in fields.get("inexact", [])]


def text_view(fields: Row) -> str:
    name = main_list(fields)
    if name is None:
        return "\n".join(f"{key}: {clean(_plain(value))}" for key, value in fields.items() if not isinstance(value, (dict, list)))
    lines = [clean(f"{name} of {fields.get('host', 'this host')}"), text_table(fields[name], TABLES.get(name))]
    if name == "failures" and fields[name]:
        from ._cards import newest_card

        lines += ["", newest_card(fields[name])]
    lines += [clean(f"not exact: {reason}") for reason in reasons(fields)]
    if fields.get("left_out"):
        lines.append(f"{fields['left_out']} more are left out: ask with limit=0")
    return "\n".join(lines)
