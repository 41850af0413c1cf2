# SPDX-License-Identifier: Apache-2.0
"""The card of a failure as text, line by line as `ttmem why` prints it: what was asked for, what the bank held at that moment, and
what would have made the request fit."""

from __future__ import annotations

from ._sizes import format_age, format_size
from ._tables import Column, clean, text_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator, Mapping, Sequence

    Fields = Mapping[str, Any]

_SHOWN_EVENTS = 5
_SHOWN_BUFFERS = 16
_MOST_CARDS = 3
_DIRECTIONS = {"bottom_up": "from the bottom up", "top_down": "from the top down"}
_NO_CARD = {
    "too_soon": "another was written within the same second",
    "no_host_memory": "the process had no host memory for it",
    "too_many": "too many live allocations",
}


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _allocations(number: int) -> str:
    return _count(number, "allocation", "allocations")


def _devices(ids: Sequence[int]) -> str:
    """`device 3`, `devices 0-3,7`."""
    ranges: list[list[int]] = []
    for each in ids:
        if ranges and each == ranges[-1][1] + 1:
            ranges[-1][1] = each
        else:
            ranges.append([each, each])
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
    return f"device{'' if len(ids) == 1 else 's'} {text or '-'}"


def _place(core: Sequence[int] | None) -> str:
    return f"core {core[0]},{core[1]}" if core else "an unknown core"


def _name(block: Fields) -> str:
    if block["is_free"]:
        return "(free)"
    name = block["name"] if block["name"] is not None else f"(no name, id {block['owner'] or 0})"
    return f"circular buffer {name}" if block["circular_buffers"] else str(name)


class _Text(Column):
    def is_number(self, rows: Sequence[Fields]) -> bool:
        return False


class _Holder(_Text):
    def value(self, row: Fields) -> Any:
        return _name(row) if "is_free" in row else row["name"] or "(no name)"


_BLOCKS = [Column("ADDRESS", "address", hex), Column("BYTES/BANK", "bytes", format_size), Column("AGE", "age_ns", format_age),
           _Holder("NAME", "name")]  # fmt: skip
_HOLDERS = [Column("USED", "used", format_size), Column("COUNT", "count"), _Holder("NAME", "name")]
_EVENTS = [Column("AGE", "age_ns", format_age), _Text("EVENT", "what"), _Text("KIND", "kind"),
           Column("REQUESTED", "requested", format_size), _Text("NAME", "name")]  # fmt: skip


def _table(title: str, rows: Sequence[Fields], columns: list[Column]) -> Iterator[str]:
    yield f"  {title}"
    yield from (f"  {line}" for line in text_table(rows, columns).splitlines())


def _request(request: Fields) -> str:
    text = format_size(request["requested"])
    text += f" in pages of {format_size(request['page'])}" if request["page"] is not None else ""
    text += f" over {_count(request['banks'], 'bank', 'banks')}" if request["banks"] is not None else ""
    text += f": {format_size(request['needed'])} in each bank" if request["needed"] is not None else " on one core"
    text += f", aligned to {format_size(request['alignment'])}" if request["alignment"] is not None else ""
    return text + (f", {_DIRECTIONS.get(request['direction'], request['direction'])}" if request["direction"] is not None else "")


def _bank(bank: Fields) -> str:
    text = f"one of {bank['banks']}, {format_size(bank['size'])}: " if bank["size"] is not None else ""
    text += f"{format_size(bank['used'])} used by {_allocations(bank['allocation_count'])}, {format_size(bank['free'])} free"
    return text + (f", {format_size(bank['largest_free'])} in one block" if bank["largest_free"] is not None else "")


def _clash(failure: Fields, clash: Fields) -> Iterator[str]:
    program = f"program {failure['program']}" if failure["program"] is not None else "an unknown program"
    program += f" ({clash['name']})" if clash["name"] else ""
    beyond = next((failure[each] for each in ("lowest_buffer", "l1_end") if failure[each] is not None), 0)
    yield (
        f"  program  {program}: circular buffers end at {failure['cb_end'] or 0:#x}, {format_size(failure['missing'] or 0)} beyond {beyond:#x}"
    )
    if clash["cores"]:
        cores = _count(len(clash["cores"]), "core", "cores")
        yield f"  cores    {cores} of {_devices(failure['devices'])}, the first {clash['cores'][0][0]},{clash['cores'][0][1]}"
    if clash["blocker"] is not None:
        block = clash["blocker"]
        age = "-" if block["age_ns"] is None else format_age(block["age_ns"])
        yield (
            f"  blocker  {_name(block)} at {block['address']:#x}, {format_size(block['bytes'])} per bank, {age} old, id {block['owner'] or 0}"
        )
    if clash["buffers"]:
        yield from _table("Circular buffers" + (f" on {_place(clash['core'])}" if clash["core"] else ""), clash["buffers"][:_SHOWN_BUFFERS], _BLOCKS)
        if len(clash["buffers"]) > _SHOWN_BUFFERS:
            yield f"  ... and {len(clash['buffers']) - _SHOWN_BUFFERS} more"


def _release(release: Fields, beginning: str, has_address: bool = True) -> Iterator[str]:
    verb = "freeing or moving" if release["can_move"] else "freeing"
    end = f", at address {release['address']}:" if has_address else ":"
    yield f"  {beginning} {verb} {format_size(release['bytes'])} per bank in {_allocations(release['count'])}{end}"
    for block in release["blocks"]:
        name = block["name"] or f"buffer {block['owner']}"
        yield f"    {block['address']} {format_size(block['bytes'])}, {format_age(block['age_ns'])} old, {name}"
    if release["count"] > len(release["blocks"]):
        yield f"    ... and {release['count'] - len(release['blocks'])} more"


def _ways_of_request(fix: Fields, bank: Fields) -> Iterator[str]:
    for number, release in enumerate(fix["to_free"]):
        yield from _release(release, "or after" if number else "would fit after")
    if fix["fewest_names"] is not None:
        yield from _release(fix["fewest_names"], "or, with fewer names, after")
    if fix["fits_after_compaction"]:
        yield "  would fit if what is live lay without gaps (compaction)"
    else:
        yield "  compaction would not suffice"
    if fix["with_cores"] is not None:
        yield f"  would fit over {fix['with_cores']} cores"
    if fix["with_page"] is not None:
        yield f"  would fit in pages of {format_size(fix['with_page'])}"
    if fix["dram_address"] is not None:
        yield f"  would fit in dram as it is now, interleaved, at address {fix['dram_address']}"
    size = fix["region_size"]
    if size is not None and bank["kind"] == "l1_small":
        yield f"  l1_small_size {size} would hold it and what is live"
    elif size is not None:
        per_bank = size // max(bank["banks"] or 1, 1)
        yield (
            f"  trace_region_size {size} (of all banks) would hold it and what is live; a runtime that counts it per bank needs {per_bank}"
        )


def _ways_of_clash(fix: Fields) -> Iterator[str]:
    for buffer in fix["to_shrink"]:
        name = f", {buffer['name']}" if buffer["name"] else ""
        what = f"the circular buffer at {buffer['address']:#x} ({format_size(buffer['bytes'])}{name})"
        yield f"  would fit if {what} were {format_size(buffer['by'])} smaller"
    for release in fix["to_free"]:
        yield from _release(release, "would fit after", has_address=False)
    if fix["region_size"] is not None:
        yield f"  would fit with l1_small_size {fix['region_size']}: the L1 buffers then lie higher"
    if not fix["to_shrink"] and not fix["to_free"] and fix["region_size"] is None:
        yield "  no single change suffices: take from several circular buffers, or use more cores"


def _ways_out(card: Fields) -> Iterator[str]:
    if card["fix"] is None:
        yield f"  no proposal: {card['no_fix']}"
        return
    yield from _ways_of_request(card["fix"], card["bank"]) if card["clash"] is None else _ways_of_clash(card["fix"])
    if not card["complete"]:
        yield "  (rests on part of the map: the bank had too many allocations)"


def _card(failure: Fields, card: Fields, title: str) -> Iterator[str]:
    yield f"{title}: {card['bank']['kind']} of {_devices(failure['devices'])} at that moment, process {failure['pid']}"
    yield f"  request  {_request(card['request'])}"
    yield f"  bank     {_bank(card['bank'])}"
    if failure["short_by"]:
        yield f"  verdict  {failure['verdict']}: short by {format_size(failure['short_by'])}"
    if not card["complete"]:
        yield "  part     the bank has too many allocations for one card: it has the most important"
    clash = card["clash"]
    if clash is not None:
        yield from _clash(failure, clash)
    if card["around"]:
        middle = "buffer in the way" if clash is not None and clash["blocker"] is not None else "largest free block"
        yield from _table(f"Map around the {middle}", card["around"], _BLOCKS)
    if card["holders"]:
        yield from _table("Largest holders then", card["holders"], _HOLDERS)
    if card["youngest"]:
        yield from _table("Youngest then", card["youngest"], _BLOCKS)
    if card["events"]:
        yield from _table(f"Last events of the thread ({len(card['events'])} kept)", card["events"][-_SHOWN_EVENTS:], _EVENTS)
    yield "  What would have made it fit"
    yield from _ways_out(card)


def _without_card(failure: Fields, title: str) -> Iterator[str]:
    """The figures of a failure that has no card, and why it has none."""
    kind = f" of {failure['kind']}" if failure.get("kind") else ""
    yield f"{title}: {failure['verdict']}{kind}, {_devices(failure['devices'])}, process {failure['pid']}"
    if failure["type"] == "out_of_memory":
        yield f"  {format_size(failure['requested'])} requested, {format_size(failure['needed'])} needed in each bank"
        yield f"  each bank has {format_size(failure['free'])} free, {format_size(failure['largest_free'])} in one block"
    elif failure["type"] == "cb_clash":
        program = f" of program {failure['program']}" if failure["program"] is not None else ""
        yield f"  circular buffers{program} end at {failure['cb_end'] or 0:#x} on {_place(failure['core'])}"
        if failure["l1_end"] is not None:
            yield f"  L1 ends at {failure['l1_end']:#x}"
        else:
            yield f"  the lowest L1 buffer starts at {failure['lowest_buffer'] or 0:#x}"
    else:
        yield f"  free of the unknown address {failure['address'] or 0:#x}"
    if failure.get("no_card"):
        reason = _NO_CARD.get(failure["no_card"])
        yield "  no card" + (f": {reason}" if reason else "")


def card(failure: Fields, title: str = "Card") -> str:
    """The card of a failure of `why()`, `on_failure()` or `track()`, as `ttmem why` prints it: the request, the bank as it was, the
    verdict, the clash's circular buffers, the map around the best gap, the largest holders, the youngest allocations, the last
    events, and what would have made it fit. Without a card: the failure's figures, and why there is no more."""
    held = failure.get("card")
    lines = _card(failure, held, title) if held is not None else _without_card(failure, title)
    return "\n".join(map(clean, lines))


def newest_card(failures: Sequence[Fields]) -> str:
    """Of the first failure that has one, else the figures of the newest failure."""
    at = next((at for at, failure in enumerate(failures) if failure.get("card") is not None), 0)
    return card(failures[at], f"Card of failure {at + 1}")


def cards(failures: Iterable[Fields]) -> str:
    """The cards of the newest failures; the text is empty without any."""
    newest = list(failures)
    texts = [card(failure, f"Card of failure {number}") for number, failure in enumerate(newest[:_MOST_CARDS], 1)]
    if len(newest) > _MOST_CARDS:
        texts.append(f"... and {len(newest) - _MOST_CARDS} earlier failures")
    return "\n\n".join(texts)
