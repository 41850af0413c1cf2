#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every question of the Python package has the figures of 'ttmem --json', with and without a daemon."""

import contextlib
import html
import json
import os
import pickle
import resource
import shutil
import socket
import subprocess
import sys
import threading
import unittest
from unittest import mock

from harness.python_package import script_environment  # makes the package importable
from harness.programs import SIMULATOR
from harness.test_case import TestCase, main
from harness.users import STRANGER, as_user, needs_other_users
from harness.waiting import TIMEOUT, wait_until

import ttmem
from ttmem import _transport

# What differs between two answers to the same question.
CHANGING = {"time_ns", "span_ns", "age_ns", "oldest_age_ns", "rss", "telemetry", "source", "uptime_ns", "peaked_ns", "since_age_ns"}

STEPS = {"leak": "step 3", "cb-clash": "clash"}  # else the second


def steady(value):
    """Without what changes from one reading to the next: the moment, ages, and counts of events."""
    if isinstance(value, dict):
        return {name: steady(each) for name, each in value.items()
                if name not in CHANGING and (name != "events" or isinstance(each, list))}
    return [steady(each) for each in value] if isinstance(value, list) else value


class Package(TestCase):
    def setUp(self):
        super().setUp()
        for name, value in (("TTMEM_RUNTIME_DIR", self.directory.path), ("XDG_STATE_HOME", self.state_directory)):
            os.environ[name] = value

    def assert_same(self, ask, *command: str):
        """Both answers are asked for until they are of the same moment: what the daemon keeps changes with the seconds."""
        answers = {}

        def is_same() -> bool:
            answers.update(package=steady(ask().to_dict()), program=steady(self.json_of(*command)))
            return answers["package"] == answers["program"]

        try:
            wait_until(is_same, "the same answer")
        except AssertionError:
            self.assertEqual(answers["package"], answers["program"], command)


class Figures(Package):
    def test_every_question_in_every_scenario_with_a_daemon(self):
        self.daemon()

        def check(simulator):
            self.assertEqual(ttmem.status().source, "daemon")
            self.check(simulator.pid)
            self.check_past(simulator.pid)
            self.check_diff(simulator)
            simulator.kill()
            wait_until(lambda: simulator.pid in [each.process.pid for each in ttmem.post_mortems().post_mortems], "no post-mortem")
            self.assert_same(lambda: ttmem.post_mortems(pid=simulator.pid), "post-mortem", str(simulator.pid), "--limit", "0")

        self.in_every_scenario(check)
        self.assert_same(ttmem.post_mortems, "post-mortem", "--limit", "0")

    def test_every_scenario_without_a_daemon(self):
        def check(simulator):
            self.assertEqual(ttmem.status().source, "direct")
            self.check(simulator.pid)
            self.check_diff(simulator)

        self.in_every_scenario(check)

    def in_every_scenario(self, check):
        self.has_differed = False
        listed = subprocess.run([SIMULATOR, "list", "--json"], capture_output=True, check=True).stdout
        names = [each["name"] for each in json.loads(listed)]
        self.assertIn("case-17", names)
        for name in names:
            with self.subTest(scenario=name):
                simulator = self.simulator(name)
                with contextlib.closing(simulator):
                    if name in STEPS:
                        simulator.go_to(STEPS[name])
                    else:
                        self.assertTrue(simulator.next() and simulator.next(), "it has two steps")
                    self.assertEqual([each.pid for each in ttmem.status().processes], [simulator.pid])
                    check(simulator)
        self.assertTrue(self.has_differed, "no step has changed anything")

    def check(self, pid: int):
        device = ttmem.processes(pid=pid).processes[0].devices[0].id
        d = str(device)
        self.assert_same(ttmem.status, "status")
        wait_until(lambda: steady(ttmem.processes().processes.to_list()) == steady(self.json_of("ps")["processes"]), "the same processes")
        self.assertEqual(ttmem.processes(pid=pid).processes[0].pid, pid)
        self.assert_same(ttmem.allocations, "allocations", "--limit", "0")
        self.assert_same(lambda: ttmem.allocations(kind=["dram", "l1"], device=[device]), "allocations", "--limit", "0", "--kind", "dram,l1",
                         "-d", d)
        self.assert_same(lambda: ttmem.allocations(group_by="scope"), "allocations", "--limit", "0", "--group-by", "scope")
        self.assert_same(ttmem.why, "why")
        self.assert_same(lambda: ttmem.map(device), "map", "-d", d, "--limit", "0")
        self.assert_same(lambda: ttmem.cores(device), "cores", "-d", d, "--limit", "0")
        self.assert_same(ttmem.programs, "programs", "--limit", "0")
        self.assert_same(lambda: ttmem.peak(device=device, kind="dram"), "peak", "-d", d, "--kind", "dram", "--limit", "0")
        self.assert_same(lambda: ttmem.fit(device, "1 MiB"), "fit", "-d", d, "1MiB")
        self.assert_same(ttmem.leaks, "leaks", "--limit", "0")
        self.assert_same(lambda: next(ttmem.watch()), "status")

    def check_diff(self, simulator):
        """What the next step changes."""
        before = ttmem.allocations()
        self.output_of("mark", "before")
        if not simulator.next():
            return

        def changes() -> tuple[dict, dict]:
            found, listed = {}, self.json_of("diff", "mark:before", "now", "--limit", "0")["changes"]
            for row in listed:
                sums = found.setdefault((row["kind"], row.get("name")), [0, 0])
                sums[0] += row["before"]
                sums[1] += row["after"]
            return found, {(row.kind, row.name): [row.before, row.now] for row in ttmem.diff(before, ttmem.allocations()) if row.grown}

        def is_same() -> bool:
            program, package = changes()
            self.has_differed |= bool(program)
            return program == package

        wait_until(is_same, "the same differences")
        shutil.rmtree(os.path.join(self.state_directory, "ttmem", "marks"))  # 'ttmem leaks' would use them in the next scenario

    def check_past(self, pid: int):
        """What the daemon keeps."""
        device = ttmem.processes(pid=pid).processes[0].devices[0].id
        d, p = str(device), str(pid)
        self.assert_same(lambda: ttmem.events(pid=pid), "events", "--pid", p, "--limit", "0")
        self.assert_same(lambda: ttmem.growth(pid=pid), "growth", "--pid", p, "--limit", "0")
        self.assert_same(lambda: ttmem.history(device=device, kind="dram", since=0), "history", "-d", d, "--kind", "dram", "--seconds", "100000000")
        self.assert_same(lambda: ttmem.history(pid=pid, since=0), "history", "--pid", p, "--seconds", "100000000")

    # What asks for more than the defaults, and the options of the command that ask for the same.
    PARAMETERS = [
        *((lambda sort=sort: ttmem.allocations(sort=sort), f"allocations --limit 0 --sort {sort}")
          for sort in ("used", "requested", "age", "address", "name")),
        *((lambda group=group: ttmem.allocations(group_by=group), f"allocations --limit 0 --group-by {group}")
          for group in ("name", "kind", "pid", "device", "set", "scope", "thread", "owner", "age")),
        (lambda: ttmem.allocations(group_by="scope", scope_depth=2), "allocations --limit 0 --group-by scope --depth 2"),
        (lambda: ttmem.allocations(name="decoder", kind="l1"), "allocations --limit 0 --name decoder --kind l1"),
        (lambda: ttmem.allocations(group_by="name", limit=2), "allocations --limit 2 --group-by name"),
        (lambda: ttmem.map(0, core=(0, 0)), "map --limit 0 -d 0 --core 0,0"),
        (lambda: ttmem.map([0], kind=["dram", "l1"]), "map --limit 0 -d 0 --kind dram,l1"),
        (lambda: ttmem.why(type="cb_clash"), "why --type cb_clash"),
        (lambda: ttmem.why(type="out_of_memory"), "why --type out_of_memory"),
        (lambda: ttmem.why(device=0, limit=1), "why -d 0 --limit 1"),
        (lambda: ttmem.fit(0, 1 << 20, kind="l1", page="4 KiB"), "fit -d 0 1MiB --kind l1 --page 4096"),
        (lambda: ttmem.fit(0, 1 << 20, kind="l1", cores=4), "fit -d 0 1MiB --kind l1 --cores 4"),
        (lambda: ttmem.fit(0, "1 MiB", direction="top_down"), "fit -d 0 1MiB --top-down"),
        (lambda: ttmem.fit(0, "1 MiB", direction="bottom_up"), "fit -d 0 1MiB --bottom-up"),
        (lambda: ttmem.fit(0, shape=(1, 1, 64, 64), dtype="float32", layout="row_major"),
         "fit -d 0 --shape 1,1,64,64 --dtype float32 --layout row_major"),
        (lambda: ttmem.fit(0, 4096, set=ttmem.map(0).maps[0].set), "fit -d 0 4096 --set SET"),
        (lambda: ttmem.programs(name="conv2d", device=0), "programs --limit 0 --name conv2d -d 0"),
        (lambda: ttmem.ask("advice"), "advise"),
    ]

    def test_every_parameter_means_what_the_option_means(self):
        self.simulator_at("cb-clash", "clash")
        for source in ("direct", "daemon"):
            if source == "daemon":
                self.daemon()
            for ask, command in self.PARAMETERS:
                with self.subTest(source=source, command=command):
                    words = [ttmem.map(0).maps[0].set if word == "SET" else word for word in command.split(" ")]
                    self.assert_same(ask, *words)
                    self.assertEqual(ask().source, source)

    def test_parameters_that_only_the_daemon_has(self):
        self.simulator_at("cb-clash", "clash")
        calls = {
            "scan": lambda: ttmem.status(scan=False),
            "rss": lambda: ttmem.status(rss=True),
            "reverse": lambda: ttmem.allocations(reverse=True),
            "since": lambda: ttmem.allocations(since=1),
        }
        for name, call in calls.items():
            with self.assertRaisesRegex(ttmem.TtmemNotRunning, f"'{name}' of .* needs the daemon, and none answers"):
                call()
        self.daemon()
        self.assertIsNone(calls["scan"]().devices[0].memory.dram.largest_free)
        self.assertIsNotNone(ttmem.status(scan=True).devices[0].memory.dram.largest_free)
        self.assert_same(lambda: ttmem.status(scan=True), "status")
        self.assertGreater(calls["rss"]().processes[0].rss, 0)
        self.assertIsNone(ttmem.status(rss=False).processes[0].rss)
        rows = self.json_of("allocations", "--limit", "0", "--sort", "address")["allocations"]
        self.assertEqual(steady(ttmem.allocations(sort="address", reverse=True).allocations.to_list()), steady(rows)[::-1])
        self.assertEqual(ttmem.allocations(since=1).total, len(rows))
        self.assert_same(lambda: ttmem.history(device=0, since=0, step=2), "history", "-d", "0", "--seconds", "100000000", "--step", "2")

    def test_a_request_that_does_not_fit_is_an_answer(self):
        self.simulator_at("leak", "open")
        self.assertEqual(ttmem.fit(0, "1TiB").answer, "does not fit")
        self.assertEqual(ttmem.fit(0, shape=(1, 1, 4096, 4096)).answer, "fits")

    def test_questions_of_the_daemon(self):
        self.daemon()
        simulator = self.simulator_at("leak", "step 2")
        self.assertEqual(ttmem.ask("health").status, "ok")
        self.assertIn(simulator.pid, {event.pid for event in ttmem.events().events})
        self.assertEqual(ttmem.growth().schema, 1)
        self.assertEqual(ttmem.history(device=0).schema, 1)
        simulator.kill()
        wait_until(lambda: simulator.pid in [each.process.pid for each in ttmem.post_mortems().post_mortems], "no post-mortem")
        self.assertEqual(ttmem.post_mortems(pid=simulator.pid).post_mortem.summary.process.pid, simulator.pid)

    def test_leaks_are_those_of_the_program(self):
        process = self.tracked_process("""
            s = open_set([device(16)])
            held = []
            for step in range(6):
                scope("cache")
                held.append(allocate(s, DRAM, 1048576 * (step + 1), 4096, 4096))
                library.ttmem_scope_pop()
                mark("step")
        """)
        for source in ("direct", "daemon"):
            if source == "daemon":
                self.daemon().wait_for(process.pid)
            with self.subTest(source=source):
                view = ttmem.leaks()
                self.assertEqual(view.source, source)
                self.assertEqual([(leak.name, leak.per_mark) for leak in view.leaks], [("cache", 4096)])
                self.assert_same(ttmem.leaks, "leaks", "--limit", "0")
                self.assert_same(lambda: ttmem.leaks(mark="step", marks=4), "leaks", "--mark", "step", "--marks", "4", "--limit", "0")
                self.assertEqual(len(ttmem.leaks(kind="l1").leaks), 0)

    def test_a_list_of_several_pages_is_put_together(self):
        self.daemon()
        self.simulator_at("leak", "step 5")
        everything = ttmem.allocations()
        self.assertEqual(everything.total, len(everything.allocations))
        two = ttmem.allocations(limit=2)
        self.assertEqual((len(two.allocations), two.left_out), (2, everything.total - 2))
        self.assertIsNotNone(two.next)
        with mock.patch.object(ttmem._client, "_PAGE", 2):
            self.assert_same(ttmem.allocations, "allocations", "--limit", "0")
            rows = ttmem.allocations(sort="age", limit=5).allocations.to_list()
            self.assertEqual(steady(rows), steady(self.json_of("allocations", "--limit", "5", "--sort", "age")["allocations"]))

    def test_events_of_several_pages_are_put_together(self):
        self.daemon()
        simulator = self.simulator_at("leak", "step 5")
        newest = None

        def is_complete() -> bool:  # the daemon follows events within moments
            nonlocal newest
            before, newest = newest, ttmem.events().next_sequence
            return newest > 8 and before == newest

        wait_until(is_complete, "events")
        with mock.patch.object(ttmem._client, "_PAGE", 2):
            self.assert_same(ttmem.events, "events", "--limit", "0")
            self.assert_same(lambda: ttmem.events(pid=simulator.pid, kind="dram"), "events", "--limit", "0", "--pid", str(simulator.pid), "--kind", "dram")
            for limit in (1, 2, 3, 5):
                self.assert_same(lambda: ttmem.events(limit=limit), "events", "--limit", str(limit))
                self.assertEqual([each.sequence for each in ttmem.events(since=2, limit=limit).events], list(range(2, 2 + limit)))

    def test_counts_and_reasons_of_pages_of_events_are_added(self):
        def page(sequences: list[int], missed: int, hidden: int, *reasons: tuple[int, str, int]) -> ttmem.View:
            return ttmem.View({"exact": not reasons, "inexact": [{"pid": pid, "code": code, "count": count} for pid, code, count in reasons],
                               "next_sequence": sequences[-1] + 1, "missed": missed, "hidden_events": hidden,
                               "events": [{"sequence": each} for each in sequences]})

        pages = [page([1, 2], 3, 0), page([5, 6], 2, 4, (0, "events_hidden", 4), (7, "events_lost", 1)),
                 page([9], 0, 1, (0, "events_hidden", 1), (8, "events_lost", 2))]
        with mock.patch.object(ttmem._client, "_PAGE", 2), mock.patch.object(ttmem.Client, "ask", side_effect=pages):
            view = ttmem.Client().events()
        self.assertEqual(([each.sequence for each in view.events], view.next_sequence, view.missed, view.hidden_events, view.exact),
                         ([1, 2, 5, 6, 9], 10, 5, 5, False))
        self.assertEqual([(each.pid, each.code, each.count) for each in view.inexact],
                         [(0, "events_hidden", 5), (7, "events_lost", 1), (8, "events_lost", 2)])


class Cards(Package):
    # Every verdict, each way out, with and without a buffer in the way.
    SCENARIOS = ("oom-dram", "fragmentation", "cb-clash", "case-02", "case-04", "case-06", "case-07", "case-08", "case-12", "case-13", "case-14",
                 "case-17")

    def test_the_card_is_the_text_of_the_program(self):
        self.daemon()
        for name in self.SCENARIOS:
            with self.subTest(scenario=name):
                simulator = self.simulator(name)
                failures = ttmem.Rows([])
                while len(failures) == 0:
                    self.assertTrue(simulator.next(), "it ended without a failure")
                    failures = ttmem.why(pid=simulator.pid).failures
                card = ttmem.card(failures[0], "Card of failure 1")
                printed = self.output_of("why", "--pid", str(simulator.pid))
                self.assertIn(card + "\n", printed)
                for part in ("request ", "bank ", "What would have made it fit"):
                    self.assertIn(f"\n  {part}", card)
                self.assertIn(card, repr(ttmem.why(pid=simulator.pid)))
                self.assertIn(html.escape(card), ttmem.why(pid=simulator.pid)._repr_html_())
                simulator.close()

    def test_a_failure_without_a_card_has_its_figures(self):
        self.daemon()
        simulator = self.simulator("cb-clash")
        simulator.go_to("clash")
        failure = {**ttmem.why(pid=simulator.pid).failures[0].to_dict(), "card": None, "no_card": "too_soon"}
        text = ttmem.card(failure)
        self.assertRegex(text, r"^Card: clash of cb, device \d+, process \d+\n  circular buffers of program \d+ end at 0x\w+ on core 0,0\n"
                               r"  the lowest L1 buffer starts at 0x\w+\n  no card: another was written within the same second$")


class Documents(Package):
    def test_fields_are_attributes_and_keys(self):
        self.simulator_at("leak", "step 1")
        status = ttmem.status()
        self.assertEqual(status.devices[0].memory["dram"].used, status["devices"][0]["memory"]["dram"]["used"])
        self.assertGreater(status.devices[0].memory.dram.used, 0)
        with self.assertRaisesRegex(AttributeError, "no field 'device'; the fields are .*devices"):
            status.device
        with self.assertRaises(AttributeError):
            status.exact = True
        self.assertEqual(pickle.loads(pickle.dumps(status)), status)
        self.assertEqual(len({status, status}), 1)
        self.assertIn("devices", dir(status))

    def test_a_field_that_is_new_is_there(self):
        self.assertEqual(ttmem.Document({"a": {"b": [{"c": 1}]}}).a.b[0].c, 1)

    def test_answers_print_as_tables_and_as_html(self):
        self.simulator_at("cb-clash", "clash")
        for view in (ttmem.status(), ttmem.allocations(), ttmem.why(), ttmem.map(0), ttmem.processes(), ttmem.cores(0),
                     ttmem.allocations(group_by="name"), ttmem.fit(0, 1024), ttmem.programs()):
            text, html = repr(view), view._repr_html_()
            self.assertGreater(len(text.splitlines()), 1)
            self.assertTrue(html.startswith("<table") or "<table" in html, html)
            self.assertNotIn("<script", html)
            self.assertNotIn("http", html)
        self.assertIn("decoder.0/activation", repr(ttmem.allocations()))

    def test_names_of_others_are_harmless(self):
        view = ttmem.View({"host": "h", "allocations": [{"pid": 1, "devices": [0], "kind": "dram", "address": 1, "used": 2, "requested": 2,
                                                         "age_ns": 1, "name": "<script>\x1b[2J"}]})
        self.assertNotIn("<script>", view._repr_html_())
        self.assertNotIn("\x1b", repr(view))

    def test_an_answer_has_its_main_list(self):
        simulator = self.simulator_at("leak", "step 1")
        self.assertIsInstance(ttmem.status().rows, ttmem.Rows)
        self.assertEqual([each.pid for each in ttmem.processes().rows], [simulator.pid])
        with self.assertRaisesRegex(ttmem.TtmemNotTracked, "run it under 'ttmem run'"):
            ttmem.default_client.own_process()

    def test_lists_become_pandas_frames(self):
        self.simulator_at("leak", "step 1")
        frame = ttmem.status().to_pandas()
        self.assertEqual(frame["memory.dram.used"][0], ttmem.status().devices[0].memory.dram.used)
        self.assertEqual(len(ttmem.allocations().to_pandas()), len(ttmem.allocations().allocations))

    def test_two_answers_can_be_compared(self):
        simulator = self.simulator_at("leak", "step 1")
        before = ttmem.allocations(pid=simulator.pid)
        simulator.go_to("step 3")
        rows = ttmem.diff(before, ttmem.allocations(pid=simulator.pid))
        self.assertEqual([(row.name, row.count_now - row.count_before) for row in rows], [("decoder.2/attention_mask", 2)])
        self.assertEqual(rows[0].grown, rows[0].now - rows[0].before)


class Watch(Package):
    def test_the_stream_follows_changes(self):
        self.daemon()
        simulator = self.simulator_at("leak", "open")
        stream = ttmem.watch(interval=0.01)
        first = next(stream)
        self.assertEqual(first.devices[0].memory.dram.used, 0)
        simulator.go_to("step 1")
        wanted = ttmem.status().devices[0].memory.dram.used
        self.assertTrue(any(view.devices[0].memory.dram.used == wanted for view in stream))
        simulator.kill()
        self.assertTrue(any(len(view.processes) == 0 for view in stream))

    def test_without_a_daemon_it_reads_again(self):
        simulator = self.simulator_at("leak", "step 1")
        stream = ttmem.watch(interval=0.01)
        self.assertEqual([next(stream).processes[0].pid for _ in range(2)], [simulator.pid] * 2)

    def test_events_can_be_followed(self):
        self.daemon()
        simulator = self.simulator_at("leak", "open")
        stream = ttmem.follow_events(pid=simulator.pid, since=0)
        simulator.go_to("step 1")
        self.assertTrue(any(event.get("what") == "allocation" for event in stream))


class Errors(Package):
    def test_errors_name_the_way_out(self):
        with self.assertRaisesRegex(ttmem.TtmemNotRunning, "history needs the daemon.*systemctl start ttmemd"):
            ttmem.history()
        with self.assertRaisesRegex(ttmem.TtmemNotRunning, "no daemon answers at .*start it with"):
            ttmem.Client(socket=os.path.join(self.directory.path, "api.sock")).status()
        with self.assertRaisesRegex(ttmem.TtmemNotRunning, "can't be run"):
            ttmem.Client(program="/nonexistent/ttmem").status()
        for call in (lambda: ttmem.allocations(kind="ram"), lambda: ttmem.allocations(limit=-1), lambda: ttmem.fit(0, "1 XB")):
            self.assertRaises(ttmem.TtmemBadRequest, call)
        with self.assertRaisesRegex(ttmem.TtmemNotRunning, "'since' of allocations needs the daemon"):
            ttmem.allocations(since=1)

    def test_errors_of_the_daemon(self):
        self.daemon()
        self.assertRaises(ttmem.TtmemBadRequest, ttmem.allocations, kind="ram")
        self.assertRaises(ttmem.TtmemNotFound, ttmem.map, 99)
        self.assertRaises(ttmem.TtmemNotSupported, ttmem.ask, "unheard-of")
        self.assertTrue(issubclass(ttmem.TtmemNotPermitted, PermissionError))

    def test_a_stream_that_is_refused_says_why(self):
        self.daemon()
        with self.assertRaisesRegex(ttmem.TtmemBadRequest, "ram"):
            next(ttmem.follow_events(kind="ram"))

    def test_a_daemon_that_is_not_there_for_streams(self):
        client = ttmem.Client(socket=os.path.join(self.directory.path, "api.sock"))
        for stream in (client.watch(), client.follow_events(), ttmem.follow_events()):
            with self.assertRaisesRegex(ttmem.TtmemNotRunning, "start it with 'systemctl start ttmemd'"):
                next(stream)

    def test_a_daemon_with_too_many_connections_is_running(self):
        self.daemon()
        path = os.path.join(self.directory.path, "api.sock")
        with contextlib.ExitStack() as stack:
            for _ in range(64):  # those of one user
                stack.enter_context(socket.socket(socket.AF_UNIX)).connect(path)
            for call in (ttmem.status, lambda: next(ttmem.watch()), lambda: next(ttmem.follow_events())):
                with self.assertRaisesRegex(ttmem.TtmemError, "too many connections, try again") as raised:
                    call()
                self.assertIs(type(raised.exception), ttmem.TtmemError)

    @needs_other_users
    def test_a_socket_that_is_closed_to_this_user(self):
        self.daemon()
        os.chmod(os.path.join(self.directory.path, "api.sock"), 0o600)
        os.chmod(self.directory.path, 0o755)
        script = "import ttmem\ntry: ttmem.status()\nexcept ttmem.TtmemNotPermitted as error: print(error)"
        done = subprocess.run(as_user(STRANGER, sys.executable, "-c", script), capture_output=True, text=True, timeout=TIMEOUT,
                              env=script_environment(self.directory.path))
        self.assertEqual((done.stdout, done.stderr),
                         (f"{self.directory.path}/api.sock is closed to this user: ask the administrator for access to it\n", ""))

    def test_sockets_that_can_not_be(self):
        long = os.path.join("/tmp", "x" * 120)
        with self.assertRaisesRegex(ttmem.TtmemBadRequest, "x/api.sock: the path of a socket has at most 107 bytes; give a shorter"):
            with mock.patch.dict(os.environ, TTMEM_RUNTIME_DIR=long):
                ttmem.status()
        with self.assertRaisesRegex(ttmem.TtmemBadRequest, "the path of a socket has at most"):
            ttmem.Client(socket=long).status()
        loop = os.path.join(self.directory.path, "loop")
        os.symlink(loop, loop)
        with self.assertRaisesRegex(ttmem.TtmemNotRunning, "closed the connection early .*symbolic links"):
            ttmem.Client(socket=loop).status()

    def test_a_process_without_a_file_left(self):
        ttmem.status()  # what it imports is there
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        used = len(os.listdir("/proc/self/fd")) - 1
        for free in (0, 1, 2):
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + free, limits[1]))
            with self.assertRaisesRegex(ttmem.TtmemError, r"no file is left for a question \(Too many open files\): close files, or raise") as raised:
                ttmem.Client().status()
            self.assertIs(type(raised.exception), ttmem.TtmemError)
        with self.assertRaisesRegex(ttmem.TtmemError, "no file is left"):
            resource.setrlimit(resource.RLIMIT_NOFILE, (used, limits[1]))
            ttmem.Client(url="http://127.0.0.1:1").status()

    def test_frames_without_pandas(self):
        with mock.patch.dict(sys.modules, pandas=None), self.assertRaisesRegex(ttmem.TtmemNotSupported, "install python3-pandas"):
            ttmem.Rows([{"a": 1}]).to_pandas()

    def test_a_program_that_is_too_old_is_named(self):
        with self.assertRaisesRegex(ttmem.TtmemNotSupported, "is older than this call"):
            ttmem.Client()._program.run(["unheard-of"], 10)

    def test_words_of_an_error_decide_nothing(self):
        """Neither those of the daemon nor those of the program."""
        for code, status, expected in (("unknown_address", 404, ttmem.TtmemNotSupported), ("not_found", 404, ttmem.TtmemNotFound),
                                       ("bad_request", 400, ttmem.TtmemBadRequest)):
            body = json.dumps({"error": "no such address, or an unknown command: no device", "code": code}).encode()
            self.assertIs(type(_transport._refusal(status, body, "/v1/x")), expected, code)
        self.assertIs(type(_transport._refusal(404, b"no JSON", "/v1/address")), ttmem.TtmemNotFound)
        for code, expected in ((1, ttmem.TtmemError), (2, ttmem.TtmemBadRequest), (4, ttmem.TtmemNotFound), (5, ttmem.TtmemNotSupported)):
            program = os.path.join(self.directory.path, f"program{code}")
            with open(program, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o700)) as file:
                file.write(f"#!/bin/sh\necho 'ttmem: unknown command, no device' >&2\nexit {code}\n")
            with self.assertRaises(ttmem.TtmemError) as raised:
                _transport.Program(program).run(["status"], 10)
            self.assertIs(type(raised.exception), expected, code)

    def test_over_tcp_lists_need_the_token(self):
        path = os.path.join(self.directory.path, "token")
        with open(path, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("secret-of-this-test\n")
        daemon = self.daemon("--token-file", path, listen="127.0.0.1:0")
        simulator = self.simulator_at("leak", "step 1")
        url = f"http://127.0.0.1:{daemon.port()}"
        self.assertEqual(ttmem.Client(url=url).status().processes[0].pid, simulator.pid)
        with self.assertRaises(ttmem.TtmemNotPermitted):
            ttmem.Client(url=url).allocations()
        with self.assertRaises(ttmem.TtmemNotPermitted):
            ttmem.Client(url=url, token="wrong").allocations()
        with self.assertRaisesRegex(ttmem.TtmemNotPermitted, "token"):
            next(ttmem.Client(url=url).follow_events())
        self.assertGreater(ttmem.Client(url=url, token="secret-of-this-test").allocations().total, 0)
        self.assertRaises(ttmem.TtmemBadRequest, ttmem.Client(url="ftp://x").status)

    def test_wrong_arguments_are_refused(self):
        for call in (lambda: ttmem.Client(timeout=0), lambda: ttmem.Client(timeout=None), lambda: ttmem.Client(url="http://[::1").status(),
                     lambda: ttmem.mark(""), lambda: ttmem.mark("a\0b"), lambda: ttmem.scope(5), lambda: ttmem.tag(1, "a\0b")):
            self.assertRaises(ttmem.TtmemBadRequest, call)
        with self.assertRaisesRegex(ttmem.TtmemError, "/bin/true printed no JSON"):
            ttmem.Client(program="/bin/true").status()


class Sizes(unittest.TestCase):
    def test_sizes_are_those_of_the_command_line(self):
        for text, size in (("1 GB", 10**9), ("1 GiB", 2**30), ("1G", 2**30), ("512M", 512 << 20), ("4096", 4096), (7, 7), ("3 B", 3),
                           ("2KB", 2000), ("2TiB", 2 << 40)):
            self.assertEqual(ttmem.parse_size(text), size, text)
        for text in ("", "GiB", "1.5 GiB", "-1", -1, "1 XB", "1iB", True, "1BB"):
            self.assertRaises(ttmem.TtmemBadRequest, ttmem.parse_size, text)
        self.assertEqual([ttmem.format_size(size) for size in (0, 999, 1536, 12872318208, -2048, None)],
                         ["0 B", "999 B", "1.5 KiB", "12.0 GiB", "-2.0 KiB", "unknown"])


class Importing(Package):
    def test_threads_ask_at_the_same_time(self):
        self.daemon()
        simulator = self.simulator_at("leak", "step 1")
        found = []
        threads = [threading.Thread(target=lambda: found.append(ttmem.status().processes[0].pid)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [simulator.pid] * 8)

    def test_a_forked_child_asks_too(self):
        self.daemon()
        simulator = self.simulator_at("leak", "step 1")
        ttmem.status()
        child = os.fork()
        if child == 0:
            os._exit(0 if ttmem.status().processes[0].pid == simulator.pid else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    main()
