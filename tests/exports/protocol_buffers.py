# SPDX-License-Identifier: Apache-2.0
"""Reads a protocol buffer with protoc, into dictionaries of lists."""

import os
import re
import subprocess

from harness.waiting import TIMEOUT

FOLDER = os.path.dirname(os.path.abspath(__file__))
LINE = re.compile(r'\s*(?:(?P<end>\})|(?P<name>\w+)(?: (?P<begin>\{)|: (?P<value>.*)))')


def decode(schema: str, message: str, data: bytes) -> dict[str, list]:
    """Fields that the schema lacks have their number as their name."""
    done = subprocess.run(["protoc", f"--proto_path={FOLDER}", f"--decode={message}", os.path.join(FOLDER, schema)],
                          input=data, capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    stack: list[dict] = [{}]
    for line in done.stdout.decode().splitlines():
        part = LINE.fullmatch(line)
        assert part, line
        if part["end"]:
            stack.pop()
        elif part["begin"]:
            inner: dict = {}
            stack[-1].setdefault(part["name"], []).append(inner)
            stack.append(inner)
        else:
            text = part["value"]
            is_text = text.startswith('"')
            value = text[1:-1].encode().decode("unicode_escape") if is_text else text == "true" or int(text)
            stack[-1].setdefault(part["name"], []).append(value)
    return stack[0]
