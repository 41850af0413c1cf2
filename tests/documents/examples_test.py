#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command line in README.md, docs/, integrations/, help texts and manual pages works, on a host with a daemon and a busy
runtime."""

import contextlib
import os
import pty
import re
import select
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time

from harness.daemon import Daemon, RuntimeDirectory
from harness.examples import REASONS, Block, Example, blocks_of, examples_of_help, examples_of_manual, help_text, indented_blocks_of, subcommands
from harness.http_client import http_get
from harness.private_host import enter_private_host
from harness.programs import BIN, LIB, ROOT, clean_environment, read_file
from harness.pseudo_terminal import read_to_end
from harness.simulator import Simulator
from harness.test_case import TestCase, main
from harness.waiting import TIMEOUT, wait_until

DOCUMENTS = ["README.md", *(name for name in ("CONTRIBUTING.md",) if os.path.exists(os.path.join(ROOT, name))),
             *sorted(f"docs/{name}" for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md")),
             "integrations/tt-metal/README.md"]
MANUALS = ["packaging/man/ttmem.1", "packaging/man/ttmemd.8"]

# Commands that go on until they are interrupted.
ENDLESS = re.compile(r"ttmem (top|demo)\b|ttmem monitor(?!.* -n )|ttmem events .*--follow|curl -N |ttmemd\b"
                     r"|ttmem record (?!.*--(seconds|from-start))")

# Programs that examples start, and that only users have. None of them leaves memory allocated.
SHIMS = {"pytest": "exec ttmem-sim matmul-single-core", "sleep": "exit 0"}
OWN_PROGRAM = "#!/bin/sh\nexec ttmem-sim matmul-single-core\n"
MODEL = f"""
import runpy, sys
sys.argv = ["model.py", {LIB!r}, "matmul-single-core"]
runpy.run_path({os.path.join(ROOT, "sim/testing/run_scenario.py")!r}, run_name="__main__")
"""


def setUpModule():
    enter_private_host()


def examples() -> list[Example]:
    """All of them, each command once."""
    found = [example for document in DOCUMENTS for block in blocks_of(document) for example in block.commands()]
    for command in [("ttmem",), ("ttmemd",), ("ttmem-sim",), *(("ttmem", name) for name in subcommands())]:
        found += examples_of_help(*command)
    for page in MANUALS:
        found += examples_of_manual(page)
    unique = {}
    for example in found:
        command = re.sub(r"\s*&$", "", example.command)
        unique.setdefault(command, Example(example.where, command))
    return list(unique.values())


def write_program(path: str, text: str):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


class Blocks(TestCase):
    """Of documents."""

    def blocks(self) -> list[Block]:
        return [block for document in DOCUMENTS for block in blocks_of(document)]

    def test_every_block_says_what_it_is(self):
        self.assertEqual([block.where for block in self.blocks() if not block.language], [],
                         "write the language behind ```: sh for commands, console for commands with output, text for others")

    def test_what_is_not_run_has_one_of_the_reasons(self):
        self.assertEqual({block.where: block.not_run for block in self.blocks() if block.not_run and block.not_run not in REASONS}, {})

    def test_no_command_is_in_an_indented_block(self):
        self.assertEqual([where for document in DOCUMENTS for where in indented_blocks_of(document)], [], "write ```sh around it")

    def test_prompts_are_in_console_blocks_only(self):
        self.assertEqual([block.where for block in self.blocks() if block.language != "console" and
                          any(line.startswith("$ ") for line in block.lines)], [])

    def test_documents_and_help_texts_have_examples(self):
        self.assertGreater(len(examples()), 40)


class Names(TestCase):
    """Of commands and options in the text of documents."""

    def test_every_command_that_a_text_names_is_there(self):
        known, options = {"help", *subcommands()}, {}
        for document in DOCUMENTS:
            text = re.sub(r"^```.*?^```$", "", read_file(document), flags=re.DOTALL | re.MULTILINE)
            for command, rest in re.findall(r"`ttmem ([a-z][a-z-]*)([^`]*)`", text):
                self.assertIn(command, known, f"{document}: ttmem {command}{rest}")
                if command in ("run", "sim"):
                    continue  # what follows may be another program's
                options.setdefault(command, help_text("ttmem", command))
                for option in re.findall(r"(?<= )--[a-z][a-z-]*", rest):
                    self.assertIn(option, options[command], f"{document}: ttmem {command}{rest}")


class Examples(TestCase):
    """One daemon where documents say it is, a busy process, one that ran out of memory, and one that was killed."""

    @classmethod
    def setUpClass(cls):
        os.mkdir("/run/ttmem")
        cls.directory = RuntimeDirectory("/run/ttmem")
        cls.folder = tempfile.TemporaryDirectory(prefix="ttmem-examples-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.make_folder()
        cls.start_daemon()
        # The first process gets the first numbers: the examples name devices 0 and 1.
        model = cls.start_simulator("transformer-dp4", "decode 1", "--board", "t3000")
        cls.host_daemon.wait_for(model.pid)
        cls.start_simulator("oom-dram", "out of memory")
        killed = cls.start_simulator("crash", "holding")
        cls.host_daemon.wait_for(killed.pid)
        killed.kill()
        cls.host_daemon.wait_for_death(killed.pid)
        wait_until(lambda: all(series["samples"] for series in cls.host_daemon.get("/v1/history")["series"]), "there is history")
        cls.flight = os.path.join(cls.folder.name, "flight")
        cls.stand_ins = {"/etc/ttmem/token": os.path.join(cls.folder.name, "token"),
                         "/var/lib/ttmem/flight/flight-20261118T120000.000000Z.ttmem":
                             os.path.join(cls.flight, min(os.listdir(cls.flight))),
                         "/var/lib/ttmem/flight": cls.flight, "13:05:20": cls.recorded_time(),
                         "build $TT_METAL_HOME": f"build {cls.folder.name}/tt-metalium",
                         "/opt/tt-metalium": f"{cls.folder.name}/tt-metalium",
                         "/usr/lib/ttmem-observer": f"{cls.folder.name}/ttmem-observer",
                         "--pid 4711": f"--pid {model.pid}", "4711": str(killed.pid), "--seconds 60": "--seconds 0.2"}

    @classmethod
    def recorded_time(cls) -> str:
        """A clock time in the flight recorder's past."""
        moment = time.strftime("%H:%M:%S", time.localtime(time.time() + 1))  # the recording may have begun within this second
        command = ["ttmem", "status", "--recording", cls.flight, "--at", moment]

        def is_recorded() -> bool:
            cls.fail_once()  # without events a recording does not grow
            return subprocess.run(command, env=cls.variables, capture_output=True, check=False).returncode == 0
        wait_until(is_recorded, f"{moment} is recorded")
        return moment

    def setUp(self):
        pass  # all tests use one host

    @classmethod
    def make_folder(cls):
        """The folder that examples run in, with what a user has there."""
        path = cls.folder.name
        os.mkdir(os.path.join(path, "bin"))
        os.makedirs(os.path.join(path, "tt-metal", "build", "lib"))
        os.symlink(os.path.join(LIB, "libttmem_sim_metal.so"), os.path.join(path, "tt-metal/build/lib/libtt_metal.so"))
        for name, command in SHIMS.items():
            write_program(os.path.join(path, "bin", name), f"#!/bin/sh\n{command}\n")
        write_program(os.path.join(path, "my_program"), OWN_PROGRAM)
        shutil.copytree(os.path.join(ROOT, "tests/integrations/tree"), os.path.join(path, "tt-metal"), dirs_exist_ok=True)
        write_program(os.path.join(path, "tt-metal", "build_metal.sh"), "#!/bin/sh\necho built\n")
        os.symlink(os.path.join(ROOT, "integrations"), os.path.join(path, "integrations"))
        os.mkdir(os.path.join(path, "tt-metalium"))
        os.symlink(os.path.join(ROOT, "sim/include"), os.path.join(path, "tt-metalium", "include"))
        for name, text in (("model.py", MODEL), ("token", "a-token-of-some-length\n"), (".curlrc", "fail\nsilent\n")):
            with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(os.path.join(path, "token"), 0o600)
        cls.variables = clean_environment(
            "TTMEM_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "http_proxy", "TMUX",
            HOME=path, PATH=f"{path}/bin:{BIN}:{os.environ['PATH']}", TERM="xterm", LC_ALL="C.UTF-8",
            TT_METAL_HOME=os.path.join(path, "tt-metal"))

    @classmethod
    def start_daemon(cls):
        flight = os.path.join(cls.folder.name, "flight")
        cls.host_daemon = Daemon(cls.directory, "--quiet", "--record", flight, listen=None)
        cls.addClassCleanup(cls.host_daemon.close)

    @classmethod
    def start_simulator(cls, scenario: str, step: str, *arguments: str) -> Simulator:
        simulator = Simulator(scenario, *arguments, runtime_directory=cls.directory.path)
        cls.addClassCleanup(simulator.close)
        simulator.go_to(step)
        return simulator

    def shell(self, command: str) -> list[str]:
        for name, stand_in in self.stand_ins.items():
            words = " ".join(map(shlex.quote, stand_in.split(" ")))
            command = re.sub(rf"(?<![\w/]){re.escape(name)}(?!\w)", words, command)
        if recorded := re.match(r"ttmem record .*?-o (\S+)", command):  # another example may have made it
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder.name, recorded[1]))
        return ["bash", "-o", "pipefail", "-c", command]

    def run_to_its_end(self, command: str):
        done = subprocess.run(self.shell(command), cwd=self.folder.name, env=self.variables, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT)
        # A test machine has no driver, which is a problem to the doctor, and may have no npm, which builds the page.
        has_failed_as_it_must = command.startswith("ttmem doctor") or "without the page" in done.stderr
        self.assertIn(done.returncode, (0, 1) if has_failed_as_it_must else (0,), done.stdout + done.stderr)
        output = done.stdout
        if redirected := re.search(r" > (\S+)$", command):
            output = read_file(self.folder.name, redirected[1])
        if not command.startswith("TT_ALLOC_TRACKING_ENABLED"):  # programs of the user may be silent
            self.assertNotEqual((output + done.stderr).strip(), "", "it printed nothing")
        if "| jq" in command:
            self.assertNotIn("null", output.split(), "jq found no such field")
            self.assertNotEqual(output, "", "jq found nothing")

    def run_until_interrupted(self, command: str, is_ready):
        """On a terminal. `is_ready` gets what it has printed so far."""
        shell = self.shell(command)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder.name)
            os.execvpe("bash", shell, self.variables)
        output, end = b"", time.monotonic() + TIMEOUT
        try:
            while not is_ready(output):
                self.assertLess(time.monotonic(), end, f"it printed {output}")
                if select.select([terminal], [], [], 0.1)[0]:
                    try:
                        output += os.read(terminal, 65536)
                    except OSError:  # the other end is closed
                        break
            os.write(terminal, b"\x03")
            output += read_to_end(terminal)
        finally:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os.close(terminal)
        self.assertTrue(is_ready(output), f"it ended with {code}: {output.decode()}")
        self.assertIn(code, (0, 128 + signal.SIGINT, -signal.SIGINT), output.decode())

    @classmethod
    def fail_once(cls):
        """Makes events, also one that a filter for failures lets through."""
        simulator = Simulator("oom-dram", runtime_directory=cls.directory.path)
        simulator.finish()
        simulator.close()

    def test_each_command_that_ends_succeeds(self):
        for example in examples():
            if not ENDLESS.match(example.command):
                with self.subTest(where=example.where, command=example.command):
                    self.run_to_its_end(example.command)

    def test_each_command_that_goes_on_prints_until_it_is_interrupted(self):
        for example in examples():
            if ENDLESS.match(example.command) and not example.command.startswith("ttmemd"):
                def has_printed(output: bytes, command: str = example.command) -> bool:
                    if recorded := re.match(r"ttmem record .*?-o (\S+)", command):
                        path = os.path.join(self.folder.name, recorded[1])
                        return os.path.exists(path) and os.path.getsize(path) > 0
                    if not output and "--follow" in command:
                        self.fail_once()
                    return output != b""
                with self.subTest(where=example.where, command=example.command):
                    self.run_until_interrupted(example.command, has_printed)

    def test_each_daemon_answers_until_it_is_interrupted(self):
        self.host_daemon.stop()
        for example in examples():
            if example.command.startswith("ttmemd"):
                answered = []

                def answers(_, answered: list = answered) -> bool:
                    with contextlib.suppress(OSError):
                        answered.append(http_get(self.directory.api, "/v1/health"))
                    return bool(answered)
                with self.subTest(where=example.where, command=example.command):
                    self.run_until_interrupted(example.command, answers)
        self.start_daemon()


if __name__ == "__main__":
    main()
