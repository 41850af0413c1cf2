# SPDX-License-Identifier: Apache-2.0
"""Code for a TrackedProcess with SMALL_SEGMENT: it replaces its segment by a changed copy."""

SEALS = "fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10 | fcntl.F_SEAL_SEAL"  # 0x10: F_SEAL_FUTURE_WRITE

_REPLACE = """
import array, fcntl, os, random, struct
allocate(open_set([device(0xbad)]), DRAM, 1048640, 1000, 12288)
real = own_segment()
copy = bytearray(os.pread(real, os.fstat(real).st_size, 0))
os.close(real)
{change}
forged = os.memfd_create("ttmem", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
os.write(forged, copy)
if {seals}:
    fcntl.fcntl(forged, fcntl.F_ADD_SEALS, {seals})
"""

_ANNOUNCE = """
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect({socket!r})
connection.sendmsg([b"\\x01"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [forged]))])
"""


def replace_segment(change: str = "", seals: str = SEALS) -> str:
    """Code whose only segment is a copy of the real one. `change` changes the bytes in `copy`."""
    return _REPLACE.format(change=change, seals=seals)


def announce_segment(change: str, announce_socket: str) -> str:
    """As replace_segment(), and passes the copy to the daemon at that socket."""
    return replace_segment(change) + _ANNOUNCE.format(socket=announce_socket)


def scramble(seed: int, used_share: int = 0, words: int = 2000) -> str:
    """A change: random values in `words` random words behind the region table, and in 1 of `used_share` used ones."""
    used = f"random.choices(used, k=len(used) // {used_share})" if used_share else "[]"
    return f"""
random.seed({seed})
used = [at for at in range(376, len(copy), 8) if any(copy[at:at + 8])]
for at in {used} + random.choices(range(376, len(copy), 8), k={words}):
    struct.pack_into('<Q', copy, at, random.choice([0, 1, 3, 2**64 - 1, 2**63, 2**40 + 1, random.getrandbits(64)]))
"""
