# SPDX-License-Identifier: Apache-2.0
"""What a hostile user does: the building blocks of the attack tests and of the attack benchmark.

An attack is code for a TrackedProcess. `prepare` runs once; `go_on` is then repeated until the process is killed. Both find the
paths ANNOUNCE_SOCKET, API_SOCKET and CLASSIC_SOCKET, and the numbers of the attack, which a test may change.
"""

import array  # attackers use these modules, and may not be able to load them themselves
import dataclasses
import resource
import textwrap

from harness import classic_client, large_segment
from harness.daemon import RuntimeDirectory
from harness.programs import NO_RUNTIME_DIRECTORY
from harness.tracked_process import SMALL_SEGMENT, TrackedProcess
from harness.users import STRANGER

SEGMENTS = large_segment.source() + large_segment.ANNOUNCE

UNLIMITED = """
import resource
most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
"""

CONNECT = """
def connect(path, kind=socket.SOCK_STREAM):
    connection = socket.socket(socket.AF_UNIX, kind)
    connection.setblocking(False)
    try:
        connection.connect(path)
    except OSError:
        pass
    return connection

def ask(target):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(API_SOCKET)
    try:
        connection.sendall(b"GET " + target.encode() + b" HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    except OSError:
        pass
    return connection
"""

# Ends with its parent.
FORK = """
def fork(do):
    parent = os.getpid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        try:
            if os.getppid() == parent:
                do()
        finally:
            os._exit(0)
"""

HOLES = SEGMENTS + """
template, kept = own_template(), []
for _ in range(segments):
    segment = LargeSegment(template, {SETS: 256, WRITERS: 1024})
    for index in range(256):
        segment.put_set(index, 1)
    for line in range(1024):
        segment.put(WRITERS, line, struct.pack("<QQQ", 1, 7, 1))  # head, intent, thread
        segment.put(TALLIES, line, bytes(8), at=line % 32 * 4096)
    kept.append(segment.seal())
    announce(ANNOUNCE_SOCKET, kept[-1])
"""

MADE_UP_DEVICES = SEGMENTS + CONNECT + """
template, kept = own_template(), []
for number in range(segments):
    segment = LargeSegment(template, {DEVICES: 64, SETS: 64})
    for index in range(64):
        segment.put_device(index, 0x10000 + number * 64 + index)
        segment.put_set(index, 1 << index)
    kept.append(segment.seal())
    announce(ANNOUNCE_SOCKET, kept[-1])
listening = [ask("/v1/stream") for _ in range(streams)]
"""

EXPENSIVE_NAMES = SEGMENTS + CONNECT + """
template, slot = own_template(), own_slot()
segment = LargeSegment(template, {NAMES: 65536, LEDGER: slots})
segment.put_set(0, 1)
segment.put_device(0, 0xbad)
for entry in range(1, 70):
    segment.put(NAMES, entry, struct.pack("<II", 120, entry - 1) + b"n" * 120)
struct.pack_into("<I", slot, 8 * 6 + 4, 69)  # its name: the deepest
offset, _ = segment.region[LEDGER]
os.pwrite(segment.file, bytes(slot) * slots, offset)
kept = segment.seal()
announce(ANNOUNCE_SOCKET, kept)
asking = [ask("/v1/allocations?limit=0") for _ in range(questions)]
"""
ASK_AGAIN = """
asking[0].recv(1)  # as soon as one answer begins
asking.pop(0).close()
asking.append(ask("/v1/allocations?limit=0&sort=name"))
"""

OWN_PARENT = SEGMENTS + """
template, slot = own_template(), own_slot()
segment = LargeSegment(template, {NAMES: 64, LEDGER: slots})
segment.put_set(0, 1)
segment.put_device(0, 0xbad)
segment.put(NAMES, 5, struct.pack("<II", 120, 5) + b"n" * 120)
struct.pack_into("<I", slot, 8 * 6 + 4, 5)
offset, _ = segment.region[LEDGER]
os.pwrite(segment.file, bytes(slot) * slots, offset)
kept = segment.seal()
announce(ANNOUNCE_SOCKET, kept)
"""

# More slots than a list scans; all but one are holes.
LARGE_LEDGERS = SEGMENTS + """
template, slot, kept = own_template(), own_slot(), []
for _ in range(segments):
    segment = LargeSegment(template, {LEDGER: slots})
    segment.put_set(0, 1)
    segment.put_device(0, 0xbad)
    segment.put(LEDGER, 0, bytes(slot))
    kept.append(segment.seal())
    announce(ANNOUNCE_SOCKET, kept[-1])
"""

SMALL_SEGMENTS = SEGMENTS + """
template, kept = own_template(), []
for _ in range(segments):
    segment = LargeSegment(template, {})
    segment.put_set(0, 1)
    segment.put_device(0, 0xbad)
    kept.append(segment.seal())
    announce(ANNOUNCE_SOCKET, kept[-1])
from harness.classic_client import ALLOC, FREE, QUERY, Wire
wires = [Wire(CLASSIC_SOCKET) for _ in range(connections)]
"""
CHANGE_AND_ASK = """
for number, wire in enumerate(wires):
    for type_ in (ALLOC, FREE):
        wire.socket.sendall(wire.message(type_, 0, 64, 4096 + number) + wire.message(QUERY))
for wire in wires:
    wire.receive()
    wire.receive()
"""

# Circular buffers whose id and size cancel each other out in a hash without a secret.
ONE_HASH = """
from harness.classic_client import CB_ALLOC, CB_FREE, QUERY, Wire
wire = Wire(CLASSIC_SOCKET)
allocations, frees = (b"".join(wire.message(type_, 0, i, 0x1234 ^ i << 20) for i in range(1, keys + 1))
                      for type_ in (CB_ALLOC, CB_FREE))
wire.socket.sendall(allocations)
answer = wire.ask(QUERY)["cb"]
"""
FREE_AND_ALLOCATE = """
wire.socket.sendall(frees)
wire.socket.sendall(allocations)
wire.ask(QUERY)
"""

CLASSIC_ALLOCATIONS = """
import struct
from harness.classic_client import ALLOC, QUERY, Wire
wire = Wire(CLASSIC_SOCKET, 72)
count, block = 10_000, bytearray()
for _ in range(count):
    block += wire.message(ALLOC, 0, 64, 0)
for first in range(0, allocations, count):
    for i in range(count):
        struct.pack_into("<Q", block, 72 * i + 24, 4096 + 64 * (first + i))
    wire.socket.sendall(block)
answer = wire.ask(QUERY)["dram"]
"""

IDLE_CONNECTIONS = UNLIMITED + CONNECT + "kept = [connect(CLASSIC_SOCKET) for _ in range(connections)]\n"

SILENT_ANNOUNCEMENTS = CONNECT + "kept = [connect(ANNOUNCE_SOCKET, socket.SOCK_SEQPACKET) for _ in range(connections)]\n"

MANY_DESCRIPTORS = UNLIMITED + FORK + """
null = os.open("/dev/null", os.O_RDONLY)
kept = [os.dup(null) for _ in range(min(descriptors, most_files - 50))]
for _ in range(processes):
    fork(signal.pause)
"""

MANY_PROCESSES = FORK + """
def live():
    allocate(open_set([device(0x5407)]), DRAM, 1048640, 1000, 12288)
    signal.pause()
for _ in range(processes):
    fork(live)
"""

SHORT_LIVES = """
for _ in range(at_once):
    if os.fork() == 0:
        allocate(open_set([device(0x5407)]), DRAM, 1048640, 1000, 12288)
        os._exit(0)
for _ in range(at_once):
    os.wait()
"""

UNREAD_ANSWERS = CONNECT + """
s = open_set([device(0x77)])
for _ in range(pairs):
    free(allocate(s, DRAM, 1048640, 1000, 12288))
kept = [ask(target) for target in ("/v1/events", "/v1/status") for _ in range(connections)]
"""

REFUSED_ANNOUNCEMENT = """
import array
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(ANNOUNCE_SOCKET)
file = os.memfd_create("ttmem", os.MFD_CLOEXEC)
connection.sendmsg([b"\\x01"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
os.close(file)
connection.close()
"""


@dataclasses.dataclass(frozen=True)
class Attack:
    prepare: str
    go_on: str = ""
    numbers: dict = dataclasses.field(default_factory=dict)
    announces: bool = False  # the process announces its own segment; otherwise only what the code announces
    is_small: bool = True    # its own segment is small


ATTACKS = {
    "holes": Attack(HOLES, numbers={"segments": 40}),
    "made-up devices": Attack(MADE_UP_DEVICES, numbers={"segments": 150, "streams": 8}),
    "expensive names": Attack(EXPENSIVE_NAMES, ASK_AGAIN, {"slots": 200_000, "questions": 60}),
    "own parent": Attack(OWN_PARENT, numbers={"slots": 100_000}),
    "large ledgers": Attack(LARGE_LEDGERS, numbers={"segments": 20, "slots": 3_000_000}),
    "change and ask": Attack(SMALL_SEGMENTS, CHANGE_AND_ASK, {"segments": 500, "connections": 10}),
    "one hash": Attack(ONE_HASH, FREE_AND_ALLOCATE, {"keys": 120_000}),
    "classic allocations": Attack(CLASSIC_ALLOCATIONS, numbers={"allocations": 1_050_000}),
    "idle connections": Attack(IDLE_CONNECTIONS, numbers={"connections": 4200}),
    "silent announcements": Attack(SILENT_ANNOUNCEMENTS, numbers={"connections": 200}),
    "descriptors": Attack(MANY_DESCRIPTORS, numbers={"processes": 100, "descriptors": 19_900}),
    "processes": Attack(MANY_PROCESSES, numbers={"processes": 1100}, announces=True),
    "short lives": Attack("", SHORT_LIVES, {"at_once": 50}, announces=True),
    "unread answers": Attack(UNREAD_ANSWERS, numbers={"pairs": 20_000, "connections": 31}, announces=True, is_small=False),
    "refused announcements": Attack("", REFUSED_ANNOUNCEMENT),
}


def launch(name: str, directory: RuntimeDirectory, uid: int = STRANGER, **numbers: int) -> TrackedProcess:
    """Returns when the attack is prepared; from then on it goes on. `answer` is what its preparation found out."""
    attack = ATTACKS[name]
    assert set(numbers) <= set(attack.numbers), f"{name} has no such number: {numbers}"
    code = f"ANNOUNCE_SOCKET, API_SOCKET, CLASSIC_SOCKET = {directory.announce!r}, {directory.api!r}, {directory.classic!r}\n"
    code += "".join(f"{key} = {value}\n" for key, value in (attack.numbers | numbers).items()) + attack.prepare
    process = TrackedProcess(code, directory.path if attack.announces else NO_RUNTIME_DIRECTORY, uid=uid,
                             **(SMALL_SEGMENT if attack.is_small else {}))
    if attack.go_on:
        process.send("while True:\n  try:\n" + textwrap.indent(attack.go_on, "    ") + "  except OSError:\n    pass  # refused\n")
    return process
