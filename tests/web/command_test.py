#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem web': the address, and what to do where there is none."""

import contextlib
import os
import socket
import stat
import tempfile
import unittest

from harness.test_case import TestCase


class Command(TestCase):
    def complaint(self, *arguments: str, **variables: str) -> str:
        done = self.ttmem("web", *arguments, **variables)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        return done.stderr

    def is_built(self) -> bool:
        return self.host.get("/v1/page")["built"]

    def test_without_a_daemon_it_says_how_to_start_one(self):
        self.assertIn("no daemon runs", self.complaint())

    def test_without_tcp_it_says_how_to_get_there(self):
        self.host = self.daemon(listen="none")
        if not self.is_built():
            self.skipTest("the page is left out of this build")
        text = self.complaint()
        self.assertIn('\'listen\' is "none"', text)
        self.assertIn(f"ssh -L 9479:{self.directory.api}", text)

    def test_a_port_in_use_is_named(self):
        with socket.socket() as taken:
            with contextlib.suppress(OSError):  # another program has it already
                taken.bind(("127.0.0.1", 9479))
                taken.listen()
            self.host = self.daemon(listen=None)
            is_built = self.is_built()
            text = self.complaint()
        self.host.kill()  # it has complained, too
        if not is_built:
            self.skipTest("the page is left out of this build")
        self.assertIn("127.0.0.1:9479: another program uses that port", text)
        self.assertIn("--listen 127.0.0.1:PORT", text)

    def test_it_prints_the_address_and_the_way_by_ssh(self):
        self.host = self.daemon("--listen", "127.0.0.1:0", listen=None)
        if not self.is_built():
            self.assertIn("without the page", self.complaint())
            return
        lines = self.output_of("web", "--no-open").splitlines()
        self.assertRegex(lines[0], r"^http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}$")
        self.assertIn("12 hours", lines[1])
        self.assertIn(f"ssh -L 9479:{self.directory.api} {socket.gethostname()}", lines[2])
        self.assertNotEqual(self.output_of("web", "--no-open").splitlines()[0], lines[0])

    def test_a_page_that_was_left_out_is_no_export(self):
        self.host = self.daemon()
        done = self.ttmem("export", "--format", "html", "-o", "-")
        if self.is_built():
            self.assertEqual((done.returncode, done.stdout[:15]), (0, "<!doctype html>"))
        else:
            self.assertIn("built without the page", done.stderr)
            self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_the_browser_gets_a_file_that_only_the_user_can_read(self):
        self.host = self.daemon("--listen", "127.0.0.1:0", listen=None)
        if not self.is_built():
            self.skipTest("the page is left out of this build")
        with tempfile.TemporaryDirectory() as folder:
            opened = os.path.join(folder, "opened")
            program = os.path.join(folder, "xdg-open")
            os.mkfifo(opened)
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\necho \"$1\" > {opened}\n")
            os.chmod(program, 0o755)
            text = self.output_of("web", XDG_RUNTIME_DIR=folder, DISPLAY=":7", PATH=f"{folder}:{os.environ['PATH']}")
            self.assertIn("Opened in the browser", text)
            with open(opened, encoding="utf-8") as file:
                path = file.read().strip().removeprefix("file://")
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            with open(path, encoding="utf-8") as file:
                self.assertIn(text.splitlines()[0], file.read())

    def test_without_a_display_it_says_so_and_prints_the_address(self):
        self.host = self.daemon("--listen", "127.0.0.1:0", listen=None)
        if self.is_built():
            text = self.output_of("web", DISPLAY="", WAYLAND_DISPLAY="", BROWSER="")
            self.assertIn("No browser was opened: there is no display here", text)


if __name__ == "__main__":
    unittest.main()
