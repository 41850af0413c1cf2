#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public name is documented, and its code runs in one of the calls below."""

import inspect
import os
import re
import textwrap
import types

from harness.programs import ROOT, read_file
from harness.python_package import run_script
from harness.test_case import TestCase, main

import ttmem
import ttmem.pytest_plugin
from ttmem._notebook import CellReport

# What methods of the package return, without a name in the module.
RETURNED = {"DeviceMemory": ttmem.pytest_plugin.DeviceMemory, "CellReport": CellReport}


def module_names() -> set[str]:
    own = {name for name in vars(ttmem) if not name.startswith("_") and not isinstance(vars(ttmem)[name], types.ModuleType)}
    return (own - {"annotations", "TYPE_CHECKING"}) | set(ttmem.__all__)


def public_classes() -> dict[str, type]:
    named = {name: getattr(ttmem, name) for name in module_names()}
    return {name: one for name, one in named.items() if isinstance(one, type) and one.__module__.startswith("ttmem")} | RETURNED


def members() -> dict[str, list[str]]:
    """Of each public class that is no exception: its methods and properties, and the fields of its objects."""
    found = {name: {each for each in vars(one) if not each.startswith("_")} for name, one in public_classes().items()
             if not issubclass(one, Exception)}
    for name, one in (("track", ttmem.track()), ("Figures", ttmem.Figures({})), ("Mark", ttmem.mark("a")), ("CellReport", CellReport(ttmem.track()))):
        found[name] |= {each for each in vars(one) if not each.startswith("_")}
    return {name: sorted(each) for name, each in found.items()}


# Each runs after BEGIN, and is true. The profiler of the interpreter notes whose code has run.
BEGIN = """
    import os, sys, threading, types
    import ttmem, ttmem._notebook, ttmem.pytest_plugin
    from simulated_runtime import L1, Device, OutOfMemory
    from IPython.core.interactiveshell import InteractiveShell

    ran = set()
    sys.setprofile(lambda frame, event, argument: ran.add(frame.f_code) if event == "call" else None)
    device, kept = Device(), []
    with ttmem.scope("weights"):
        kept += [device.allocate(4 << 20), device.allocate(1 << 20, L1)]
    with ttmem.scope("conv2d"):
        device.run("conv2d", [4096], cores=(2, 2))
    pid, client, memory = os.getpid(), ttmem.Client(), ttmem.pytest_plugin.DeviceMemory()

    def fail():
        try: device.allocate(1 << 40)
        except OutOfMemory: return True

    def watched():
        done = threading.Event()
        watch = ttmem.on_failure(lambda failure: done.set())
        fail()
        is_called = done.wait(30)
        watch.close()
        return is_called and isinstance(watch, ttmem.FailureWatch)

    def measured():
        with memory.track("step") as block:
            kept.append(device.allocate(1 << 20))
        try: block.require(leaks=0)
        except ttmem.TtmemMemoryError as error:
            return block.card() in str(error) and "stayed" in block.left_above(0)[0] and "above" in block.above_limits(dram=0)[0] and block

    def extended():
        shell = InteractiveShell.instance(history_length=0)
        ttmem.load_ipython_extension(shell)
        has = shell.find_cell_magic("ttmem") is not None
        ttmem.unload_ipython_extension(shell)
        return has and shell.find_cell_magic("ttmem") is None

    @ttmem.scoped
    def attention():
        return device.allocate(1 << 20)

    def has_view(device, kind):
        return types.SimpleNamespace(num_banks=0, total_bytes_per_bank=0, total_bytes_allocated_per_bank=0, total_bytes_free_per_bank=0,
                                     largest_contiguous_bytes_free_per_bank=0)
    sys.modules["ttnn"] = types.SimpleNamespace(get_memory_view=has_view, BufferType=types.SimpleNamespace(DRAM=0, L1=1, L1_SMALL=3, TRACE=4))
"""

CALLS = """
    fail()
    watched()
    ttmem.card(ttmem.why(pid=pid).failures[-1]).startswith("Card: dram")
    ttmem.ask("health").status == "ok"
    ttmem.status().rows[0].id == 0
    [each.pid for each in ttmem.processes(pid=pid).processes] == [pid]
    ttmem.allocations(pid=pid).total > 2
    ttmem.fit(0, 1024).answer == "fits"
    len(ttmem.map(0).maps) > 1
    len(ttmem.cores(0).cores) > 1
    [each.pid for each in ttmem.programs(pid=pid, name="conv2d").programs] == [pid]
    ttmem.peak(device=0).peaks[0].pid == pid
    ttmem.growth().schema == ttmem.history(device=0).schema == ttmem.leaks().schema == 1
    any(each.what == "failure" for each in ttmem.events(pid=pid).events)
    len(ttmem.post_mortems().post_mortems) == 0
    next(ttmem.watch()).devices[0].id == 0
    next(ttmem.follow_events(since=0)).sequence == 1
    client.own_process().pid == pid
    ttmem.is_reporting()
    isinstance(ttmem.mark("step"), ttmem.Mark)
    attention().address > 0
    ttmem.tag(kept[0], "first") is None and "weights/first" in [each.name for each in ttmem.allocations(pid=pid).allocations]
    len(ttmem.diff(ttmem.allocations(kind="l1"), ttmem.allocations(kind="dram"))) > 0
    ttmem.parse_size("1 KiB") == 1024 and ttmem.format_size(1024) == "1.0 KiB"
    ttmem.memory_allocated() == memory.allocated() >= 4 << 20
    ttmem.max_memory_allocated() == memory.peak() >= 4 << 20
    ttmem.reset_peak_memory_stats() is None
    ttmem.memory_reserved() == ttmem.max_memory_reserved() > 0
    ttmem.mem_get_info() == ttmem.get_memory_info()
    "dram" in ttmem.memory_summary() and ttmem.memory_stats()["num_ooms"] == 2
    ttmem._snapshot()["segments"][0]["blocks"] == ttmem.memory_snapshot()[0]["blocks"]
    ttmem._dump_snapshot(os.path.join(os.environ["TTMEM_RUNTIME_DIR"], "snapshot.pickle")) is None
    ttmem.pjrt_stats()["bytes_in_use"] > 0
    isinstance(measured(), ttmem.track)
    (lambda block: block.peak.of("dram", 0) == block.peak["dram"] > 0 and isinstance(block.growth, ttmem.Figures))(measured())
    "GROWTH" in ttmem._notebook.CellReport(measured())._repr_html_()
    [row.equal for row in ttmem.verify(device)] == [False, False]
    extended()
    ttmem.Document({"a": 1}).to_dict() == {"a": 1} and isinstance(ttmem.status(), ttmem.View)
    ttmem.Rows([{"a": 1}]).to_list() == [{"a": 1}]
    len(ttmem.Rows([{"a": 1}]).to_pandas()) == len(ttmem.status().to_pandas()) == 1
"""

END = """
    sys.setprofile(None)
    public = {name: getattr(ttmem, name) for name in names} | {"DeviceMemory": ttmem.pytest_plugin.DeviceMemory,
                                                              "CellReport": ttmem._notebook.CellReport}
    def codes(one):
        # Of a function, a method, a property, or a class's constructor.
        one = getattr(one, "__func__", one.fget if isinstance(one, property) else one)
        if isinstance(one, type):
            return [one.__init__.__code__] if hasattr(one.__init__, "__code__") else []
        return [one.__code__] if hasattr(one, "__code__") else []
    silent = [name for name, one in public.items() for code in codes(one) if code not in ran and not name.startswith("Ttmem")]
    for name, one in public.items():
        if isinstance(one, type) and one.__module__.startswith("ttmem"):
            silent += [f"{name}.{member}" for member in vars(one) if not member.startswith("_")
                       for code in codes(vars(one)[member]) if code not in ran]
    answer([sorted(silent), wrong])
"""


class Names(TestCase):
    def test_every_public_name_is_documented(self):
        text = read_file("docs", "PYTHON.md")
        code = " ".join([*re.findall(r"^```python$.*?^```$", text, re.DOTALL | re.MULTILINE),
                         *re.findall(r"`[^`]+`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))])
        names = module_names() | set(RETURNED) | {member for each in members().values() for member in each}
        self.assertEqual(sorted(name for name in names if not re.search(rf"\b{name}\b", code)), [])

    def test_every_parameter_is_documented(self):
        text = read_file("docs", "PYTHON.md")
        code = [*re.findall(r"^```python$.*?^```$", text, re.DOTALL | re.MULTILINE),
                *re.findall(r"`[^`]+`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))]
        named = {name: getattr(ttmem, name) for name in ttmem.__all__} | public_classes()
        calls = {name: one for name, one in named.items() if not isinstance(one, type)}
        for name in ("Client", "track"):
            calls[name] = named[name]
        for name in ("track", "DeviceMemory"):
            calls |= {each: getattr(named[name], each) for each in members()[name] if callable(getattr(named[name], each, None))}
        missing = []
        for name, call in calls.items():
            arguments = " ".join(found for each in code for found in re.findall(rf"\b{name}\(((?:[^()]|\([^()]*\))*)\)", each))
            missing += [f"{name}({parameter.name})" for parameter in inspect.signature(call).parameters.values()
                        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
                        and parameter.name != "self" and not re.search(rf"\b{parameter.name}\b", arguments)]
        self.assertEqual(missing, [])

    def test_every_public_name_is_called(self):
        self.daemon()
        calls = [line.strip() for line in CALLS.strip().splitlines()]
        script = textwrap.dedent(BEGIN) + f"names = {sorted(module_names())!r}\nwrong = []\n"
        script += "".join(f"if not ({call}): wrong.append({call!r})\n" for call in calls)
        self.assertEqual(run_script(script + textwrap.dedent(END), self.directory.path, observed=True, HOME=self.state_directory,
                                    IPYTHONDIR=self.state_directory), [[], []])

    def test_every_exception_is_raised(self):
        folder = os.path.join(ROOT, "tests", "python")
        tests = "\n".join(read_file(folder, name) for name in os.listdir(folder) if name.endswith("_test.py"))
        raised = set(re.findall(r"(?:assertRaises\w*\(|except )ttmem\.(\w+)", tests))
        exceptions = {name for name, one in public_classes().items() if issubclass(one, Exception)}
        self.assertEqual(sorted(exceptions - raised), [])

    def test_a_client_has_every_question_of_the_module(self):
        questions = {name for name in vars(ttmem.Client) if not name.startswith("_")} - {"own_process"}
        self.assertEqual(sorted(name for name in questions if getattr(ttmem, name, None) != getattr(ttmem.default_client, name)), [])

    def test_the_version_is_that_of_the_programs(self):
        self.assertEqual(self.output_of("--version").split()[1], ttmem.__version__)
        self.assertIn("`ttmem.__version__`", read_file("docs", "PYTHON.md"))


if __name__ == "__main__":
    main()
