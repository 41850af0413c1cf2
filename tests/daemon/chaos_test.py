#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random disorder: processes and daemons start and end in any order, and at each quiet point the view equals the truth.

The order follows from a seed (TTMEM_CHAOS_SEED), so that a failure can be repeated.
"""

import contextlib
import os
import random
import signal
import socket
import sys

from harness.figures import figures_by_process, figures_of, sum_of
from harness.simulator import Simulator
from harness.test_case import TestCase, main
from harness.tracked_process import TrackedProcess
from harness.waiting import wait_until

ROUNDS = 500
MOST_PROCESSES = 8

# A process that keeps its own account: `truth()` is what the daemon must show.
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


class Chaos(TestCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(int(os.environ.get("TTMEM_CHAOS_SEED", "2026")))
        self.clients: list[TrackedProcess] = []
        self.sims: list[Simulator] = []
        self.children: dict[int, int] = {}  # forked, and idle
        self.current_daemon = self.daemon()
        self.actions_taken: list[str] = []

    def test_at_each_quiet_point_the_view_equals_the_truth(self):
        actions = [self.start_client, self.start_client, self.start_sim, self.work, self.work, self.step_sim,
                 self.step_sim, self.kill_one, self.end_one, self.fork_child, self.kill_child,
                 self.kill_daemon, self.suspend_daemon, self.cut_connections, self.announce_nonsense]
        try:
            for _ in range(ROUNDS):
                for _ in range(self.random.randrange(1, 6)):
                    action = self.random.choice(actions)
                    self.actions_taken.append(action.__name__)
                    action()
                self.check_quiet_point()
        except BaseException:
            print("actions:", " ".join(self.actions_taken), file=sys.stderr)
            raise
        self.assertEqual(set(self.actions_taken), {action.__name__ for action in actions}, "this seed does not cover all actions")
        for one in self.clients + self.sims:
            one.finish()
        self.assertEqual(self.current_daemon.get("/v1/self")["defects"], 0)

    def check_quiet_point(self):
        pids = {one.pid for one in self.clients + self.sims}
        for client in self.clients:
            client.run("")
        wait_until(lambda: set(self.current_daemon.pids()) == pids, f"exactly {pids} are tracked")
        truth = {client.pid: {device: {kind: tuple(figures) for kind, figures in memory.items()} for device, memory
                              in client.run("answer = truth()").items()} for client in self.clients}
        truth |= {sim.pid: sim.truth for sim in self.sims}
        view = self.current_daemon.view()
        self.assertEqual(figures_by_process(view), truth)
        self.assertEqual(figures_of(view["devices"]), sum_of(truth.values()))
        self.assertEqual([one for one in view["inexact"] if one["pid"] in pids], [])
        dead = [(one["process"]["pid"], one["process"]["start_time_ns"])
                for one in self.current_daemon.get("/v1/post-mortems")["post_mortems"]]
        self.assertEqual(len(dead), len(set(dead)), "no process has two post-mortems")

    def start_client(self):
        if len(self.clients) < MOST_PROCESSES:
            asics = self.random.sample(range(4), self.random.randrange(1, 4))
            self.clients.append(self.tracked_process(BOOKKEEPER.format(seed=self.random.random(), asics=asics)))

    def start_sim(self):
        if len(self.sims) < 3:
            self.sims.append(self.simulator("multi-thread", "--devices", self.random.choice(("8", "2,3", "0,1,6")), "--seed",
                                      str(self.random.randrange(1000))))
            self.assertTrue(self.sims[-1].next())

    def work(self):
        """Lets all processes work while the next actions happen."""
        for client in self.clients:
            client.start(f"work({self.random.randrange(1, 4000)})")

    def step_sim(self):
        if self.sims:
            sim = self.random.choice(self.sims)
            if not sim.next():
                sim.finish()
                sim.close()
                self.sims.remove(sim)

    def kill_one(self):
        if self.clients + self.sims:
            victim = self.random.choice(self.clients + self.sims)
            if victim in self.clients:
                victim.send("while True: work(100)")  # so that it may die in the middle of an event
            victim.close()
            (self.clients if victim in self.clients else self.sims).remove(victim)

    def end_one(self):
        if self.clients:
            client = self.clients.pop(self.random.randrange(len(self.clients)))
            client.run("")
            client.finish()
            client.close()

    def fork_child(self):
        """The child holds the segment of its parent, and does nothing."""
        if self.clients and len(self.children) < MOST_PROCESSES:
            parent = self.random.choice(self.clients)
            child = parent.run("""
                answer = os.fork()
                if answer == 0:
                    signal.pause()
                """)
            self.children[child] = parent.pid
            self.addCleanup(self.end_child, child)

    def kill_child(self):
        if self.children:
            self.end_child(self.random.choice(list(self.children)))

    def end_child(self, child: int):
        if self.children.pop(child, None) is not None:
            os.kill(child, signal.SIGKILL)

    def kill_daemon(self):
        self.assertIsNone(self.current_daemon.process.poll())
        self.assertEqual(self.current_daemon.error_text(), "")
        self.current_daemon.close()
        self.current_daemon = self.daemon()

    def suspend_daemon(self):
        """Processes work, start and end while the daemon is suspended."""
        os.kill(self.current_daemon.pid, signal.SIGSTOP)
        self.work()
        self.start_client()
        self.kill_one()
        os.kill(self.current_daemon.pid, signal.SIGCONT)

    def cut_connections(self):
        for request in (b"GET /v1/alloc", b"GET /v1/allocations?limit=10000 HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"GET /v1/stream HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00\xff" * 100, b""):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(self.current_daemon.api)
            connection.sendall(request)
            if request.startswith(b"GET /v1/allocations"):
                connection.recv(100)  # in the middle of the answer
            connection.close()

    def announce_nonsense(self):
        for words in (None, b"", b"\x01", b"nonsense" * 50):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
                connection.connect(self.current_daemon.directory.announce)
                if words is not None:
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        connection.send(words)


if __name__ == "__main__":
    main()
