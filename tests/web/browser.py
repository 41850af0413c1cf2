# SPDX-License-Identifier: Apache-2.0
"""A real browser (Debian's Chromium) for tests of the page."""

import json
import os
import shutil
import subprocess
import tempfile

from harness.test_case import TestCase

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WEB, DOCUMENTS = os.path.join(ROOT, "web"), os.path.join(ROOT, "docs")
SKIPPED = 77
TILE = 32  # pixels
MOST_OF_A_TILE = 0.25  # of its pixels may differ: the ink of a text is less


def missing() -> str:
    """What this machine lacks for a browser; empty if nothing."""
    for program in ("node", "chromium"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if not os.path.isdir(os.path.join(WEB, "node_modules", "playwright-core")):
        return "web/node_modules is missing: npm could not be reached during the build"
    return ""


class Browser:
    """Tabs in one browser process. Each tab has a profile of its own."""

    def __init__(self):
        self.process = subprocess.Popen(["node", os.path.join(HERE, "browser.mjs"), WEB, shutil.which("chromium")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == '"ready"\n', "the browser does not start"

    def run(self, name: str, **arguments):
        self.process.stdin.write(json.dumps({"name": name, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the browser has ended"
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError(f"{name} {arguments}: {answer['error']}")
        return answer["answer"]

    def open(self, url: str, width: int = 1440, height: int = 900, scheme: str = "dark", is_bare: bool = False) -> "Tab":
        return Tab(self, self.run("open", url=url, width=width, height=height, scheme=scheme, isBare=is_bare))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Tab:
    def __init__(self, browser: Browser, number: int):
        self.browser, self.number = browser, number

    def __getattr__(self, name: str):
        return lambda **arguments: self.browser.run(name, tab=self.number, **arguments)

    def value(self, code: str):
        return self.evaluate(code=code)

    def wait_for(self, code: str):
        """Waits until the expression is true in the page, and returns its value."""
        return self.wait(code=code)

    def wait_for_text(self, text: str):
        self.wait_for(f"document.body.innerText.includes({json.dumps(text)})")

    def text(self) -> str:
        return self.value("document.body.innerText")


class PageCase(TestCase):
    """A TestCase with a browser, and a daemon that serves the page on a free port."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        super().tearDownClass()

    def start(self, *arguments: str):
        self.host = self.daemon("--listen", "127.0.0.1:0", *arguments, listen=None)
        return self.host

    def url(self, **options) -> str:
        """The address with a token, as 'ttmem web' prints it."""
        return self.output_of("web", "--no-open", **options).splitlines()[0]

    def address(self) -> str:
        return self.url().split("/#")[0]

    def tab(self, path: str = "/", **options) -> Tab:
        """A tab with this user's token, at that view."""
        tab = self.browser.open(self.url(), **options)
        self.addCleanup(tab.close)
        tab.wait_for("document.querySelector('.chip.ok .dot') !== null")
        if path != "/":
            tab.goto(url=self.address() + path)
            tab.wait_for("document.querySelector('.chip.ok .dot') !== null")
        return tab

    def check_picture(self, tab: Tab, name: str, pid: int, changing: str = ""):
        """The picture in the documents is this one, tile by tile. Numbers of processes and the name of the host differ from run to run: they are
        replaced. What `changing` selects is different each time."""
        tab.value(f"""(() => {{
            const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) {{
                const node = walk.currentNode;
                node.textContent = node.textContent.replaceAll("{pid}", "4711").replace(/ in the last \\w+/, " in the last minute");
            }}
            document.querySelector(".host").textContent = "node7";
        }})()""")
        stored = os.path.join(DOCUMENTS, name)
        if os.environ.get("TTMEM_UPDATE_GOLDEN") == "1":
            tab.picture(path=stored, whole=False)
            return
        with tempfile.TemporaryDirectory() as folder:
            now = os.path.join(folder, "now.png")
            tab.picture(path=now, whole=False)
            left_out = tab.boxes(selector=changing) if changing else []
            self.assertEqual(self.browser.run("difference", one=stored, other=now, tile=TILE, share=MOST_OF_A_TILE, leftOut=left_out), [], name)

    def assert_quiet(self, tab: Tab):
        """No script failed, and the browser blocked nothing."""
        self.assertEqual(tab.messages(), [])


def human(value: int) -> str:
    """Bytes as in the terminal."""
    if value < 1000:
        return f"{value} B"
    amount, units = value / 1024, ["KiB", "MiB", "GiB", "TiB"]
    while amount >= 999.95:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.1f} {units[0]}"
