# SPDX-License-Identifier: Apache-2.0
"""Sizes as on the command line: `1 GB` is 10^9 bytes, `1 GiB` and `1G` are 2^30."""

from __future__ import annotations

from ._errors import TtmemBadRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Size = Union[int, str]

_LETTERS = "KMGT"


def parse_size(size: Size) -> int:
    """The bytes of `4096`, `"4096"`, `"8 GiB"`, `"8GB"` or `"512M"`."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    text = str(size).replace(" ", "")
    digits = text.rstrip("KMGTiB")
    unit = text[len(digits) :]
    if isinstance(size, bool) or not (digits.isascii() and digits.isdigit()):
        raise TtmemBadRequest(f"'{size}': must be a size such as 4096, 512M, 8GB or 8GiB")
    if unit in ("", "B"):
        return int(digits)
    if unit[0] not in _LETTERS or unit[1:] not in ("", "B", "iB"):
        raise TtmemBadRequest(f"'{size}': the unit must be B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB or a letter")
    factor: int = (1000 if unit[1:] == "B" else 1024) ** (1 + _LETTERS.index(unit[0]))
    return int(digits) * factor


def format_size(size: float | None) -> str:
    """As the command line prints it: `14.1 MiB`."""
    if size is None:
        return "unknown"
    if size < 0:
        return "-" + format_size(-size)
    if size < 1000:
        return f"{int(size)} B"
    amount = size / 1024
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 999.95:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} EiB"


def format_age(age_ns: int | None) -> str:
    """`350ms`, `12s`, `3m05s`, `2h10m` or `4d03h`."""
    if age_ns is None:
        return "unknown"
    seconds = age_ns // 1_000_000_000
    if seconds == 0:
        return f"{age_ns // 1_000_000}ms" if age_ns >= 1_000_000 else "<1ms"
    if seconds < 60:
        return f"{seconds}s"
    for large, small, next_large, letters in ((60, 1, 3600, "ms"), (3600, 60, 86400, "hm")):
        if seconds < next_large:
            return f"{seconds // large}{letters[0]}{seconds % large // small:02}{letters[1]}"
    return f"{seconds // 86400}d{seconds % 86400 // 3600:02}h"
