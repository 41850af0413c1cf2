# SPDX-License-Identifier: Apache-2.0
"""Names for what this process allocates, and marks of moments."""

from __future__ import annotations

import time

from . import _native
from ._errors import TtmemBadRequest, TtmemNotFound, TtmemNotSupported, TtmemNotTracked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Callable, TypeVar, overload

    Function = TypeVar("Function", bound=Callable[..., Any])


def _encoded(name: str, what: str) -> bytes:
    if not isinstance(name, str) or not name or "\0" in name:
        raise TtmemBadRequest(f"{name!r}: the name of a {what} must be a text that is not empty and has no zero byte")
    return name.encode("utf-8", "surrogateescape")


class scope:
    """`with ttmem.scope("decoder.3"):` names everything that this thread allocates inside. Scopes may be inside each other, and
    one object may be used any number of times. In a process that is not tracked it does nothing."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = _encoded(name, "scope")

    def __enter__(self) -> "scope":
        _native.enter_scope(self._name)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _native.leave_scope()


if TYPE_CHECKING:

    @overload
    def scoped(target: Function) -> Function: ...
    @overload
    def scoped(target: str) -> Callable[[Function], Function]: ...


def scoped(target: Any) -> Any:
    """`@ttmem.scoped` runs a function in a scope of its name, `@ttmem.scoped("attention")` in one of this name."""
    if isinstance(target, str):
        return lambda function: _in_scope(function, scope(target))
    return _in_scope(target, scope(target.__qualname__))


def _in_scope(function: Callable[..., Any], name: scope) -> Callable[..., Any]:
    import functools

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        with name:
            return function(*arguments, **named)

    return wrapper


class Mark(int):
    """A moment on the host's monotonic clock, in nanoseconds: `allocations(since=mark)` lists what is newer. `is_kept` says
    whether the client keeps what each name held then, for `ttmem leaks`."""

    is_kept: bool
    name: str


def mark(name: str = "mark") -> Mark:
    """Marks this moment, such as the end of a step."""
    encoded = _encoded(name, "mark")
    moment = Mark(time.monotonic_ns())
    moment.name = name
    try:
        moment.is_kept = _native.mark(encoded)
    except (TtmemNotSupported, TtmemNotTracked):
        moment.is_kept = False
    return moment


def tag(target: Any, name: str, *, device: int = 0, kind: str = "dram") -> None:
    """Names one live allocation afterwards, inside the name that it has: `decoder.3/kv_cache`. `target` is its address, or an object with
    `address` or `buffer_address()`, such as a tensor of ttnn. In a process that is not tracked it does nothing."""
    address = target
    for attribute in ("buffer_address", "address"):
        if not isinstance(address, int):
            found = getattr(target, attribute, None)
            address = found() if callable(found) else found
    encoded = _encoded(name, "tag")
    if not isinstance(address, int) or kind not in _native.KIND_NUMBERS:
        raise TtmemBadRequest(f"tag({target!r}, {name!r}, kind={kind!r}): needs an address, a name and a kind of memory")
    if _native.is_reporting() and not _native.tag(device, kind, address, encoded):
        raise TtmemNotFound(f"this process has no allocation of {kind} at {address:#x} on device {device}")
