# SPDX-License-Identifier: Apache-2.0
"""The questions that ttmem answers, one method each. Names, parameters and fields are those of docs/API.md."""

from __future__ import annotations

import os

from ._documents import Document, Rows, View
from ._errors import TtmemBadRequest, TtmemNotRunning, TtmemNotTracked
from ._sizes import parse_size
from ._transport import Daemon, Deadline, NoDaemon, Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator, Literal, Union

    from ._sizes import Size

    Devices = Union[int, str, Iterable[Union[int, str]]]
    Kinds = Union[str, Iterable[str]]
    GroupBy = Literal["name", "kind", "pid", "device", "set", "scope", "thread", "owner", "age"]

_PAGE = 10_000  # the most rows of one answer
_MOST = 100_000  # the highest limit

# The command line that answers the same question where no daemon runs; None: it has no option for the parameter.
_COMMANDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "status": (["status"], {}),
    "processes": (["ps"], {"device": "--device"}),
    "allocations": (
        ["allocations"],
        {"device": "--device", "pid": "--pid", "kind": "--kind", "name": "--name", "sort": "--sort", "limit": "--limit",
         "cursor": "--cursor", "group": "--group-by", "scope_depth": "--depth"},
    ),
    "peak": (["peak"], {"device": "--device", "pid": "--pid", "kind": "--kind", "limit": "--limit"}),
    "programs": (["programs"], {"device": "--device", "pid": "--pid", "name": "--name", "limit": "--limit"}),
    "map": (["map"], {"device": "--device", "pid": "--pid", "kind": "--kind", "core": "--core", "limit": "--limit"}),
    "cores": (["cores"], {"device": "--device"}),
    "failures": (["why"], {"device": "--device", "pid": "--pid", "type": "--type", "limit": "--limit"}),
    "leaks": (
        ["leaks"],
        {"device": "--device", "pid": "--pid", "kind": "--kind", "name": "--name", "mark_name": "--mark", "marks": "--marks",
         "limit": "--limit"},
    ),
    "advice": (["advise"], {}),
    "fit": (
        ["fit"],
        {"device": "--device", "kind": "--kind", "page": "--page", "shape": "--shape", "dtype": "--dtype", "layout": "--layout",
         "cores": "--cores", "pid": "--pid", "set": "--set", "size": "", "direction": ""},
    ),
}  # fmt: skip


def _joined(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, str)):
        return str(value)
    return ",".join(str(each) for each in value)


def _command_line(question: str, parameters: dict[str, str]) -> list[str]:
    if question not in _COMMANDS:
        raise NoDaemon
    words, options = _COMMANDS[question]
    arguments = [*words, "--direct"]
    for name, value in parameters.items():
        if name not in options:
            raise TtmemNotRunning(f"'{name}' of {question} needs the daemon, and none answers; start it with 'systemctl start ttmemd'")
        if name == "size":
            arguments.append(value)
        elif name == "direction":
            arguments.append("--" + value.replace("_", "-"))
        else:
            arguments += [options[name], value]
    return arguments


class Client:
    """Asks the daemon, or the `ttmem` program where none runs. Without arguments it finds both itself.

    socket   the path of a daemon's `api.sock`
    url      a daemon's address over TCP, `http://127.0.0.1:9479`, with the `token` of its `--token-file`
    program  the path of `ttmem`; else $TTMEM_PROGRAM, or the one in PATH
    timeout  seconds after which a question fails with TtmemTimeout
    """

    def __init__(
        self, *, socket: str | None = None, url: str | None = None, token: str | None = None, program: str | None = None,
        timeout: float = 10.0,
    ) -> None:  # fmt: skip
        self._daemon = Daemon(socket, url, token)
        self._program = Program(program)
        self.timeout = Deadline(timeout).timeout

    # The way to an answer.

    def ask(self, question: str, **parameters: Any) -> View:
        """Any question of docs/API.md by its name: `ask("cores", device=0)`."""
        from urllib.parse import urlencode

        wanted = {name: text for name, value in parameters.items() if (text := _joined(value)) is not None}
        target = f"/v1/{question}" + (f"?{urlencode(wanted)}" if wanted else "")
        try:
            return View(self._daemon.get(target, self.timeout))
        except NoDaemon as sockets:
            if self._daemon.is_fixed:
                raise TtmemNotRunning(f"no daemon answers at {sockets}; start it with 'systemctl start ttmemd'") from None
            try:
                arguments = _command_line(question, wanted)
            except NoDaemon:
                raise TtmemNotRunning(
                    f"{question} needs the daemon, and none answers at {sockets}; start it with 'systemctl start ttmemd'"
                ) from None
        return View(self._program.run(arguments, self.timeout, (0, 1, 3) if question == "fit" else (0,)))

    def _rows(self, question: str, limit: int, **parameters: Any) -> View:
        """A list; a limit of 0 means all of it."""
        if limit < 0:
            raise TtmemBadRequest(f"limit is {limit}: must be a number of rows, or 0 for all")
        return self.ask(question, limit=limit or _MOST, **parameters)

    # The questions.

    def status(self, *, scan: bool | None = None, rss: bool | None = None) -> View:
        """Devices and processes with their totals."""
        return self.ask("status", scan=scan, rss=rss)

    def processes(self, *, pid: int | None = None, device: Devices | None = None) -> View:
        """What each process holds on which device."""
        view = self.ask("processes", device=device)
        fields = {name: value for name, value in view.to_dict().items() if name != "devices"}
        if pid is not None:
            fields["processes"] = [process for process in fields["processes"] if process["pid"] == pid]
        return View(fields)

    def allocations(
        self, *, device: Devices | None = None, pid: int | None = None, kind: Kinds | None = None, name: str | None = None,
        group_by: GroupBy | None = None, scope_depth: int | None = None, since: int | None = None, sort: str | None = None,
        reverse: bool | None = None, limit: int = 0,
    ) -> View:  # fmt: skip
        """Live allocations, the largest first, or their sums by `group_by`. A limit of 0 means all."""
        filters = {"device": device, "pid": pid, "kind": kind, "name": name, "since": since, "reverse": reverse or None}
        if group_by is not None:
            return self._rows("allocations", limit, group=group_by, scope_depth=scope_depth, sort=sort, **filters)
        view = self._rows("allocations", min(limit, _PAGE) or _PAGE, sort=sort, **filters)
        fields, rows = view.to_dict(), view["allocations"].to_list()
        while view.get("next") is not None and (limit == 0 or len(rows) < limit):
            page = min(limit - len(rows), _PAGE) if limit else _PAGE
            view = self._rows("allocations", page, sort=sort, cursor=view["next"], **filters)
            rows += view["allocations"].to_list()
        return View({**fields, "next": view.get("next"), "left_out": view.get("left_out"), "allocations": rows})

    def why(
        self, *, device: Devices | None = None, pid: int | None = None, type: str | None = None, limit: int = 10
    ) -> View:
        """The last failures, how much was missing, and what holds the memory."""
        return self._rows("failures", limit, device=device, pid=pid, type=type)

    def fit(
        self, device: int | str, size: Size | None = None, *, kind: str | None = None, page: Size | None = None,
        shape: Iterable[int] | None = None, dtype: str | None = None, layout: str | None = None, cores: int | None = None,
        direction: Literal["bottom_up", "top_down"] | None = None, pid: int | None = None, set: str | None = None,
    ) -> View:  # fmt: skip
        """Whether a request would fit: `answer` is `fits`, `does not fit` or `undecided`."""
        return self.ask(
            "fit", device=device, kind=kind, size=None if size is None else parse_size(size),
            page=None if page is None else parse_size(page), shape=None if shape is None else list(shape), dtype=dtype,
            layout=layout, cores=cores, direction=direction, pid=pid, set=set,
        )  # fmt: skip

    def map(
        self, device: Devices, *, kind: Kinds | None = None, pid: int | None = None, core: tuple[int, int] | None = None,
        limit: int = 0,
    ) -> View:  # fmt: skip
        """The banks of a device: used and free blocks by address."""
        return self._rows("map", limit, device=device, kind=kind, pid=pid, core=core)

    def cores(self, device: int | str) -> View:
        """L1 of a device, core by core."""
        return self.ask("cores", device=device)

    def programs(
        self, *, device: Devices | None = None, pid: int | None = None, name: str | None = None, limit: int = 0
    ) -> View:
        """Circular buffers and kernels of each program."""
        return self._rows("programs", limit, device=device, pid=pid, name=name)

    def peak(
        self, *, device: int | str | None = None, pid: int | None = None, kind: str | None = None, limit: int = 0
    ) -> View:
        """What the peak of each process was made of, by name."""
        return self._rows("peak", limit, device=device, pid=pid, kind=kind)

    def growth(
        self, *, device: Devices | None = None, pid: int | None = None, kind: Kinds | None = None, name: str | None = None,
        limit: int = 0,
    ) -> View:  # fmt: skip
        """Which names grew in the last minute. Needs the daemon."""
        return self._rows("growth", limit, device=device, pid=pid, kind=kind, name=name)

    def leaks(
        self, *, device: Devices | None = None, pid: int | None = None, kind: Kinds | None = None, name: str | None = None,
        mark: str | None = None, marks: int | None = None, limit: int = 0,
    ) -> View:  # fmt: skip
        """Which names grow from mark to mark. Needs a daemon or program that has `leaks`."""
        return self._rows("leaks", limit, device=device, pid=pid, kind=kind, name=name, mark_name=mark, marks=marks)

    def history(
        self, *, device: Devices | None = None, kind: Kinds | None = None, since: int | None = None, pid: int | None = None,
        step: int | None = None,
    ) -> View:  # fmt: skip
        """Used bytes over time, or with `pid` those of one process; `step`: the highest of each N seconds. Needs the daemon."""
        return self.ask("history", device=device, kind=kind, since=since, pid=pid, step=step)

    def events(
        self, *, device: Devices | None = None, pid: int | None = None, kind: Kinds | None = None, since: int | None = None,
        limit: int = 0,
    ) -> View:  # fmt: skip
        """The last events that the daemon has kept, the oldest first; with `since` those from this sequence number on."""
        filters = {"device": device, "pid": pid, "kind": kind}
        last = limit if limit > 0 and since is None else None
        view = self._rows("events", min(limit, _PAGE) or _PAGE, since=since, last=last, **filters)
        fields = view.to_dict()
        rows = fields["events"]
        while len(view["events"]) >= _PAGE and (limit == 0 or len(rows) < limit):
            page = min(limit - len(rows), _PAGE) if limit else _PAGE
            view = self._rows("events", page, since=view["next_sequence"], **filters)
            _append_events(fields, view.to_dict())
        return View(fields)

    def post_mortems(self, *, device: Devices | None = None, pid: int | None = None, limit: int = 0) -> View:
        """Processes that died while a daemon ran, or with `pid` the details of one."""
        return self._rows("post-mortems", limit, device=device, pid=pid)

    # Streams.

    def watch(self, *, interval: float = 0.25, timeout: float = 30.0) -> Iterator[View]:
        """The status, and the whole status again whenever it changes, at most every `interval` seconds. Without a daemon it is
        read at each interval. It ends with TtmemTimeout if the daemon is silent for `timeout` seconds."""
        if not 0 < interval <= 3600:
            raise TtmemBadRequest(f"interval is {interval}: must be more than 0 and at most 3600 seconds")
        try:
            yield from self._stream(interval, timeout)
        except NoDaemon as sockets:
            if self._daemon.is_fixed:
                raise TtmemNotRunning(f"no daemon answers at {sockets}; start it with 'systemctl start ttmemd'") from None
            yield from self._poll(interval)

    def _stream(self, interval: float, timeout: float) -> Iterator[View]:
        state: dict[str, Any] = {}
        for event, data in self._daemon.stream(f"/v1/stream?interval_ms={max(1, round(interval * 1000))}", timeout):
            state = data if event == "view" else _apply(state, data)
            yield View(state)

    def _poll(self, interval: float) -> Iterator[View]:
        import time

        while True:
            yield self.status()
            time.sleep(interval)

    def follow_events(
        self, *, pid: int | None = None, device: Devices | None = None, kind: Kinds | None = None, since: int | None = None,
        timeout: float = 30.0,
    ) -> Iterator[Document]:  # fmt: skip
        """New events, one at a time. `missed` of a document is the number of events that were overwritten before."""
        from urllib.parse import urlencode

        wanted = {"pid": pid, "device": device, "kind": kind, "since": since}
        texts = {name: text for name, value in wanted.items() if (text := _joined(value)) is not None}
        try:
            for event, data in self._daemon.stream("/v1/events?" + urlencode({"stream": "true", **texts}), timeout):
                yield Document(data if event == "event" else {event: data})
        except NoDaemon as sockets:
            raise TtmemNotRunning(f"events need the daemon, and none answers at {sockets}; start it with 'systemctl start ttmemd'") from None

    # This process.

    def own_process(self) -> Document:
        """This process, as others see it. It must be tracked."""
        found = [each for each in self.processes()["processes"] if os.getpid() in (each["pid"], each["inner_pid"])]
        exact = [each for each in found if each["pid"] == os.getpid()] or found
        if not exact or exact[0]["state"] == "untracked":
            raise TtmemNotTracked(f"process {os.getpid()} reports nothing: run it under 'ttmem run', or open a device first")
        own: Document = exact[0]
        return own


def _apply(state: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """A status with a change of the stream applied to it."""
    result = {**state, **{name: value for name, value in change.items() if name not in ("devices", "processes")}}
    for name, key, gone in (("devices", "id", "gone_devices"), ("processes", "pid", "gone_processes")):
        entries = {entry[key]: entry for entry in state.get(name, [])}
        entries.update({entry[key]: entry for entry in change.get(name, [])})
        for absent in result.pop(gone, []):
            entries.pop(absent, None)
        result[name] = [entries[each] for each in sorted(entries)]
    return result


def _append_events(fields: dict[str, Any], page: dict[str, Any]) -> None:
    """The next page of a list of events: counts and reasons are those of all pages."""
    fields["events"] += page["events"]
    fields["next_sequence"] = page["next_sequence"]
    for name in ("missed", "hidden_events"):
        fields[name] += page[name]
    for reason in page["inexact"]:
        same = [each for each in fields["inexact"] if (each["pid"], each["code"]) == (reason["pid"], reason["code"])]
        if same:
            same[0]["count"] += reason["count"]
        else:
            fields["inexact"].append(reason)
    fields["exact"] = fields["exact"] and page["exact"]


def diff(before: View, after: View) -> Rows:
    """What differs between two answers of `allocations()`, by kind and name: bytes on each device and counts, before and after.
    Names with the same bytes and count are left out; what grew most comes first."""
    sums = [_sums(view) for view in (before, after)]
    rows = []
    for kind, name in {**sums[0], **sums[1]}:
        (used, count), (used_now, count_now) = (each.get((kind, name), (0, 0)) for each in sums)
        if (used, count) != (used_now, count_now):
            rows.append({"kind": kind, "name": name, "before": used, "now": used_now, "grown": used_now - used,
                         "count_before": count, "count_now": count_now})  # fmt: skip
    return Rows(sorted(rows, key=lambda row: (-row["grown"], str(row["name"]))))


def _sums(view: View) -> dict[tuple[str, str | None], tuple[int, int]]:
    if "allocations" not in view:
        raise TtmemBadRequest("diff compares two answers of allocations() without group_by")
    sums: dict[tuple[str, str | None], tuple[int, int]] = {}
    for each in view["allocations"].to_list():
        if not each["is_planned"] and not each["view"]:
            used, count = sums.get((each["kind"], each["name"]), (0, 0))
            sums[each["kind"], each["name"]] = (used + each["used"], count + 1)
    return sums
