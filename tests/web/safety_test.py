#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who sees what in the page, and names that want to be more than names."""

import http.client
import json
import select
import socket
import socketserver
import subprocess
import sys
import threading
import unittest

from browser import PageCase, missing, SKIPPED
from harness.users import as_user, needs_other_users, STRANGER
from harness.programs import TTMEM

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"><svg onload=alert(3)>", "javascript:alert(4)",
    "{{constructor.constructor('alert(5)')()}}", "${alert(6)}", "</script><script>alert(7)</script>", "__proto__", "constructor",
    "\u202eevil", "=cmd|' /C calc'!A0", "a" * 180, "<!--", "]]>", "&lt;b&gt;",
]


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

    def hostile_process(self, **options):
        code = "s = open_set([device(16)])\nheld = []\n"
        for number, name in enumerate(HOSTILE):
            code += f"scope({name!r})\nheld.append(allocate(s, DRAM, {1048640 + 4096 * number}, 1000, 4096))\n"
        process = self.tracked_process(code, **options)
        self.host.wait_for(process.pid)
        return process

    def test_names_of_hostile_processes_are_text_in_every_view(self):
        self.start()
        self.hostile_process()
        tab = self.tab("/memory?view=list")
        tab.wait_for(f"document.querySelectorAll('.rows .row').length === {len(HOSTILE)}")
        shown = set(tab.value("[...document.querySelectorAll('.rows .row .name')].map(one => one.textContent)"))
        listed = {one["name"] for one in self.host.get("/v1/allocations")["allocations"]}
        self.assertEqual(shown, listed)
        for path, ready in (("/", ".chip-cell"), ("/memory", ".scope-canvas canvas"), ("/memory?view=flame", ".scope-canvas canvas"),
                            ("/memory?view=map", ".address-map canvas"), ("/compare", ".picker")):
            tab.goto(url=self.address() + path)
            tab.wait_for(f"document.querySelector('{ready}') !== null")
            self.assertEqual(tab.value("document.querySelectorAll('main script, main svg, main img').length"), 0)
        self.assert_quiet(tab)

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
        tab.wait_for(f"document.querySelectorAll('.rows .row').length === {len(HOSTILE)}")
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
