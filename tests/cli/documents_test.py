#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is written about the command line is true and whole: page, manual, completion."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ["TTMEM_BIN_DIR"]
GOLDEN = os.path.join(ROOT, "src", "view", "golden")
PAGE = os.path.join(ROOT, "docs", "CLI.md")
COMPLETION = os.path.join(ROOT, "packaging", "completion", "ttmem")

# The golden documents that hold every field of a command's --json.
DOCUMENTS = {"status, ps, monitor": ["one_device", "with_driver"],
             "allocations": ["several.allocations", "by_device.groups", "by_thread.groups"],
             "programs": ["several.programs"], "map": ["dram.map"], "why": ["some.why", "several.failures"],
             "post-mortem": ["several.post_mortems", "python3.post_mortem"], "history": ["some.history"],
             "events": ["some.events"], "self": ["some.self"]}


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def help_of(*command: str) -> str:
    return subprocess.run([os.path.join(BIN, "ttmem"), *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands() -> list[str]:
    listed = help_of().split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE)


def names_in(document) -> set[str]:
    """Every name of a field, at whatever depth."""
    if isinstance(document, dict):
        return set(document).union(*(names_in(value) for value in document.values()))
    if isinstance(document, list):
        return set().union(*(names_in(value) for value in document))
    return set()


def section(title: str) -> set[str]:
    """What is set in code type in a section of the page."""
    text = read(PAGE).split(f"\n### {title}\n")[1].split("\n#")[0]
    return set(re.findall(r"`([^`]+)`", text))


def complete(*words: str) -> list[str]:
    """What bash offers for the last of these words."""
    line = " ".join(words)
    script = (f'source "{COMPLETION}"; COMP_WORDS=({" ".join(repr(word) for word in words)}); '
              f'COMP_CWORD={len(words) - 1}; COMP_LINE={line!r}; _ttmem; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True,
                          env=os.environ | {"PATH": BIN + ":" + os.environ["PATH"]})
    return done.stdout.split()


class Page(unittest.TestCase):
    def test_names_every_command(self):
        table = re.findall(r"^\| (`[^|]+) \|", read(PAGE).split("## What all")[0], re.MULTILINE)
        named = set(re.findall(r"`([a-z-]+)", " ".join(table)))
        self.assertEqual(named, set(commands()))

    def test_names_every_field_of_every_json_document(self):
        for title, documents in DOCUMENTS.items():
            known = section(title) | section("In all")
            if title == "post-mortem":  # it holds a process, groups, allocations and failures, which have their own tables
                known |= section("status, ps, monitor") | section("allocations") | section("why")
            for document in documents:
                names = names_in(json.loads(read(os.path.join(GOLDEN, document + ".json.txt"))))
                self.assertEqual(names - known, set(), f"fields of {document} that docs/CLI.md does not tell")

    def test_every_golden_document_is_of_a_command(self):
        named = {document for documents in DOCUMENTS.values() for document in documents}
        there = {name.removesuffix(".json.txt") for name in os.listdir(GOLDEN) if name.endswith(".json.txt")}
        self.assertEqual(there - named, {"by_name.groups"})  # the same fields as by_device

    def test_names_every_field_of_query(self):
        listed = subprocess.run([os.path.join(BIN, "ttmem"), "query", "--list"], capture_output=True, text=True,
                                check=True).stdout
        fields = set(re.findall(r"^([\w.]+)", listed, re.MULTILINE))
        self.assertGreater(len(fields), 40)
        page = set(re.findall(r"`([^`]+)`", read(PAGE).split("## Fields of `query`")[1].split("## Fields of `--json`")[0]))
        for kind in ("dram", "l1", "l1_small", "trace", "cb", "kernel"):
            page |= {name.replace("KIND", kind) for name in page if name.startswith("KIND.")}
        self.assertEqual(fields - page, set())


class Manual(unittest.TestCase):
    def test_names_every_command(self):
        text = read(os.path.join(ROOT, "packaging", "man", "ttmem.1")).replace("\\-", "-")
        listed = text.split(".SH COMMANDS")[1].split(".SH OPTIONS")[0]
        self.assertEqual(set(re.findall(r"^\.TP\n\.BR? ([a-z-]+)", listed, re.MULTILINE)), set(commands()))

    def test_of_the_daemon_names_every_option(self):
        text = read(os.path.join(ROOT, "packaging", "man", "ttmemd.8")).replace("\\-", "-")
        options = subprocess.run([os.path.join(BIN, "ttmemd"), "--help"], capture_output=True, text=True,
                                 check=True).stdout
        for option in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", options, re.MULTILINE):
            self.assertIn(option, text)

    def test_is_a_page_that_man_can_show(self):
        for page in ("ttmem.1", "ttmemd.8"):
            done = subprocess.run(["man", "--warnings", "-l", os.path.join(ROOT, "packaging", "man", page)],
                                  capture_output=True, text=True, env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("EXAMPLES" if page == "ttmem.1" else "OPTIONS", done.stdout)


class Completion(unittest.TestCase):
    def test_offers_every_command(self):
        self.assertLessEqual(set(commands()), set(complete("ttmem", "")))
        self.assertEqual(complete("ttmem", "post"), ["post-mortem"])

    def test_offers_every_option_of_every_command(self):
        for command in commands():
            if command == "sim":
                continue
            options = set(re.findall(r"(?:^  |,)(--?[a-z][a-z-]*)", help_of(command), re.MULTILINE))
            self.assertTrue(options, command)
            self.assertLessEqual(options, set(complete("ttmem", command, "-")), command)

    def test_offers_kinds_orders_groups_and_fields(self):
        self.assertEqual(complete("ttmem", "map", "--kind", "l"), ["l1", "l1_small"])
        self.assertIn("age", complete("ttmem", "allocations", "--sort", ""))
        self.assertIn("process", complete("ttmem", "allocations", "--group-by", ""))
        self.assertEqual(complete("ttmem", "query", "--fields", "dram.used"), ["dram.used"])
        self.assertIn("leak", complete("ttmem", "sim", "le"))

    def test_is_found_where_bash_looks_for_it(self):
        with tempfile.TemporaryDirectory() as prefix:
            build = os.path.dirname(BIN)
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
            for path in ("share/bash-completion/completions/ttmem", "share/man/man1/ttmem.1", "share/man/man8/ttmemd.8"):
                self.assertTrue(os.path.exists(os.path.join(prefix, path)), path)
            for name, target in (("allocation_monitor_client", "ttmem"), ("tt_smi_umd", "ttmem"),
                                 ("allocation_server_poc", "ttmemd")):
                self.assertEqual(os.readlink(os.path.join(prefix, "bin", name)), target)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
