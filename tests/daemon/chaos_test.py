#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Disorder: everything comes and goes in any order, and at each quiet point the view equals the truth.

The order is that of a seed (TTMEM_CHAOS_SEED), so that what was seen once can be seen again.
"""

import contextlib
import os
import random
import signal
import socket
import sys

import host
from host import wait_until

ROUNDS = 500
MOST_PROCESSES = 8

# A process with its own books: `truth()` is what it would have to be.
BOOKKEEPER = """
import random
rng = random.Random({seed})
asics = {asics}
the_set = open_set([device(0x900 + asic, asic) for asic in asics])
live, next_address = [], 1048640

def work(number):
    global next_address
    for _ in range(number):
        if live and rng.random() < 0.45 + len(live) / 10000:
            at = rng.randrange(len(live))
            live[at], live[-1] = live[-1], live[at]
            free(live.pop()[0])
        else:
            kind, requested = rng.choice([(DRAM, "dram"), (L1, "l1")]), rng.randrange(1, 1000000)
            used = -(-requested // 384) * 384
            next_address += 32
            live.append((allocate(the_set, kind[0], next_address, requested, used), kind[1], used, requested))

def truth():
    memory = {{}}
    for _, kind, used, requested in live:
        before = memory.get(kind, (0, 0))
        memory[kind] = before[0] + used, before[1] + requested
    return {{f"{{0x900 + asic:#x}}": memory for asic in asics}} if memory else {{}}
work(200)
"""


class Chaos(host.TestCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(int(os.environ.get("TTMEM_CHAOS_SEED", "2026")))
        self.clients: list[host.Client] = []
        self.sims: list[host.Sim] = []
        self.children: dict[int, int] = {}  # forked, and silent
        self.the_daemon = self.daemon()
        self.done: list[str] = []

    def test_at_each_quiet_point_the_view_equals_the_truth(self):
        deeds = [self.start_client, self.start_client, self.start_sim, self.work, self.work, self.step_sim,
                 self.step_sim, self.kill_someone, self.end_someone, self.fork_a_child, self.kill_a_child,
                 self.kill_the_daemon, self.stop_the_daemon, self.cut_connections, self.announce_nonsense]
        try:
            for _ in range(ROUNDS):
                for _ in range(self.random.randrange(1, 6)):
                    deed = self.random.choice(deeds)
                    self.done.append(deed.__name__)
                    deed()
                self.be_quiet()
        except BaseException:
            print("what was done:", " ".join(self.done), file=sys.stderr)
            raise
        self.assertEqual(set(self.done), {deed.__name__ for deed in deeds})  # else the seed is a poor one
        for one in self.clients + self.sims:
            one.end()
        self.assertEqual(self.the_daemon.get("/v1/self")["defects"], 0)

    def be_quiet(self):
        pids = {one.pid for one in self.clients + self.sims}
        for client in self.clients:
            client.do("")
        wait_until(lambda: set(self.the_daemon.pids()) == pids, f"{pids} are there, and nobody else")
        truth = {client.pid: {device: {kind: tuple(figures) for kind, figures in memory.items()} for device, memory
                              in client.do("answer = truth()").items()} for client in self.clients}
        truth |= {sim.pid: sim.truth for sim in self.sims}
        view = self.the_daemon.view()
        self.assertEqual(host.figures_by_process(view), truth)
        self.assertEqual(host.figures_of(view["devices"]), host.sum_of(truth.values()))
        self.assertEqual([one for one in view["inexact"] if one["pid"] in pids], [])
        dead = [(one["process"]["pid"], one["process"]["start_time_ns"])
                for one in self.the_daemon.get("/v1/post-mortems")["post_mortems"]]
        self.assertEqual(len(dead), len(set(dead)), "nobody dies twice")

    def start_client(self):
        if len(self.clients) < MOST_PROCESSES:
            asics = self.random.sample(range(4), self.random.randrange(1, 4))
            self.clients.append(self.client(BOOKKEEPER.format(seed=self.random.random(), asics=asics)))

    def start_sim(self):
        if len(self.sims) < 3:
            self.sims.append(self.sim("multi-thread", "--devices", self.random.choice(("8", "2,3", "0,1,6")), "--seed",
                                      str(self.random.randrange(1000))))
            self.assertTrue(self.sims[-1].next())

    def work(self):
        """All of them, while the next things happen."""
        for client in self.clients:
            client.begin(f"work({self.random.randrange(1, 4000)})")

    def step_sim(self):
        if self.sims:
            sim = self.random.choice(self.sims)
            if not sim.next():
                sim.end()
                sim.close()
                self.sims.remove(sim)

    def kill_someone(self):
        if self.clients + self.sims:
            victim = self.random.choice(self.clients + self.sims)
            if victim in self.clients:
                victim.tell("while True: work(100)")  # in the middle of an event, if it comes to that
            victim.close()
            (self.clients if victim in self.clients else self.sims).remove(victim)

    def end_someone(self):
        if self.clients:
            client = self.clients.pop(self.random.randrange(len(self.clients)))
            client.do("")
            client.end()
            client.close()

    def fork_a_child(self):
        """Which holds its parent's segment, and does nothing."""
        if self.clients and len(self.children) < MOST_PROCESSES:
            parent = self.random.choice(self.clients)
            child = parent.do("""
                answer = os.fork()
                if answer == 0:
                    signal.pause()
                """)
            self.children[child] = parent.pid
            self.addCleanup(self.end_child, child)

    def kill_a_child(self):
        if self.children:
            self.end_child(self.random.choice(list(self.children)))

    def end_child(self, child: int):
        if self.children.pop(child, None) is not None:
            os.kill(child, signal.SIGKILL)

    def kill_the_daemon(self):
        self.assertIsNone(self.the_daemon.process.poll())
        self.assertEqual(self.the_daemon.said_wrong(), "")
        self.the_daemon.close()
        self.the_daemon = self.daemon()

    def stop_the_daemon(self):
        """While things happen."""
        os.kill(self.the_daemon.pid, signal.SIGSTOP)
        self.work()
        self.start_client()
        self.kill_someone()
        os.kill(self.the_daemon.pid, signal.SIGCONT)

    def cut_connections(self):
        for request in (b"GET /v1/alloc", b"GET /v1/allocations?limit=10000 HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"GET /v1/stream HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00\xff" * 100, b""):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(self.the_daemon.api)
            connection.sendall(request)
            if request.startswith(b"GET /v1/allocations"):
                connection.recv(100)  # in the middle of the answer
            connection.close()

    def announce_nonsense(self):
        for words in (None, b"", b"\x01", b"nonsense" * 50):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
                connection.connect(self.the_daemon.directory.announce)
                if words is not None:
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        connection.send(words)


if __name__ == "__main__":
    host.main()
