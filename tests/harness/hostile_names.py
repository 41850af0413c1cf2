# SPDX-License-Identifier: Apache-2.0
"""Names that want to be more than names: in a page, a terminal, a table of a program."""

HOSTILE_NAMES = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"><svg onload=alert(3)>", "javascript:alert(4)",
    "{{constructor.constructor('alert(5)')()}}", "${alert(6)}", "</script><script>alert(7)</script>", "__proto__", "constructor",
    "\u202eevil", "=cmd|' /C calc'!A0", "a" * 180, "<!--", "]]>", "&lt;b&gt;",
]
HOSTILE_COMMAND = "<b onclick=a()>"  # as long as the name of a command may be
