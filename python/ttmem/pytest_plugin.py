# SPDX-License-Identifier: Apache-2.0
"""`pytest --ttmem`: what each test does to device memory, and limits on it.

A test is measured from the start to the end of its body: fixtures are set up before, and a device fixture closes its device
after. Figures travel with the reports, so they are right with xdist; each rerun of a test is measured anew."""

from __future__ import annotations

import gc
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Generator

import pytest

if TYPE_CHECKING:
    from ._track import track

_PROPERTY = "ttmem"
_CACHE = "ttmem/peaks"
_MOST_SHOWN = 10
_OPTIONS = ("ttmem", "ttmem_report", "ttmem_html", "ttmem_fail_on_leak", "ttmem_fail_on_increase")


def _memory_limits(*, device: Any = None, **limits: Any) -> dict[str, Any]:
    from ._memory import _number
    from ._sizes import parse_size

    wanted = {kind: limit for kind, limit in limits.items() if limit is not None}
    if not wanted or set(limits) - set(_kinds()):
        raise TypeError
    for limit in wanted.values():
        parse_size(limit)
    return {**wanted, "device": None if device is None else _number(device)}


def _size_limit(bytes: Any) -> Any:
    from ._sizes import parse_size

    parse_size(bytes)
    return bytes


# What each marker takes, and the function that checks it.
_MARKERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "limit_device_memory": ("takes the limits of dram, l1, l1_small, trace, cb or kernel, and device, by name", _memory_limits),
    "limit_device_leaks": ("takes one size: bytes=0", lambda bytes=0: _size_limit(bytes)),
    "device_headroom": ("takes one size, such as '64 KiB'", _size_limit),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ttmem", "device memory of Tenstorrent accelerators")
    group.addoption("--ttmem", action="store_true", help="measure the device memory of each test, and list the hungriest")
    group.addoption("--ttmem-report", metavar="FILE", help="write the figures of each test as JSON")
    group.addoption("--ttmem-html", metavar="FILE", help="write the figures of each test as a page")
    group.addoption("--ttmem-fail-on-leak", action="store_true", help="fail a test whose body leaves device memory allocated")
    group.addoption("--ttmem-fail-on-increase", action="store_true", help="fail a test whose peak is above that of its last good run")


def pytest_configure(config: pytest.Config) -> None:
    for text in (
        "limit_device_memory(dram=None, l1=None, l1_small=None, trace=None, cb=None, kernel=None, device=None): fail if a peak of "
        "the test is above the limit, such as '1 GiB', on this device or on any",
        "limit_device_leaks(bytes=0): fail if the test's body leaves more than this allocated on a device",
        "device_headroom(bytes): fail if L1 has less headroom than this between circular buffers and buffers on any core at the end",
    ):
        config.addinivalue_line("markers", text)
    for option in ("ttmem_report", "ttmem_html"):
        path = getattr(config.option, option)
        if path and (os.path.isdir(path) or not os.access(os.path.dirname(path) or ".", os.W_OK)):
            raise pytest.UsageError(f"--{option.replace('_', '-')} {path}: must be a file in a folder that can be written")
    config.pluginmanager.register(Plugin(config), "ttmem-session")


class DeviceMemory:
    """What the fixture `device_memory` gives: the device memory of this process inside a test."""

    def __init__(self, item: pytest.Item | None = None) -> None:
        self._item = item

    def allocated(self, kind: str = "dram", device: int = 0) -> int:
        """Bytes that are held now."""
        from . import memory_allocated

        return memory_allocated(device, kind=kind)

    def peak(self, kind: str = "dram", device: int = 0) -> int:
        """The highest bytes since the test's body began; in a fixture, `max_memory_allocated()`."""
        from . import max_memory_allocated

        measured: track | None = getattr(self._item, "_ttmem_open", None)
        return max_memory_allocated(device, kind=kind) if measured is None else measured._peak_so_far(device, kind=kind)

    def track(self, name: str | None = None) -> "track":
        """`with device_memory.track() as t:` measures a part of the test."""
        from ._track import track

        return track(name)


@pytest.fixture
def device_memory(request: pytest.FixtureRequest) -> DeviceMemory:
    """The device memory of this process."""
    return DeviceMemory(request.node)


class Plugin:
    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.option = config.option
        self.figures: dict[str, dict[str, Any]] = {}  # by test, of the last report

    @property
    def is_worker(self) -> bool:
        return hasattr(self.config, "workerinput")

    def _is_measured(self, item: pytest.Item) -> bool:
        has_fixture = "device_memory" in getattr(item, "fixturenames", ())
        return self._has_option() or has_fixture or any(item.get_closest_marker(name) for name in _MARKERS)

    def _has_option(self) -> bool:
        return any(getattr(self.option, name) for name in _OPTIONS)

    # In the process that runs the test.

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
        if not self._is_measured(pyfuncitem):
            yield
            return
        from . import TtmemError
        from ._track import track

        setattr(pyfuncitem, "_ttmem", None)
        gc.collect()  # what earlier tests left for the collector is not this test's
        measured = track(pyfuncitem.nodeid)
        try:
            measured.__enter__()
        except TtmemError as error:
            setattr(pyfuncitem, "_ttmem", str(error))
            yield
            return
        setattr(pyfuncitem, "_ttmem_open", measured)
        yield
        setattr(pyfuncitem, "_ttmem_open", None)
        gc.collect()
        try:
            measured.__exit__(None, None, None)
            setattr(pyfuncitem, "_ttmem", measured)
            if pyfuncitem.get_closest_marker("device_headroom"):
                setattr(pyfuncitem, "_ttmem_headroom", _headroom())
        except TtmemError as error:
            setattr(pyfuncitem, "_ttmem", str(error))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        outcome = yield
        report = outcome.get_result()
        measured = getattr(item, "_ttmem", None)
        if report.when != "call" or not self._is_measured(item):
            return
        if measured is None:
            measured = "only test functions are measured, not the methods of unittest.TestCase"
        problems = self._problems(item, measured) if report.passed and not hasattr(report, "wasxfail") else []
        if isinstance(measured, str):
            report.sections.append(("device memory", f"not measured: {measured}"))
        else:
            report.user_properties.append((_PROPERTY, _figures(measured)))
            if len(measured.failures) and not problems:
                report.sections.append(("device memory", measured.card()))
        if problems:
            report.outcome = "failed"
            card = "" if isinstance(measured, str) else "\n" + measured.card()
            report.longrepr = "device memory: " + "\n".join(problems) + card

    def _problems(self, item: pytest.Item, measured: "track | str") -> list[str]:
        from . import TtmemError

        try:
            limits = _limits(item)
            if not isinstance(measured, str) and measured.was_tracked:
                return self._exceeded(item, measured, limits)
        except TtmemError as error:
            return [f"the limits of this test can't be checked: {error}"]
        reason = measured if isinstance(measured, str) else "; ".join(measured.inexact)
        return [f"the limits of this test can't be checked: {reason}"] if limits else []

    def _exceeded(self, item: pytest.Item, measured: "track", limits: dict[str, Any]) -> list[str]:
        problems = measured.above_limits(**limits["limit_device_memory"]) if "limit_device_memory" in limits else []
        if "limit_device_leaks" in limits or self.option.ttmem_fail_on_leak:
            problems += measured.left_above(limits.get("limit_device_leaks", 0))
        if "device_headroom" in limits:
            problems += _without_headroom(limits["device_headroom"], getattr(item, "_ttmem_headroom", {}))
        if self.option.ttmem_fail_on_increase:
            problems += self._increases(item.nodeid, measured)
        return problems

    def _increases(self, test: str, measured: "track") -> list[str]:
        from . import format_size

        cache = getattr(self.config, "cache", None)
        before = cache.get(_CACHE, {}).get(test, {}) if cache is not None else {}
        now = _figures(measured)["peak"] or {}
        return [
            f"the peak of {kind} is {format_size(now[kind])} ({now[kind]} B), and was {format_size(before[kind])} in the last good run"
            for kind in now
            if kind in before and now[kind] > before[kind]
        ]

    # In the process that shows the results.

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = [figures for name, figures in report.user_properties if name == _PROPERTY]
        if report.when == "call" and found and not self.is_worker:
            figures = dict(found[-1])  # type: ignore[call-overload]
            self.figures[report.nodeid] = {"test": report.nodeid, "outcome": report.outcome, **figures}

    def pytest_sessionfinish(self) -> None:
        if self.is_worker:
            return
        cache = getattr(self.config, "cache", None)
        good = {
            test: figures["peak"]
            for test, figures in self.figures.items()
            if figures["outcome"] == "passed" and figures["peak"] is not None
        }
        if cache is not None and good:
            cache.set(_CACHE, {**cache.get(_CACHE, {}), **good})
        rows = sorted(self.figures.values(), key=_hunger, reverse=True)
        if self.option.ttmem_report:
            with open(self.option.ttmem_report, "w", encoding="utf-8") as file:
                json.dump({"schema": 1, "tests": rows}, file, indent=1)
        if self.option.ttmem_html:
            with open(self.option.ttmem_html, "w", encoding="utf-8") as file:
                file.write(_page(rows))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        rows = sorted(self.figures.values(), key=_hunger, reverse=True)
        is_tracked = any(row["was_tracked"] for row in rows)
        if self.is_worker or not (self.option.ttmem or (self._has_option() and not is_tracked)):
            return
        from . import format_size

        terminalreporter.section("device memory")
        if not is_tracked:
            terminalreporter.line("nothing was tracked: run 'ttmem run -- pytest ...', and open a device in the tests")
            return
        terminalreporter.line(f"{'PEAK DRAM':>11}{'PEAK L1':>11}{'LEFT':>11}{'FAILED':>8}  TEST")
        for row in rows[:_MOST_SHOWN]:
            peak = row["peak"] or {}
            amounts = (peak.get("dram"), peak.get("l1"), row["left"])
            terminalreporter.line("".join(f"{format_size(each):>11}" for each in amounts) + f"{row['failures']:>8}  {row['test']}")
        if len(rows) > _MOST_SHOWN:
            terminalreporter.line(f"... and {len(rows) - _MOST_SHOWN} more tests (--ttmem-report FILE has all)")


def _figures(measured: "track") -> dict[str, Any]:
    """What the reports carry: bytes on the device with most."""
    growth = measured.growth.by_device
    return {
        "was_tracked": measured.was_tracked,
        "peak": None if measured.peak is None else {kind: measured.peak[kind] for kind in _kinds()},
        "left": max((max(0, *kinds.values()) for kinds in _buffers(growth).values()), default=0),
        "leaked": measured.leaked.to_list(),
        "failures": len(measured.failures),
        "inexact": measured.inexact,
    }


def _kinds() -> tuple[str, ...]:
    from ._memory import KINDS

    return KINDS


def _buffers(growth: dict[int, dict[str, int]]) -> dict[int, dict[str, int]]:
    """Without circular buffers and kernels, which a cache of programs keeps."""
    return {device: {kind: kinds[kind] for kind in kinds if kind not in ("cb", "kernel")} for device, kinds in growth.items()}


def _limits(item: pytest.Item) -> dict[str, Any]:
    """What the markers of a test ask for, by marker. Raises TtmemBadRequest if one is wrong."""
    from . import TtmemBadRequest

    found = {}
    for name, (usage, takes) in _MARKERS.items():
        marker = item.get_closest_marker(name)
        if marker is None:
            continue
        try:
            found[name] = takes(*marker.args, **marker.kwargs)
        except TypeError:
            raise TtmemBadRequest(f"{name} {usage}") from None
        except TtmemBadRequest as error:
            raise TtmemBadRequest(f"{name}: {error}") from None
    return found


def _headroom() -> dict[int, int | None]:
    """The least headroom of L1 on each device that this process has open, in the view's numbers."""
    from . import status
    from ._memory import default_client

    cores = {device["id"]: device["l1_worst_core"] for device in status()["devices"]}
    own = [device["id"] for device in default_client.own_process()["devices"]]
    return {device: cores[device]["headroom"] if cores.get(device) is not None else None for device in own}


def _without_headroom(limit: Any, headroom: dict[int, int | None]) -> list[str]:
    from . import format_size, parse_size

    wanted = parse_size(limit)
    if not headroom:
        return ["the headroom of L1 can't be checked: this process has no device open at the end of the test's body"]
    return [
        f"the headroom of L1 on device {device} is not known: 'ttmem status' says why"
        if left is None
        else f"the headroom of L1 on device {device} is {format_size(left)} ({left} B), below {format_size(wanted)}"
        for device, left in sorted(headroom.items())
        if left is None or left < wanted
    ]


def _hunger(row: dict[str, Any]) -> tuple[int, int]:
    peak = row["peak"] or {}
    return peak.get("dram", 0), peak.get("l1", 0)


def _page(rows: list[dict[str, Any]]) -> str:
    from ._html import html_table
    from ._sizes import format_size
    from ._tables import Column

    columns = [Column("TEST", "test"), Column("OUTCOME", "outcome")]
    columns += [Column(f"PEAK {kind.upper()}", f"peak.{kind}", format_size) for kind in _kinds()]
    columns += [Column("LEFT", "left", format_size), Column("FAILED", "failures")]
    title = f"Device memory of {len(rows)} tests"
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    tables = "".join(html_table(rows[at : at + 100], columns) for at in range(0, len(rows), 100))
    return f"{head}<body><h1>{title}</h1>{tables or '<p>none</p>'}</body></html>\n"
