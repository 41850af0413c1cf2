# SPDX-License-Identifier: Apache-2.0
"""The answers: JSON objects whose fields are attributes too, under the names of docs/API.md. A field that a newer daemon
adds is there without a change of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import _tables
from ._errors import TtmemNotSupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, overload


def _wrap(value: Any) -> Any:
    if type(value) is dict:
        return Document(value)
    if type(value) is list:
        return Rows(value)
    return value


def flatten(fields: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Objects inside become names with dots: `memory.dram.used`."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(each) for name, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    import json

    return json.dumps(value, sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Document):
        return value.to_dict()
    return value


class Document(Mapping[str, "Any"]):
    """A JSON object: `device.memory["dram"].used` and `device["memory"]["dram"]["used"]` are the same."""

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_fields", dict(fields))

    def __getitem__(self, name: str) -> Any:
        return _wrap(self._fields[name])

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self._fields)
            raise AttributeError(f"there is no field '{name}'; the fields are {known}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"'{name}' can't be set: an answer does not change")

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._fields == (other._fields if isinstance(other, Document) else other)

    def __hash__(self) -> int:
        return hash(_text(self._fields))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._fields,))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object, as `json.loads` gives it."""
        copy: dict[str, Any] = _copy(self._fields)
        return copy

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._fields!r})"


class Rows(Sequence["Any"]):
    """A list of an answer. Rows that are objects print as a table."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = [_plain(row) for row in rows]

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> Any: ...
        @overload
        def __getitem__(self, index: slice) -> "Rows": ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Rows(self._rows[index])
        return _wrap(self._rows[index])

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == (other._rows if isinstance(other, Rows) else other)

    def __hash__(self) -> int:
        return hash(_text(self._rows))

    def to_list(self) -> list[Any]:
        """The JSON list."""
        copy: list[Any] = _copy(self._rows)
        return copy

    def to_pandas(self) -> Any:
        """A DataFrame with one row per element. Objects inside become columns such as `memory.dram.used`."""
        try:
            import pandas  # type: ignore[import]
        except ImportError:
            raise TtmemNotSupported("to_pandas() needs pandas: install python3-pandas, or the package with 'pip install ttmem[pandas]'") from None

        return pandas.DataFrame([flatten(row) if isinstance(row, Mapping) else {"value": row} for row in self._rows])

    def _are_objects(self) -> bool:
        return bool(self._rows) and all(isinstance(row, dict) for row in self._rows)

    def __repr__(self) -> str:
        if not self._are_objects():
            return repr(self._rows)
        return _tables.text_table(self._rows)

    def _repr_html_(self) -> str | None:
        from . import _html

        return _html.html_table(self._rows) if self._are_objects() else None


class View(Document):
    """The answer to a question. It prints as a table; `to_pandas()` gives the table's rows."""

    __slots__ = ()

    @property
    def rows(self) -> Rows:
        """The list that the question is about: `devices` of a status, `allocations` of a list."""
        name = _tables.main_list(self._fields)
        return Rows(self._fields[name] if name is not None else [])

    def to_pandas(self) -> Any:
        return self.rows.to_pandas()

    def __repr__(self) -> str:
        return _tables.text_view(self._fields)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.html_view(self._fields)
