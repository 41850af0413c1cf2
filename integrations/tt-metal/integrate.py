#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inserts ttmem's reports into a source tree of tt-metal, shows them, and removes them again.

    integrate.py show TREE                   each call, where it goes and why
    integrate.py insert [--dry-run] TREE     inserts the calls and copies the reporter into the tree
    integrate.py remove [--dry-run] TREE     removes them: each file is as before, byte for byte
    integrate.py status TREE                 not inserted, inserted, or partly inserted

TREE is the folder that contains tt_metal/. Functions are found by their qualified names, wherever they are defined. If one
is missing, ambiguous or has other parameters, nothing is changed and the reason is printed.

Exit status: 0 done, 1 refused (for 'status': partly inserted), 2 wrong usage.
"""

import argparse
import dataclasses
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPORTER_FILES = ("ttmem_reporter.hpp", "ttmem_records.hpp", "ttmem_state.hpp", "ttmem_buffers.cpp", "ttmem_devices.cpp",
                  "ttmem_programs.cpp", "ttmem_reporter.cpp", "ttmem_reporter.cmake")
REPORTER_FOLDER = Path("tt_metal/impl/ttmem")
BUILD_FILE = Path("tt_metal/CMakeLists.txt")
TRACKER_CLASS = "tt::tt_metal::GraphTracker"
INCLUDE = f'#include "{REPORTER_FOLDER.relative_to("tt_metal")}/ttmem_reporter.hpp"'
SCOPE_DECLARATION = ("namespace ttmem_reporter { void enter_scope(std::string_view name) noexcept; "
                     "void leave_scope() noexcept; }")
BUILD_LINE = f"include(${{CMAKE_CURRENT_SOURCE_DIR}}/{REPORTER_FOLDER.relative_to('tt_metal')}/ttmem_reporter.cmake)"

# Folders below tt_metal/ that have no source of the host library.
SKIPPED_FOLDERS = {"third_party", "hw", "tt-llk", "programming_examples", "test", "python_env", "soc_descriptors", "kernels"}


class Refused(Exception):
    """The tree is not as this script knows it. Each argument is one reason."""


@dataclasses.dataclass(frozen=True)
class Point:
    """One call at the start of one function's body. '{0}' stands for the name of parameter 0."""
    function: str
    call: str
    why: str
    parameters: dict[int, str] = dataclasses.field(default_factory=dict)  # what the type of a used one must match
    is_optional: bool = False  # older releases do not have the function
    is_in_class: bool = False  # defined in the class, in a header; each overload counts


def guard(type_name: str, arguments: str) -> str:
    return f"const ttmem_reporter::{type_name} ttmem_guard({arguments});"


DEVICE = r"\bIDevice\s*\*"
POINTS = (
    Point(f"{TRACKER_CLASS}::track_allocate", "ttmem_reporter::allocated({0});",
          "each buffer that owns memory, on every thread, after the allocator gave it",
          {0: r"\bBuffer\s*\*"}),
    Point(f"{TRACKER_CLASS}::track_deallocate", "ttmem_reporter::freed({0});",
          "each of these buffers, before the allocator can give its memory to another",
          {0: r"\bBuffer\s*\*"}),
    Point(f"{TRACKER_CLASS}::track_allocate_cb", "ttmem_reporter::circular_buffer({0}, {1}, {2}, {3}, {4});",
          "each circular buffer on each chip, with cores and address",
          {0: r"\bCoreRangeSet\s*&", 1: r"\buint64_t$", 2: r"\buint64_t$", 3: r"\bbool$", 4: DEVICE}),
    Point(f"{TRACKER_CLASS}::track_function_start", "ttmem_reporter::enter_scope({0});",
          "the name of the op that allocates", {0: r"\bstring_view$"}, is_in_class=True),
    Point(f"{TRACKER_CLASS}::track_function_end", "ttmem_reporter::leave_scope();",
          "the end of that op", is_in_class=True),
    Point("tt::tt_metal::AllocatorImpl::allocate_buffer", guard("AllocationGuard", "this, {0}"),
          "an exception that leaves it is an allocation that found no memory; a buffer that was not here is planned",
          {0: r"\bBuffer\s*\*"}),
    Point("tt::tt_metal::AllocatorImpl::deallocate_buffers", "ttmem_reporter::all_freed(this);",
          "frees every buffer at once and calls nothing for them"),
    Point("tt::tt_metal::AllocatorImpl::override_state", guard("StateGuard", "this"),
          "replaces what is allocated and calls nothing for it"),
    Point("tt::tt_metal::Device::initialize", guard("OpeningGuard", "this"),
          "a chip opens: its memory is known, although nothing is allocated yet"),
    Point("tt::tt_metal::Device::close", guard("ClosingGuard", "this"),
          "a chip closes: all that it held is free"),
    Point("tt::tt_metal::distributed::MeshDeviceImpl::close_impl", guard("ClosingGuard", "{0}"),
          "a mesh closes, by close() or by its destructor", {0: r"\bMeshDevice\s*\*"}),
    Point("tt::tt_metal::detail::ProgramImpl::allocate_circular_buffers", guard("ProgramGuard", "this"),
          "whose circular buffers are reported meanwhile"),
    Point("tt::tt_metal::detail::ProgramImpl::allocate_dataflow_buffers", guard("DataflowGuard", "this, {0}"),
          "dataflow buffers have addresses when it returns", {0: DEVICE}),
    Point("tt::tt_metal::detail::ProgramImpl::allocate_scratchpads", guard("DataflowGuard", "this, {0}"),
          "scratchpads have addresses when it returns", {0: DEVICE}, is_optional=True),
    Point("tt::tt_metal::detail::ProgramImpl::validate_circular_buffer_region", guard("ClashGuard", "this, {0}"),
          "an exception that leaves it is a clash with an L1 buffer", {0: DEVICE}),
    Point("tt::tt_metal::detail::ProgramImpl::validate_dataflow_buffer_region", guard("ClashGuard", "this, {0}"),
          "the same for dataflow buffers", {0: DEVICE}),
    Point("tt::tt_metal::detail::ProgramImpl::~ProgramImpl", "ttmem_reporter::program_gone(this);",
          "frees the program's circular buffers and kernels"),
    Point("tt::tt_metal::detail::ConfigureDeviceWithProgram", guard("LaunchGuard", "{0}, {1}"),
          "kernels are on the device when it returns (slow dispatch)", {0: DEVICE, 1: r"\bProgram\s*&"}),
    Point("tt::tt_metal::distributed::EnqueueMeshWorkload", guard("LaunchGuard", "{0}, {1}"),
          "kernels are on the devices when it returns (fast dispatch)",
          {0: r"\bMeshCommandQueue\s*&", 1: r"\bMeshWorkload\s*&"}),
    Point("tt::tt_metal::distributed::MeshTrace::populate_mesh_buffer", guard("TraceGuard", "{0}"),
          "a trace that exceeds its region is refused here, before anything is allocated",
          {0: r"\bMeshCommandQueue\s*&"}),
)


# ---- insertions ------------------------------------------------------------------------------------------------------

# Each insertion begins with a newline and ends with a mark, so that its removal needs nothing else.
MARKS = {".txt": "#[[ ttmem: inserted ]]"}
CPP_MARK = "/* ttmem: inserted */"


def mark_of(path: Path) -> str:
    return MARKS.get(path.suffix, CPP_MARK)


def without_insertions(path: Path, text: str) -> str:
    return re.sub(r"\r?\n[^\r\n]*?" + re.escape(mark_of(path)), "", text)


@dataclasses.dataclass(frozen=True)
class Insertion:
    path: Path  # from the tree
    offset: int  # in the file without insertions
    line: int
    indent: str
    text: str
    subject: str
    why: str


def with_insertions(path: Path, text: str, insertions: list[Insertion]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    for each in sorted(insertions, key=lambda one: one.offset, reverse=True):
        line = f"{newline}{each.indent}{each.text} {mark_of(path)}"
        text = text[:each.offset] + line + text[each.offset:]
    return text


def read(path: Path) -> str:
    """Each byte is one character, so that writing gives the same bytes."""
    return path.read_bytes().decode("latin-1")


def write(path: Path, text: str) -> None:
    """Replaces the file in one step, also where it is a link or one of several names of a file."""
    path = path.resolve()
    mode = path.stat().st_mode
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("latin-1"))
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# ---- C++ -------------------------------------------------------------------------------------------------------------

LITERAL = re.compile(
    r"""//(?:\\\r?\n|[^\n])*|/\*.*?\*/"""
    r"""|(?P<raw>\b(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\"]{0,16})\(.*?\)(?P=delimiter)")"""
    r"""|"(?:\\.|[^"\\\n])*\"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*""", re.DOTALL | re.MULTILINE)


def code_of(text: str) -> str:
    """The text with comments, literals and preprocessor lines blanked: each character keeps its place."""
    return LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


QUALIFIED_CALL = re.compile(r"((?:\w+\s*::\s*)*~?\s*\w+)\s*\(")
NAMESPACE = re.compile(r"(?:\binline\s+)?\bnamespace\b(?:\s*\[\[.*?\]\])?\s*((?:\w+\s*(?:::\s*)?)*)$")
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[.*?\]\]\s*)?((?:\w+\s*::\s*)*\w+)\s*(?:final\s*)?(?::(?!:).*)?$", re.DOTALL)
ENUM = re.compile(r"\benum\b")


@dataclasses.dataclass(frozen=True)
class Definition:
    """A function or class with a body."""
    name: str  # with all namespaces
    start: int  # of its first token
    body: int  # after the opening brace
    parameters: tuple[tuple[str, str], ...] = ()  # type and name
    is_class: bool = False


def closing(code: str, opening: int) -> int:
    depth = 0
    for index in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return len(code)


def parameters_in(text: str) -> tuple[tuple[str, str], ...]:
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text + ","):
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
        depth += {"<": 1, "(": 1, "[": 1, "{": 1, ">": -1, ")": -1, "]": -1, "}": -1}.get(character, 0)
    parameters = []
    for part in parts:
        words = re.match(r"(.*?[\s*&>])(\w+)$", " ".join(part.split("=")[0].split()))
        parameters.append((words[1].strip(), words[2]) if words else (part.strip(), ""))
    return tuple(parameters)


def definitions_in(code: str) -> list[Definition]:
    """Everything with a body at namespace or class scope."""
    found: list[Definition] = []
    scopes: list[str | None] = []  # names; None inside of a body
    start = parentheses = 0
    for match in re.finditer(r"[{}();]", code):
        token, at = match.group(), match.start()
        if token in "()":
            parentheses += 1 if token == "(" else -1
        elif token == "{":
            head = code[start:at]
            scopes.append(None if None in scopes or parentheses > 0 else scope_of(head, scopes, start, at, code, found))
            start = at + 1
        elif token == "}" and scopes:
            scopes.pop()
            start = at + 1
        elif token == ";" and parentheses == 0:
            start = at + 1
    if scopes or parentheses:
        raise Refused("its braces do not balance")
    return found


def scope_of(head: str, scopes: list, start: int, brace: int, code: str, found: list[Definition]) -> str | None:
    first = start + len(head) - len(head.lstrip())
    around = [scope for scope in scopes if scope]
    trimmed = head.rstrip()
    if namespace := NAMESPACE.search(trimmed):
        return re.sub(r"\s", "", namespace[1]) or "(unnamed)"
    if not trimmed or trimmed.split()[-1] == "extern":
        return ""
    kind = CLASS.search(trimmed)
    if kind and not ENUM.search(trimmed) and "(" not in trimmed:
        name = re.sub(r"\s", "", kind[1])
        found.append(Definition("::".join(around + [name]), first, brace + 1, is_class=True))
        return name
    depth = 0
    for each in re.finditer(r"[()]", head):
        if each.group() == "(" and depth == 0:
            call = None
            for call in QUALIFIED_CALL.finditer(head, 0, each.end()):
                pass
            if call and call.end() == each.end():
                opening = start + each.start()
                parameters = parameters_in(code[opening + 1:closing(code, opening)])
                name = "::".join(around + [re.sub(r"\s", "", call[1])])
                found.append(Definition(name, first, brace + 1, parameters))
        depth += 1 if each.group() == "(" else -1
    return None


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def indent_of_line(text: str, offset: int) -> str:
    start = text.rfind("\n", 0, offset) + 1
    return re.match(r"[ \t]*", text[start:])[0]


def end_of_line_before(text: str, offset: int) -> int:
    newline = text.rfind("\n", 0, offset)
    if newline < 0:
        raise Refused("a declaration is on its first line")
    return newline - 1 if text[newline - 1:newline] == "\r" else newline


def place_of_include(text: str) -> int:
    """After the first #include that is inside of no #if."""
    depth = 0
    comments_blanked = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.DOTALL)
    for match in re.finditer(r"^[ \t]*#[ \t]*(\w+)[^\r\n]*", comments_blanked, re.MULTILINE):
        depth += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(match[1], 0)
        if match[1] == "include" and depth == 0:
            return match.end()
    raise Refused("it has no #include outside of conditions")


# ---- the tree --------------------------------------------------------------------------------------------------------

class Tree:
    def __init__(self, root: Path):
        self.root = root
        if not (root / BUILD_FILE).is_file() or not (root / "tt_metal/impl").is_dir():
            raise Refused(f"{root}: not a source tree of tt-metal: {BUILD_FILE} or tt_metal/impl is missing")
        self.originals: dict[Path, str] = {}  # of all files that name one of the functions, without insertions
        self.left_out: list[str] = []
        self.insertions: list[Insertion] = []

    def original(self, path: Path) -> str:
        if path not in self.originals:
            self.originals[path] = without_insertions(path, read(self.root / path))
        return self.originals[path]

    def sources(self) -> list[Path]:
        found = []
        for folder, folders, files in os.walk(self.root / "tt_metal"):
            folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
            found += [Path(folder, name).relative_to(self.root) for name in sorted(files) if name.endswith((".cpp", ".hpp"))]
        return [path for path in found if REPORTER_FOLDER not in path.parents]

    def find_definitions(self) -> dict[str, list[tuple[Path, Definition]]]:
        wanted = {point.function for point in POINTS} | {TRACKER_CLASS}
        words = {tuple(name.encode().split(b"::")[-2:]) for name in wanted}
        found: dict[str, list[tuple[Path, Definition]]] = {name: [] for name in wanted}
        for path in self.sources():
            content = (self.root / path).read_bytes()
            if not any(scope in content and name in content for scope, name in words):
                continue
            text = self.original(path)
            try:
                definitions = definitions_in(code_of(text))
            except Refused:
                continue  # if one of the functions is here, it is missing below
            for each in definitions:
                if each.name in wanted and each.is_class == (each.name == TRACKER_CLASS):
                    found[each.name].append((path, each))
        return found

    def plan(self) -> None:
        """Fills `insertions`, or refuses with every reason."""
        problems: list[str] = []
        found = self.find_definitions()
        for point in POINTS:
            places = found[point.function]
            if not places and point.is_optional:
                self.left_out.append(point.function)
            elif not places:
                problems.append(f"{point.function}: is defined nowhere below tt_metal/")
            elif len(places) > 1 and not (point.is_in_class and len({path for path, _ in places}) == 1):
                problems.append(f"{point.function}: is defined more than once: " + ", ".join(
                    f"{path}:{line_of(self.original(path), place.start)}" for path, place in places))
            else:
                for path, place in places:
                    problems += self.plan_call(point, path, place)
        problems += self.plan_declarations(found[TRACKER_CLASS]) + self.plan_build()
        if problems:
            raise Refused(*problems, "Nothing was changed. This script knows tt-metal from v0.72.0 on.")

    def plan_call(self, point: Point, path: Path, place: Definition) -> list[str]:
        text = self.original(path)
        where = f"{path}:{line_of(text, place.start)}: {point.function}"
        for index, pattern in point.parameters.items():
            if index >= len(place.parameters):
                return [f"{where}: has no parameter {index + 1}"]
            kind, name = place.parameters[index]
            if not re.search(pattern, kind) or not name:
                return [f"{where}: parameter {index + 1} is '{kind} {name}'".rstrip() + ", which is not what it was"]
        call = point.call.format(*(name for _, name in place.parameters))
        indent = indent_of_line(text, place.start) + "    "
        self.insertions.append(
            Insertion(path, place.body, line_of(text, place.body - 1), indent, call, point.function, point.why))
        return []

    def plan_declarations(self, trackers: list[tuple[Path, Definition]]) -> list[str]:
        if len(trackers) != 1:
            return [f"class {TRACKER_CLASS}: has {len(trackers)} definitions"]
        problems = []
        tracker_path, tracker = trackers[0]
        for path in sorted({each.path for each in self.insertions}):
            text = self.original(path)
            try:
                if path == tracker_path:
                    # Others include this header without the reporter's folder.
                    place = end_of_line_before(text, tracker.start)
                    self.insertions.append(Insertion(path, place, line_of(text, place), "", SCOPE_DECLARATION,
                                                     f"class {TRACKER_CLASS}", "declares the calls for names"))
                else:
                    place = place_of_include(text)
                    self.insertions.append(Insertion(path, place, line_of(text, place), "", INCLUDE, "first #include",
                                                     "declares the calls"))
            except Refused as refusal:
                problems.append(f"{path}: {refusal}")
        return problems

    def plan_build(self) -> list[str]:
        text = self.original(BUILD_FILE)
        code = re.sub(r"#[^\n]*", lambda match: " " * len(match.group()), text)
        commands = list(re.finditer(r"^[ \t]*add_library\s*\(\s*tt_metal\b[^)]*\)", code, re.MULTILINE | re.IGNORECASE))
        if len(commands) != 1:
            return [f"{BUILD_FILE}: add_library(tt_metal) is there {len(commands)} times"]
        place = commands[0].end()
        self.insertions.append(Insertion(BUILD_FILE, place, line_of(text, place), "", BUILD_LINE, "add_library(tt_metal)",
                                         "compiles the reporter and links libttmem"))
        return []

    def marked_files(self) -> list[Path]:
        paths = self.sources() + [BUILD_FILE]
        return [path for path in paths if mark_of(path) in read(self.root / path)]

    def changed_files(self) -> dict[Path, str]:
        """The content of each file with all its insertions."""
        by_file: dict[Path, list[Insertion]] = {}
        for each in self.insertions:
            by_file.setdefault(each.path, []).append(each)
        return {path: with_insertions(path, self.original(path), each) for path, each in sorted(by_file.items())}

    def reporter_files(self) -> dict[Path, bytes]:
        return {REPORTER_FOLDER / name: (HERE / name).read_bytes() for name in REPORTER_FILES}

    def differences(self) -> tuple[list[str], list[str]]:
        """What is as 'insert' makes it, and what is not."""
        same, different = [], []
        for path, text in self.changed_files().items():
            (same if read(self.root / path) == text else different).append(str(path))
        extra = [str(path) for path in self.marked_files() if str(path) not in same + different]
        for path, content in self.reporter_files().items():
            file = self.root / path
            (same if file.is_file() and file.read_bytes() == content else different).append(str(path))
        return same, different + extra

    def is_untouched(self) -> bool:
        return not self.marked_files() and not (self.root / REPORTER_FOLDER).exists()


# ---- commands --------------------------------------------------------------------------------------------------------

def show(tree: Tree) -> None:
    tree.plan()
    for each in sorted(tree.insertions, key=lambda one: (one.path, one.offset)):
        print(f"{each.path}:{each.line}  {each.subject}\n    {each.text}\n    {each.why}\n")
    for path in tree.reporter_files():
        print(f"{path}  new")
    for name in tree.left_out:
        print(f"left out, because this tree does not have it: {name}")


def insert(tree: Tree, is_dry: bool) -> None:
    tree.plan()
    if not tree.is_untouched():
        _, different = tree.differences()
        if not different:
            print(f"{tree.root}: already inserted; nothing to do")
            return
        raise Refused(f"{tree.root}: partly inserted, or by another version of this script; these differ:",
                      *(f"    {name}" for name in different), f"Run '{Path(sys.argv[0]).name} remove {tree.root}' first.")
    if is_dry:
        show_summary(tree, "would be inserted")
        return
    files = tree.changed_files()
    (tree.root / REPORTER_FOLDER).mkdir()
    for path, content in tree.reporter_files().items():
        (tree.root / path).write_bytes(content)
    for path, text in files.items():
        write(tree.root / path, text)
    show_summary(tree, "inserted")


def show_summary(tree: Tree, what: str) -> None:
    files = tree.changed_files()
    print(f"{tree.root}: {len(tree.insertions)} lines {what} into {len(files)} files, "
          f"{len(REPORTER_FILES)} new files in {REPORTER_FOLDER}")


def remove(tree: Tree, is_dry: bool, is_forced: bool) -> None:
    if tree.is_untouched():
        print(f"{tree.root}: not inserted; nothing to do")
        return
    folder = tree.root / REPORTER_FOLDER
    foreign = [str(path.relative_to(tree.root)) for path in sorted(folder.rglob("*")) if path.is_file() and not (
        path.parent == folder and path.name in REPORTER_FILES and path.read_bytes() == (HERE / path.name).read_bytes())]
    if foreign and not is_forced:
        raise Refused(f"{tree.root}: these files are not as this script copied them:", *(f"    {name}" for name in foreign),
                      "Save what you need of them, then remove with --force.")
    marked = tree.marked_files()
    verb = "would be removed" if is_dry else "removed"
    if not is_dry:
        for path in marked:
            write(tree.root / path, without_insertions(path, read(tree.root / path)))
        if folder.exists():
            shutil.rmtree(folder)
    print(f"{tree.root}: insertions {verb} from {len(marked)} files, and {REPORTER_FOLDER}")


def status(tree: Tree) -> int:
    if tree.is_untouched():
        print(f"{tree.root}: not inserted")
        return 0
    tree.plan()
    same, different = tree.differences()
    if not different:
        print(f"{tree.root}: inserted ({len(tree.insertions)} lines, {len(same)} files)")
        return 0
    print(f"{tree.root}: partly inserted, or by another version of this script; these differ:")
    for name in different:
        print(f"    {name}")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("show", "insert", "remove", "status"):
        command = commands.add_parser(name)
        command.add_argument("tree", type=Path, metavar="TREE")
        if name in ("insert", "remove"):
            command.add_argument("--dry-run", action="store_true", help="change nothing, say what would be done")
        if name == "remove":
            command.add_argument("--force", action="store_true", help="delete changed copies of the reporter too")
    options = parser.parse_args()
    try:
        tree = Tree(options.tree)
        if options.command == "show":
            show(tree)
        elif options.command == "insert":
            insert(tree, options.dry_run)
        elif options.command == "remove":
            remove(tree, options.dry_run, options.force)
        else:
            return status(tree)
        return 0
    except Refused as refusal:
        print("\n".join(refusal.args), file=sys.stderr)
    except (OSError, UnicodeError) as error:
        print(f"{options.tree}: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
