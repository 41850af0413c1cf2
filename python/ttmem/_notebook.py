# SPDX-License-Identifier: Apache-2.0
"""`%load_ext ttmem`: `%ttmem` shows the status, `%ttmem allocations` another answer, and `%%ttmem` measures a cell."""

from __future__ import annotations

from typing import Any

from . import _html, _memory, _tables
from ._cards import cards
from ._errors import TtmemBadRequest
from ._sizes import format_size
from ._track import track

_ANSWERS = ("status", "processes", "allocations", "why", "programs", "peak", "growth")


class CellReport:
    """What `%%ttmem` shows below a cell."""

    def __init__(self, measured: track) -> None:
        self.track = measured

    def __repr__(self) -> str:
        return repr(self.track)

    def _repr_html_(self) -> str:
        rows = []
        devices = {**self.track.growth.by_device, **(self.track.peak.by_device if self.track.peak else {})}
        for device in sorted(devices):
            for kind in _memory.KINDS:
                peak = self.track.peak.of(kind, device) if self.track.peak else None
                grown = self.track.growth.of(kind, device)
                if peak or grown:
                    rows.append({"device": device, "kind": kind, "peak": peak, "growth": grown})
        columns = [
            _tables.Column("DEVICE", "device"),
            _tables.Column("KIND", "kind"),
            _tables.Column("PEAK", "peak", format_size),
            _tables.Column("GROWTH", "growth", format_size),
        ]
        parts = [_html.html_table(rows, columns) if rows else _html.html_note("no device memory was used")]
        if len(self.track.failures):
            parts.append(_html.html_table(self.track.failures.to_list(), _tables.TABLES["failures"]))
            parts.append(_html.html_text(cards(self.track.failures)))
        parts += [_html.html_note(f"not exact: {reason}") for reason in self.track.inexact]
        return "".join(parts)


def show(line: str) -> Any:
    """`%ttmem [answer]`"""
    name = line.strip() or "status"
    if name not in _ANSWERS:
        raise TtmemBadRequest(f"'{name}': must be one of {', '.join(_ANSWERS)}")
    return getattr(_memory.default_client, name)()


def load_ipython_extension(shell: Any) -> None:
    def measure(line: str, cell: str | None = None) -> Any:
        if cell is None:
            return show(line)
        from IPython.display import display  # type: ignore[import]

        with track(line.strip() or None) as measured:
            result = shell.run_cell(cell)
        display(CellReport(measured))
        result.raise_error()
        return None

    shell.register_magic_function(measure, magic_kind="line_cell", magic_name="ttmem")


def unload_ipython_extension(shell: Any) -> None:
    for magics in shell.magics_manager.magics.values():
        magics.pop("ttmem", None)
