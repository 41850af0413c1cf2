#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page, the manual and the completion of the command line are complete."""

import json
import os
import re
import shlex
import subprocess
import tempfile

from harness.programs import BIN, ROOT, TTMEM, TTMEMD, read_file
from harness.test_case import TestCase, main

GOLDEN = os.path.join(ROOT, "src", "view", "golden")
PAGE = os.path.join(ROOT, "docs", "CLI.md")
COMPLETION = os.path.join(ROOT, "packaging", "completion", "ttmem")

# The sections of golden files that have every field of the --json of a command: file, variant.
DOCUMENTS = {"status, ps, monitor": [("status", "one_device"), ("status", "with_driver")],
             "allocations": [("allocations", "several"), ("groups", "by_device"), ("groups", "by_thread")],
             "programs": [("programs", "several")], "map": [("map", "dram"), ("map", "l1")], "cores": [("cores", "some")],
             "fit": [("fit", "fits"), ("fit", "refused"), ("fit", "undecided")],
             "peak": [("peak", "two"), ("peak", "records_lost")],
             "why": [("why", "some"), ("why_cards", "cards"), ("failures", "several")],
             "post-mortem": [("post_mortems", "several"), ("post_mortem", "python3")], "history": [("history", "some"), ("history_past", "past")],
             "events": [("events", "some")], "self": [("self", "some")]}


def help_of(*command: str) -> str:
    return subprocess.run([TTMEM, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands() -> list[str]:
    listed = help_of().split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE)


def golden_documents() -> dict[tuple[str, str], str]:
    """The JSON sections of the golden files, by file and variant."""
    documents = {}
    for name in sorted(os.listdir(GOLDEN)):
        for section in read_file(os.path.join(GOLDEN, name)).removeprefix("=== ").split("\n=== "):
            title, text = section.split("\n", 1)
            if title.endswith(", json"):
                documents[name.removesuffix(".txt"), title.removesuffix(", json")] = text
    return documents


def names_in(document) -> set[str]:
    """Every name of a field, at any depth."""
    if isinstance(document, dict):
        return set(document).union(*(names_in(value) for value in document.values()))
    if isinstance(document, list):
        return set().union(*(names_in(value) for value in document))
    return set()


def fields_of_json() -> set[str]:
    """Every name in code type in the page's part about --json: `devices[].memory.*.used` has three."""
    text = read_file(PAGE).split("\n## Fields of `--json`\n")[1].split("\n## ")[0]
    return {name for words in re.findall(r"`([^`]+)`", text) for name in re.split(r"\W+", words)}


# Writes what zsh offers at the end of each line of $LINES_ASKED_FOR to $OFFERED, and ends.
ZSHRC = """
LOAD
compadd() {
    local -a offered
    builtin compadd -A offered "$@"
    print -rl -- $offered >> $OFFERED
}
zle-line-init() {
    local line
    for line in "${(@f)$(<$LINES_ASKED_FOR)}"; do
        print -r -- "> $line" >> $OFFERED
        BUFFER=$line CURSOR=$#line
        zle complete-word
    done
    exit 0
}
zle -N zle-line-init
"""


def offered_in(text: str) -> dict[str, list[str]]:
    """By line: the words after '> line'."""
    offers = {}
    for line in text.splitlines():
        if line.startswith("> "):
            words = offers[line[2:]] = []
        elif line:
            words.append(line.split("\t")[0])
    return offers


def with_programs(**more: str) -> dict[str, str]:
    return os.environ | {"PATH": BIN + ":" + os.environ["PATH"], "TERM": "xterm"} | more


def ask_zsh(lines: list[str], load: str = "source <(ttmem completion zsh)") -> dict[str, list[str]]:
    """What zsh offers at the end of each line."""
    with tempfile.TemporaryDirectory() as folder:
        asked, offered = os.path.join(folder, "asked"), os.path.join(folder, "offered")
        for path, text in ((asked, "\n".join(lines)), (os.path.join(folder, ".zshrc"), ZSHRC.replace("LOAD", load))):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        # The shell must have a terminal: its line editor completes.
        subprocess.run(["script", "-qec", "zsh -i", "/dev/null"], stdin=subprocess.DEVNULL, capture_output=True, check=True,
                       env=with_programs(ZDOTDIR=folder, LINES_ASKED_FOR=asked, OFFERED=offered), timeout=120)
        return offered_in(read_file(offered))


def ask_fish(lines: list[str]) -> dict[str, list[str]]:
    """What fish offers at the end of each line."""
    with tempfile.TemporaryDirectory() as home:
        script = "ttmem completion fish | source; for line in $argv; echo '> '$line; complete -C $line; end"
        done = subprocess.run(["fish", "--no-config", "-c", script, *lines], capture_output=True, text=True, check=True,
                              env=with_programs(HOME=home), timeout=120)
        return offered_in(done.stdout)


def complete(*words: str) -> list[str]:
    """What bash offers for the last of these words."""
    line = " ".join(words)
    script = (f'source "{COMPLETION}"; COMP_WORDS=({" ".join(repr(word) for word in words)}); '
              f'COMP_CWORD={len(words) - 1}; COMP_LINE={line!r}; _ttmem; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True,
                          env=with_programs())
    return done.stdout.split()


def options_of(command: str) -> set[str]:
    return set(re.findall(r"(?:^  |,)(--?[a-z][a-z-]*)", help_of(command), re.MULTILINE))


class Page(TestCase):
    def test_names_every_command(self):
        table = re.findall(r"^\| (`[^|]+) \|", read_file(PAGE).split("## What all")[0], re.MULTILINE)
        named = set(re.findall(r"`([a-z-]+)", " ".join(table)))
        self.assertEqual(named, set(commands()))

    def test_names_every_field_of_every_json_document(self):
        known = fields_of_json()
        for title, documents in DOCUMENTS.items():
            self.assertIn(f"\n### {title}\n", read_file(PAGE))
            for document in documents:
                names = names_in(json.loads(golden_documents()[document]))
                self.assertEqual(names - known, set(), f"fields of {document} that docs/CLI.md does not name")

    def test_every_golden_document_belongs_to_a_command(self):
        named = {document for documents in DOCUMENTS.values() for document in documents}
        self.assertEqual(set(golden_documents()) - named, {("groups", "by_name")})  # the same fields as by_device

    def test_names_every_field_of_query(self):
        listed = subprocess.run([TTMEM, "query", "--list"], capture_output=True, text=True,
                                check=True).stdout
        fields = set(re.findall(r"^([\w.]+)", listed, re.MULTILINE))
        self.assertGreater(len(fields), 40)
        page = set(re.findall(r"`([^`]+)`", read_file(PAGE).split("## Fields of `query`")[1].split("## Fields of `--json`")[0]))
        for kind in ("dram", "l1", "l1_small", "trace", "cb", "kernel"):
            page |= {name.replace("KIND", kind) for name in page if name.startswith("KIND.")}
        self.assertEqual(fields - page, set())


class Manual(TestCase):
    def test_names_every_command(self):
        text = read_file(os.path.join(ROOT, "packaging", "man", "ttmem.1")).replace("\\-", "-")
        listed = text.split(".SH COMMANDS")[1].split(".SH OPTIONS")[0]
        self.assertEqual(set(re.findall(r"^\.TP\n\.BR? ([a-z-]+)", listed, re.MULTILINE)), set(commands()))

    def test_the_page_of_the_daemon_names_every_option(self):
        text = read_file(os.path.join(ROOT, "packaging", "man", "ttmemd.8")).replace("\\-", "-")
        options = subprocess.run([TTMEMD, "--help"], capture_output=True, text=True,
                                 check=True).stdout
        for option in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", options, re.MULTILINE):
            self.assertIn(option, text)

    def test_man_shows_the_pages_without_warnings(self):
        for page in ("ttmem.1", "ttmemd.8"):
            done = subprocess.run(["man", "--warnings", "-l", os.path.join(ROOT, "packaging", "man", page)],
                                  capture_output=True, text=True, env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("EXAMPLES" if page == "ttmem.1" else "OPTIONS", done.stdout)


class Completion(TestCase):
    def test_offers_every_command(self):
        self.assertLessEqual(set(commands()), set(complete("ttmem", "")))
        self.assertEqual(complete("ttmem", "post"), ["post-mortem"])

    def test_offers_every_option_of_every_command(self):
        for command in commands():
            if command == "sim":
                continue
            options = options_of(command)
            self.assertTrue(options, command)
            self.assertLessEqual(options, set(complete("ttmem", command, "-")), command)

    def test_zsh_and_fish_offer_every_command_and_every_option_of_every_command(self):
        lines = ["ttmem ", "ttmem post", *(f"ttmem {command} -" for command in commands() if command != "sim")]
        for ask in (ask_zsh, ask_fish):
            offered = ask(lines)
            self.assertLessEqual(set(commands()), set(offered["ttmem "]), ask)
            self.assertEqual(offered["ttmem post"], ["post-mortem"], ask)
            for command in commands():
                if command != "sim":
                    words = set(offered[f"ttmem {command} -"])
                    self.assertLessEqual(options_of(command), words, (ask, command))
                    self.assertEqual([word for word in words if not word.startswith("-")], [], (ask, command))

    def test_zsh_and_fish_offer_the_values_that_bash_offers(self):
        lines = ["ttmem map --kind ", "ttmem allocations --sort ", "ttmem ps --sort ", "ttmem allocations --group-by ",
                 "ttmem why --type ", "ttmem status --color ", "ttmem query --fields ", "ttmem query --processes --fields ",
                 "ttmem help ", "ttmem sim "]
        expected = {line: sorted(set(complete(*line.split(" ")))) for line in lines}
        self.assertNotIn([], expected.values())
        for ask in (ask_zsh, ask_fish):
            self.assertEqual({line: sorted(set(words)) for line, words in ask(lines).items()}, expected, ask)
        for ask in (ask_zsh, ask_fish):
            self.assertLessEqual({"bash", "zsh", "fish"}, set(ask(["ttmem completion "])["ttmem completion "]))

    def test_zsh_reads_the_completion_before_and_after_compinit(self):
        for load in ("COMPLETION", "autoload -Uz compinit && compinit -D -u; COMPLETION"):
            load = load.replace("COMPLETION", "source <(ttmem completion zsh)")
            self.assertEqual(ask_zsh(["ttmem post"], load), {"ttmem post": ["post-mortem"]}, load)

    def test_zsh_finds_the_completion_in_a_folder_of_fpath(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(COMPLETION + ".zsh", os.path.join(folder, "_ttmem"))
            offered = ask_zsh(["ttmem post", "ttmem map --kind l"], f"fpath+=({shlex.quote(folder)}); autoload -Uz compinit && compinit -D -u")
            self.assertEqual(offered, {"ttmem post": ["post-mortem"], "ttmem map --kind l": ["l1", "l1_small"]})

    def test_offers_kinds_orders_groups_and_fields(self):
        self.assertEqual(complete("ttmem", "map", "--kind", "l"), ["l1", "l1_small"])
        self.assertIn("age", complete("ttmem", "allocations", "--sort", ""))
        self.assertIn("process", complete("ttmem", "allocations", "--group-by", ""))
        self.assertEqual(complete("ttmem", "query", "--fields", "dram.used"), ["dram.used"])
        self.assertIn("leak", complete("ttmem", "sim", "le"))

    def test_an_installation_has_completion_manual_and_old_names(self):
        with tempfile.TemporaryDirectory() as prefix:
            build = os.path.dirname(BIN)
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
            for path in ("share/bash-completion/completions/ttmem", "share/man/man1/ttmem.1", "share/man/man8/ttmemd.8",
                         "share/ttmem/observer-source/observer/headers/print_places.cpp", "share/ttmem/observer-source/observer/places.hpp"):
                self.assertTrue(os.path.exists(os.path.join(prefix, path)), path)
            for name, target in (("allocation_monitor_client", "ttmem"), ("tt_smi_umd", "ttmem"),
                                 ("allocation_server_poc", "ttmemd")):
                self.assertEqual(os.readlink(os.path.join(prefix, "bin", name)), target)


if __name__ == "__main__":
    main()
