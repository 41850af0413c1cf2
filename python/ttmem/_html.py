# SPDX-License-Identifier: Apache-2.0
"""Tables, bars and maps in a notebook. There is no script in it, and it loads nothing."""

from __future__ import annotations

from html import escape

from ._cards import newest_card
from ._sizes import format_size
from ._tables import KINDS, MOST_ROWS, TABLES, Column, columns_of, main_list, reasons, text_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence

    from ._tables import Row

_FONT = "font-family:monospace;font-size:12px"
_STYLE = f"border-collapse:collapse;{_FONT}"
_CELL = "padding:1px 8px"
_BAR = "display:inline-block;height:10px;background:#4878a8"
_BAR_FRAME = "display:inline-block;width:160px;height:10px;background:#e4e4e4"


def html_table(rows: Sequence[Row], columns: list[Column] | None = None) -> str:
    if not rows:
        return html_note("none")
    columns = columns or columns_of(rows)
    sides = ["right" if column.is_number(rows) else "left" for column in columns]
    head = "".join(f'<th style="{_CELL};text-align:{side}">{escape(column.title)}</th>' for column, side in zip(columns, sides))
    lines = []
    for row in rows[:MOST_ROWS]:
        cells = []
        for column, side in zip(columns, sides):
            exact = column.value(row)
            title = f' title="{exact} B"' if column.show is format_size and exact is not None else ""
            cells.append(f'<td style="{_CELL};text-align:{side}"{title}>{escape(column.text(row))}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    more = html_note(f"... and {len(rows) - MOST_ROWS} more") if len(rows) > MOST_ROWS else ""
    return f'<table style="{_STYLE}"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>{more}'


def html_text(text: str) -> str:
    """Lines whose columns stay aligned."""
    return f'<pre style="{_FONT}">{escape(text)}</pre>'


def html_note(text: str) -> str:
    return f'<p style="{_FONT}">{escape(text)}</p>'


def html_bar(used: int | None, capacity: int | None) -> str:
    if used is None or not capacity:
        return "unknown"
    percent = min(100.0, 100 * used / capacity)
    return (
        f'<span style="{_BAR_FRAME}"><span style="{_BAR};width:{percent:.1f}%"></span></span> '
        f"{escape(format_size(used))} / {escape(format_size(capacity))} ({percent:.1f}%)"
    )


def html_bars(devices: Sequence[Row]) -> str:
    lines = []
    for device in devices:
        for kind in KINDS:
            figures = device.get("memory", {}).get(kind) or {}
            if figures.get("used") and figures.get("capacity"):
                bar = html_bar(figures["used"], figures["capacity"])
                lines.append(f"<tr><td>{escape(str(device.get('id')))}</td><td style='{_CELL}'>{kind}</td><td>{bar}</td></tr>")
    return f'<table style="{_STYLE}">{"".join(lines)}</table>' if lines else ""


def html_map(bank: Row) -> str:
    """One bank from its lowest to its highest address. Each block has its name and bytes as a tooltip."""
    size = bank.get("bank", {}).get("size")
    title = f"device {bank.get('device')} {bank.get('kind')} of process {bank.get('pid')}"
    if not size:
        return f"<p>{escape(title)}: the size of its bank is unknown</p>"
    parts = []
    for block in bank.get("blocks", [])[:2000]:
        colour = "#e4e4e4" if block.get("is_free") else "#c08030" if block.get("circular_buffers") else "#4878a8"
        tip = f"{block['address']:#x} {format_size(block['bytes'])} {'free' if block.get('is_free') else block.get('name') or 'no name'}"
        parts.append(
            f'<span title="{escape(tip)}" style="display:inline-block;height:18px;background:{colour};'
            f'width:{100 * block["bytes"] / size:.4f}%;box-shadow:inset 1px 0 #fff"></span>'
        )
    frame = "width:100%;height:18px;white-space:nowrap;overflow:hidden;line-height:0;border:1px solid #888"
    return f'<div style="font:12px monospace">{escape(title)}</div><div style="{frame}">{"".join(parts)}</div>'


def html_view(fields: Row) -> str:
    name = main_list(fields)
    if name is None:
        return html_text(text_view(fields))
    parts = [html_table(fields[name], TABLES.get(name))]
    if name == "devices":
        parts.insert(0, html_bars(fields[name]))
        if fields.get("processes"):
            parts.append(html_table(fields["processes"], TABLES["processes"]))
    if name == "maps":
        parts += [html_map(each) for each in fields[name]]
    if name == "failures" and fields[name]:
        parts.append(html_text(newest_card(fields[name])))
    parts += [html_note(f"not exact: {reason}") for reason in reasons(fields)]
    return "".join(parts)
