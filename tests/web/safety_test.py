#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who sees what in the page, and names that want to be more than names."""

import http.client
import json
import os
import select
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

from browser import PageCase, missing, SKIPPED
from harness.hostile_names import HOSTILE_COMMAND, HOSTILE_NAMES
from harness.programs import TTMEM
from harness.users import as_user, needs_other_users, STRANGER
from harness.waiting import wait_until


class Tunnel:
    """A port of this host that leads to a Unix socket."""

    def __init__(self, path: str):
        class Connection(socketserver.BaseRequestHandler):
            def handle(self):
                with socket.socket(socket.AF_UNIX) as there:
                    there.connect(path)
                    ends = {self.request: there, there: self.request}
                    while True:
                        for end in select.select(list(ends), [], [])[0]:
                            data = end.recv(1 << 16)
                            if not data:
                                return
                            ends[end].sendall(data)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Safety(PageCase):
    def get(self, path: str, **fields: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self.address().removeprefix("http://"), timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        return connection.getresponse()

    def hostile_process(self, before: str = "", after: str = "", **options):
        code = before + "s = open_set([device(16)])\nheld = []\n"
        for number, name in enumerate(HOSTILE_NAMES):
            code += f"scope({name!r})\nheld.append(allocate(s, DRAM, {1048640 + 4096 * number}, 1000, 4096))\n"
        process = self.tracked_process(code + after, **options)
        self.host.wait_for(process.pid)
        return process

    def test_names_of_hostile_processes_are_text_in_every_view(self):
        self.start()
        self.hostile_process()
        tab = self.tab("/memory?view=list")
        tab.wait_for(f"document.querySelectorAll('.rows .row').length === {len(HOSTILE_NAMES)}")
        shown = set(tab.value("[...document.querySelectorAll('.rows .row .name')].map(one => one.textContent)"))
        listed = {one["name"] for one in self.host.get("/v1/allocations")["allocations"]}
        self.assertEqual(shown, listed)
        for path, ready in (("/", ".chip-cell"), ("/memory", ".scope-canvas canvas"), ("/memory?view=flame", ".scope-canvas canvas"),
                            ("/memory?view=map", ".address-map canvas"), ("/compare", ".picker")):
            tab.goto(url=self.address() + path)
            self.assert_text_only(tab, ready)
        self.assert_quiet(tab)

    def assert_text_only(self, tab, ready: str):
        tab.wait_for(f"document.querySelector({json.dumps(ready)}) !== null && document.querySelector('main .skeleton') === null")
        self.assertEqual(tab.value("document.querySelectorAll('main script, main svg, main img, main [onclick], main b [onclick]').length"), 0)

    def test_names_of_failures_processes_and_post_mortems_are_text(self):
        self.start()
        bad = HOSTILE_NAMES[6]
        process = self.hostile_process(
            before=f"open('/proc/self/comm', 'w').write({HOSTILE_COMMAND!r})\nscope({bad!r})\n",
            after=f"""
held.append(allocate_cb(s, 7, 105664, 65536, [1]))
mark({bad!r})
allocation_failed(s, DRAM, 1 << 30, 1 << 26, 1 << 20, 1 << 19)
""")
        other = self.tracked_process("held = allocate(open_set([device(16)]), DRAM, 1048640, 1000, 4096)")
        self.host.wait_for(other.pid)
        path = f"/process/{process.pid}"
        tab = self.tab(path)
        tab.wait_for(f"document.querySelector('h1')?.innerText.includes({json.dumps(HOSTILE_COMMAND)})")
        for path, ready in ((path, "td.name"), ("/", ".chip-cell"), ("/processes", "td a"), ("/failures", ".failure-card .address-map canvas"),
                            ("/chip/0?core=0,0", ".column li")):
            tab.goto(url=self.address() + path)
            self.assert_text_only(tab, ready)
        tab.wait_for_text(f"process {process.pid}: mark ")
        tab.wait_for(f"[...document.querySelectorAll('.column li')].some(one => one.innerText.includes({json.dumps(bad)}))")
        with tempfile.TemporaryDirectory() as folder, self.subTest("a saved page"):
            path = os.path.join(folder, "host.html")
            tab.download(selector="button[title^=Save]", path=path)
            saved = self.browser.open(f"file://{path}#/memory?view=list")
            self.addCleanup(saved.close)
            self.assert_text_only(saved, ".rows .row")
            self.assertTrue(saved.value(f"[...document.querySelectorAll('.rows .row .name')].some(one => one.textContent.includes({json.dumps(bad)}))"))
            saved.value("location.hash = '/failures'")
            self.assert_text_only(saved, ".failure-card")
            self.assert_quiet(saved)
        process.kill()
        self.host.wait_for_death(process.pid)
        for path, ready in ((f"/post-mortem/{process.pid}", "td.name"), ("/processes", "td a"), ("/failures", ".failure-card"), ("/chip/0", ".chart canvas")):
            tab.goto(url=self.address() + path)
            self.assert_text_only(tab, ready)
        self.assert_quiet(tab)

    def test_the_file_that_leads_to_the_page_opens_it_and_is_removed(self):
        self.start()
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "xdg-open")
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\necho \"$1\" > {folder}/part && mv {folder}/part {folder}/opened\n")
            os.chmod(program, 0o755)
            self.output_of("web", XDG_RUNTIME_DIR=folder, DISPLAY=":7", PATH=f"{folder}:{os.environ['PATH']}")
            wait_until(lambda: os.path.exists(os.path.join(folder, "opened")), "the browser was started")
            with open(os.path.join(folder, "opened"), encoding="utf-8") as file:
                url = file.read().strip()
            tab = self.browser.open(url)
            self.addCleanup(tab.close)
            tab.wait_for("location.protocol === 'http:' && document.querySelector('.chip.ok .dot') !== null")
            self.assertTrue(tab.value("sessionStorage.getItem('ttmem-token') !== null"))
            wait_until(lambda: not os.path.exists(url.removeprefix("file://")), "the file with the token is gone")

    def test_the_token_leaves_the_address_and_stays_in_the_tab(self):
        self.start()
        tab = self.tab()
        self.assertEqual(tab.value("location.href"), self.address() + "/")
        self.assertTrue(tab.value("sessionStorage.getItem('ttmem-token')"))
        self.assertEqual(tab.value("document.cookie"), "")

    def test_the_token_stays_if_the_page_is_left_at_once(self):
        self.start()
        process = self.hostile_process()
        tab = self.browser.open("about:blank")
        self.addCleanup(tab.close)
        # The fragment goes with the first lines of the script, before anything is shown.
        tab.goto(url=self.url())
        tab.goto(url=f"{self.address()}/process/{process.pid}")
        tab.wait_for_text("__proto__")

    def test_without_a_token_the_page_shows_totals_and_how_to_get_more(self):
        self.start()
        process = self.hostile_process()
        tab = self.browser.open(self.address() + "/")
        self.addCleanup(tab.close)
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 1")
        tab.wait_for_text("Only totals are shown")
        self.assertIn(str(process.pid), tab.text())
        for path in ("/memory", "/memory?view=list", "/chip/0"):
            tab.goto(url=self.address() + path)
            tab.wait_for_text("ttmem web")
            self.assertNotIn("constructor", tab.text())

    def test_through_a_tunnel_to_the_socket_the_page_needs_no_token(self):
        """As 'ssh -L 8080:/run/ttmem/api.sock' does it: the kernel says who asks, whatever the port here."""
        self.start()
        self.hostile_process()
        tunnel = Tunnel(self.directory.api)
        self.addCleanup(tunnel.close)
        tab = self.browser.open(f"http://localhost:{tunnel.port}/memory?view=list")
        self.addCleanup(tab.close)
        tab.wait_for(f"document.querySelectorAll('.rows .row').length === {len(HOSTILE_NAMES)}")
        tab.wait_for("document.querySelector('.chip.ok .dot') !== null")
        self.assertNotIn("Only totals are shown", tab.text())
        self.assertIsNone(tab.value("sessionStorage.getItem('ttmem-token')"))
        self.assert_quiet(tab)

    @needs_other_users
    def test_another_user_sees_totals_of_what_is_not_theirs(self):
        self.start()
        process = self.hostile_process()
        theirs = self.tracked_process("s = open_set([device(17)])\nscope('theirs')\nheld = allocate(s, DRAM, 1048640, 100, 4096)", uid=STRANGER)
        self.host.wait_for(theirs.pid)
        url = subprocess.run(as_user(STRANGER, TTMEM, "web", "--no-open"), capture_output=True, text=True, check=True,
                             env=self.environment()).stdout.splitlines()[0]
        tab = self.browser.open(url)
        self.addCleanup(tab.close)
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 2")
        self.assertIn(str(process.pid), tab.text())
        tab.goto(url=self.address() + "/memory?view=list")
        tab.wait_for("document.querySelectorAll('.rows .row').length === 1")
        self.assertIn("theirs", tab.text())
        tab.wait_for_text("1 process of other users")
        tab.goto(url=f"{self.address()}/process/{process.pid}")
        tab.wait_for_text("belongs to root")
        self.assertNotIn("constructor", tab.text())

    def test_pages_of_other_sites_get_nothing(self):
        self.start()
        page = {"Accept": "text/html", "Accept_Encoding": "gzip"}
        foreign = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
        self.assertEqual(self.get("/chip/0", **page, **foreign).status, 200)
        self.assertEqual(self.get("/v1/status", **page, **foreign).status, 403)
        for fields in ({"Sec_Fetch_Site": "cross-site"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
            for path in ("/v1/status", "/v1/stream", "/metrics", "/"):
                self.assertEqual(self.get(path, **page, **fields).status, 403, (path, fields))
        for path in ("/v1/status", "/"):
            answer = self.get(path, **page)
            self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
            self.assertIsNone(answer.headers["Set-Cookie"])
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
            self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        self.assertEqual(self.get("/v1/status").headers["Cache-Control"], "no-store")
        policy = self.get("/", **page).headers["Content-Security-Policy"]
        self.assertIn("require-trusted-types-for 'script'; trusted-types 'none'", policy)
        self.assertNotIn("unsafe", policy)

    def test_a_page_of_another_site_in_the_browser_reads_nothing(self):
        self.start()
        tab = self.browser.open("data:text/html,<title>evil</title>")
        self.addCleanup(tab.close)
        code = "fetch(%s, {mode: '%s'}).then(answer => answer.type + answer.status, error => 'refused')"
        target = json.dumps(self.address() + "/v1/status")
        self.assertEqual(tab.value(code % (target, "cors")), "refused")


if __name__ == "__main__":
    if why := missing():
        print(f"SKIPPED: {why}")
        sys.exit(SKIPPED)
    unittest.main()
