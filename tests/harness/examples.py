# SPDX-License-Identifier: Apache-2.0
"""The command lines that users are shown: in documents, in help texts and in manual pages.

In a document the language of a code block says what it is:

    sh        commands, one per line
    console   commands after '$ ', and what they print
    others    no commands

A block of commands that cannot run on a test machine has the line '<!-- not run: REASON -->' before it, with one of REASONS.
"""

import os
import re
import subprocess
from dataclasses import dataclass

from harness.programs import BIN, read_file

NOT_RUN = re.compile(r"<!-- not run: (\S.*) -->")

# What a test machine lacks, or a test has no time for.
REASONS = {"builds this repository", "builds and tests this repository", "takes minutes",
           "needs root and systemd", "needs the Debian package", "needs the archive", "needs the packages",
           "needs docker", "needs Go", "needs an installed tt-metalium"}


@dataclass(frozen=True)
class Example:
    where: str
    command: str


@dataclass(frozen=True)
class Block:
    where: str
    language: str
    lines: list[str]
    not_run: str | None  # the reason

    def commands(self) -> list[Example]:
        """What is to be run."""
        if self.not_run or self.language not in ("sh", "console"):
            return []
        lines = self.lines if self.language == "sh" else [line[2:] for line in self.lines if line.startswith("$ ")]
        lines = [re.sub(r"\s+#.*|^#.*", "", line).strip() for line in lines]
        return [Example(self.where, line) for line in lines if line]


def blocks_of(document: str) -> list[Block]:
    """The code blocks of a document of the repository."""
    blocks, opened, before = [], None, ""
    for number, line in enumerate(read_file(document).splitlines(), 1):
        fence = re.match(r"```(\w*)$", line)
        if fence and opened is None:
            mark = NOT_RUN.fullmatch(before)
            opened = Block(f"{document}:{number}", fence[1], [], mark and mark[1])
        elif fence:
            blocks.append(opened)
            opened = None
        elif opened is not None:
            opened.lines.append(line)
        if line.strip():
            before = line
    assert opened is None, f"{opened.where}: a block without an end"
    return blocks


def indented_blocks_of(document: str) -> list[str]:
    """Where the code blocks without a fence begin: indented by four columns behind an empty line, and not part of a list."""
    found, is_fenced, is_in_list, before = [], False, False, ""
    for number, line in enumerate(read_file(document).splitlines(), 1):
        if line.startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced and line.startswith("    ") and not before.strip() and not is_in_list:
            found.append(f"{document}:{number}")
        elif line.strip() and not line.startswith(" "):
            is_in_list = re.match(r"[*-] |\d+\. ", line) is not None
        before = line
    return found


def help_text(*command: str) -> str:
    return subprocess.run([os.path.join(BIN, command[0]), *command[1:], "--help"], capture_output=True, text=True,
                          check=True).stdout


def subcommands() -> list[str]:
    """The commands of ttmem."""
    listed = re.search(r"^(?:Subcommands|Commands):\n(.*?)(?:\n\n|\Z)", help_text("ttmem"), re.DOTALL | re.MULTILINE)[1]
    return re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE)


def examples_of_help(*command: str) -> list[Example]:
    """The indented lines below 'Example:' or 'Examples:'. Two spaces end a command; a description may follow."""
    found = re.search(r"^Examples?:\n((?:  .*\n)+)", help_text(*command), re.MULTILINE)
    where = " ".join(command) + " --help"
    return [Example(where, re.split(r"\s{2,}", line.strip())[0]) for line in found[1].splitlines()] if found else []


def examples_of_manual(page: str) -> list[Example]:
    """The lines of the section EXAMPLES, between .nf and .fi."""
    found = re.search(r"^\.SH EXAMPLES\n\.nf\n(.*?)^\.fi$", read_file(page), re.DOTALL | re.MULTILINE)
    return [Example(page, line.replace("\\-", "-")) for line in found[1].splitlines()] if found else []
