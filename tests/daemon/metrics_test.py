#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/metrics: promtool accepts it, a real Prometheus server reads the truth, and rules and dashboard use existing metrics."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import urllib.parse
from unittest import mock

from harness.daemon import Daemon
from harness.http_client import http_get_text
from harness.programs import ROOT
from harness.test_case import TestCase, main
from harness.tracked_process import TrackedProcess
from harness.waiting import TIMEOUT, wait_until

PACKAGING = os.path.join(ROOT, "packaging")
RULES = os.path.join(PACKAGING, "prometheus", "ttmem.rules.yml")
TOKEN = "a-token-of-some-length"

HOLDER = """
held_in = open_set([device({asic:#x})])
allocate(held_in, DRAM, 1048640, {requested}, {used})
load_kernel(held_in, 7, KERNEL_FABRIC, 512)
"""
FAIL = "allocation_failed(held_in, DRAM, 4096, 4096, 64, 64)"

# The files of the driver for one wormhole chip, and the metrics that result.
ATTRIBUTES = {"tt_card_type": "n300", "tt_serial": "0100014511702001", "tt_asic_id": "A51C000000000001",
              "tt_aiclk": "1000", "tt_axiclk": "900", "tt_arcclk": "540", "tt_fw_bundle_ver": "18.10.0.0",
              "tt_heartbeat": "1000", "tt_therm_trip_count": "2"}
SENSORS = {"name": "wormhole", "temp1_input": "48312", "temp1_max": "75000", "in0_input": "720", "curr1_input": "23000",
           "power1_input": "17000000", "power1_max": "85000000"}
TELEMETRY = {"ttmem_device_temperature_celsius": 48.312, "ttmem_device_temperature_max_celsius": 75,
             "ttmem_device_voltage_volts": 0.72, "ttmem_device_current_amperes": 23, "ttmem_device_power_watts": 17,
             "ttmem_device_power_max_watts": 85, "ttmem_device_thermal_trips_total": 2}


def program(name: str) -> str:
    path = shutil.which(name)
    assert path, f"{name} is not installed (./dev installs all that the tests need)"
    return path


def names_of(text: str) -> set[str]:
    return set(re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE))


def series_of(text: str, name: str) -> list[tuple[dict, float]]:
    """Labels and value of each; quotes in labels stay escaped."""
    lines = re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", text, re.MULTILINE)
    return [(dict(re.findall(r'(\w+)="((?:\\.|[^"\\])*)"', labels)), float(value)) for labels, value in lines]


def dashboard() -> dict:
    with open(os.path.join(PACKAGING, "grafana", "ttmem.json"), encoding="utf-8") as file:
        return json.load(file)


def dashboard_queries() -> list[str]:
    return [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]


class MetricsCase(TestCase):
    def holder(self, asic: int, used: int = 12288, requested: int = 1000) -> TrackedProcess:
        return self.tracked_process(HOLDER.format(asic=asic, used=used, requested=requested))

    def metrics(self, daemon: Daemon, path: str = "/metrics") -> str:
        status, kind, text = http_get_text(daemon.api, path)
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"), text)
        return text

    def assert_passes_promtool(self, text: str):
        done = subprocess.run([program("promtool"), "check", "metrics"], input=text, capture_output=True, text=True,
                              timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def assert_value(self, text: str, name: str, value: float, **labels: str):
        found = [one for named, one in series_of(text, name) if labels.items() <= named.items()]
        self.assertEqual(found, [value], f"{name} {labels}")


class Exposition(MetricsCase):
    def test_an_empty_host_passes_promtool(self):
        daemon = self.daemon()
        for path in ("/metrics", "/metrics?processes=true"):
            text = self.metrics(daemon, path)
            self.assert_passes_promtool(text)
            self.assertEqual(series_of(text, "ttmem_memory_used_bytes"), [])
            self.assert_value(text, "ttmem_inexact_reasons", 0)

    def test_two_processes_on_two_devices_are_reported_and_pass_promtool(self):
        daemon = self.daemon()
        first, second = self.holder(0xd1), self.holder(0xd2, used=24576)
        daemon.wait_for(first.pid, second.pid)
        text = self.metrics(daemon)
        self.assert_passes_promtool(text)
        chip = {"asic_id": "0xd1", "arch": "wormhole_b0", "board": "n300"}
        self.assert_value(text, "ttmem_memory_used_bytes", 12288, kind="dram", **chip)
        self.assert_value(text, "ttmem_memory_requested_bytes", 1000, kind="dram", **chip)
        self.assert_value(text, "ttmem_memory_capacity_bytes", 12872318208, kind="dram", **chip)
        self.assert_value(text, "ttmem_memory_peak_bytes", 12288, kind="dram", **chip)
        self.assert_value(text, "ttmem_memory_allocations", 1, kind="dram", **chip)
        self.assert_value(text, "ttmem_kernel_bytes", 512, type="fabric", **chip)
        self.assert_value(text, "ttmem_memory_used_bytes", 24576, kind="dram", asic_id="0xd2")
        self.assert_value(text, "ttmem_processes", 2, state="live", source="segment")
        self.assertEqual({labels["kind"] for labels, _ in series_of(text, "ttmem_memory_capacity_bytes")}, {"dram", "l1"})
        view = daemon.view()
        largest = {device["asic_id"]: device["memory"]["dram"]["largest_free"] for device in view["devices"]}
        for labels, value in series_of(text, "ttmem_memory_largest_free_block_bytes"):
            if labels["kind"] == "dram":
                self.assertEqual(value, largest[labels["asic_id"]])
        self.assertNotIn(f'"{first.pid}"', text)

    def test_any_process_name_is_a_valid_label(self):
        daemon = self.daemon()
        client = self.holder(0xd1)
        client.run(r"""ctypes.CDLL(None).prctl(15, b'a"b\\c\td\xff', 0, 0, 0)""")  # PR_SET_NAME
        late = self.holder(0xd2)
        late.run("allocate(held_in, L1, 1000000, 64, 64)")
        daemon.stop()
        daemon = self.daemon()  # reads the present name
        daemon.wait_for(client.pid, late.pid)
        text = self.metrics(daemon, "/metrics?processes=true")
        self.assert_passes_promtool(text)
        self.assert_value(text, "ttmem_process_used_bytes", 12288, pid=str(client.pid), kind="dram")
        self.assert_value(text, "ttmem_process_requested_bytes", 64, pid=str(late.pid), kind="l1")
        comm = {labels["comm"] for labels, _ in series_of(text, "ttmem_process_used_bytes")
                if labels["pid"] == str(client.pid)}
        self.assertEqual(comm, {r'a\"b\\c?d?'})

    def test_over_tcp_series_of_processes_need_the_token(self):
        token_file = os.path.join(self.directory.path, "token")
        with open(token_file, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(TOKEN + "\n")
        daemon = self.daemon("--token-file", token_file, listen="127.0.0.1:0")
        port, client = daemon.port(), self.holder(0xd1)
        daemon.wait_for(client.pid)
        self.assertEqual(http_get_text(port, "/metrics")[0], 200)
        status, _, text = http_get_text(port, "/metrics?processes=true")
        self.assertEqual(status, 403)
        for way in ("--token-file", "Unix socket"):
            self.assertIn(way, json.loads(text)["error"])
        self.assertEqual(http_get_text(port, "/metrics?processes=true", Authorization="Bearer wrong")[0], 401)
        status, _, text = http_get_text(port, "/metrics?processes=true", Authorization=f"Bearer {TOKEN}")
        self.assertEqual(status, 200)
        self.assert_value(text, "ttmem_process_used_bytes", 12288, pid=str(client.pid), kind="dram")
        self.assertEqual(http_get_text(port, "/metrics?processes=perhaps")[0], 400)
        self.assertEqual(http_get_text(port, "/metrics?process=true")[0], 400)

    def test_failures_of_dead_processes_stay_counted(self):
        daemon = self.daemon()
        first, second = self.holder(0xd1), self.holder(0xd2)

        def failures() -> float:
            return next(value for labels, value in series_of(self.metrics(daemon), "ttmem_failures_total")
                        if labels["type"] == "out_of_memory")
        for client in (first, second, second):
            client.run(FAIL)
        wait_until(lambda: failures() == 3, "all are counted")
        second.kill()
        seen = []
        while second.pid in daemon.pids() or len(seen) < 20:
            seen.append(failures())
        self.assertEqual(set(seen), {3})
        first.run(FAIL)
        wait_until(lambda: failures() == 4, "the next one is counted")


class Telemetry(MetricsCase):
    def make_tree(self) -> str:
        root = tempfile.mkdtemp(prefix="ttmem-root-")
        self.addCleanup(shutil.rmtree, root)
        pci = os.path.join(root, "sys/devices/pci0000:00/0000:01:00.0")
        chip, sensors = os.path.join(pci, "tenstorrent/tenstorrent!0"), os.path.join(pci, "hwmon/hwmon0")
        for folder, values in ((pci, {"vendor": "0x1e52", "device": "0x401e", "numa_node": "0"}), (chip, ATTRIBUTES),
                               (sensors, SENSORS), (os.path.join(root, "proc"), {"stat": "btime 1700000000"}),
                               (os.path.join(root, "proc/driver/tenstorrent/0"), {"pids": ""}),
                               (os.path.join(root, "dev/tenstorrent"), {"0": ""})):
            os.makedirs(folder, exist_ok=True)
            for name, value in values.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(value + "\n")
        for link, target in ((os.path.join(chip, "device"), pci), (os.path.join(sensors, "device"), pci),
                             (os.path.join(root, "sys/class/tenstorrent/tenstorrent!0"), chip),
                             (os.path.join(root, "sys/class/hwmon/hwmon0"), sensors)):
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(os.path.relpath(target, os.path.dirname(link)), link)
        return root

    def test_driver_values_are_in_base_units_and_missing_ones_are_absent(self):
        host_root = mock.patch.dict(os.environ, TTMEM_HOST_ROOT=self.make_tree())
        host_root.start()
        self.addCleanup(host_root.stop)
        daemon = self.daemon()
        text = self.metrics(daemon)
        self.assert_passes_promtool(text)
        chip = {"device": "0", "asic_id": "0xa51c000000000001", "arch": "wormhole_b0", "board": "n300"}
        for name, value in TELEMETRY.items():
            self.assert_value(text, name, value, **chip)
        for clock, hertz in (("ai", 1e9), ("axi", 9e8), ("arc", 5.4e8)):
            self.assert_value(text, "ttmem_device_clock_hertz", hertz, clock=clock, **chip)
        self.assert_value(text, "ttmem_device_info", 1, bdf="0000:01:00.0", firmware="18.10.0.0", numa_node="0",
                          serial=ATTRIBUTES["tt_serial"], remote="false", **chip)
        self.assertEqual(series_of(text, "ttmem_device_fan_rpm"), [])
        # No process is there, so nothing is in use.
        self.assert_value(text, "ttmem_memory_used_bytes", 0, kind="dram", **chip)
        wait_until(lambda: series_of(self.metrics(daemon), "ttmem_device_alive"), "the heartbeat was read twice")
        self.assert_value(self.metrics(daemon), "ttmem_device_alive", 0, **chip)


class Prometheus:
    """A real server that scrapes one daemon every second."""

    def __init__(self, folder: str, daemon_port: int):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = os.path.join(folder, "prometheus")
        os.makedirs(self.folder)
        config = {"global": {"scrape_interval": "1s"}, "rule_files": [RULES],
                  "scrape_configs": [{"job_name": "ttmem", "static_configs": [{"targets": [f"127.0.0.1:{daemon_port}"]}]}]}
        with open(os.path.join(self.folder, "prometheus.yml"), "w", encoding="utf-8") as file:
            json.dump(config, file)  # which is YAML as well
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [program("prometheus"), f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_until(self.is_ready, "Prometheus is ready")

    def is_ready(self) -> bool:
        assert self.process.poll() is None, os.pread(self.log.fileno(), 65536, 0).decode()
        with contextlib.suppress(OSError, http.client.HTTPException):
            return http_get_text(self.port, "/-/ready")[0] == 200
        return False

    def ask(self, query: str) -> list[float]:
        status, _, text = http_get_text(self.port, "/api/v1/query?" + urllib.parse.urlencode({"query": query}))
        assert status == 200, text
        return [float(one["value"][1]) for one in json.loads(text)["data"]["result"]]

    def close(self):
        self.process.terminate()
        self.process.wait(TIMEOUT)
        self.log.close()


class Server(MetricsCase):
    def test_a_prometheus_server_reads_the_truth_before_and_after_a_death(self):
        daemon = self.daemon(listen="127.0.0.1:0")
        first, second = self.holder(0xe1), self.holder(0xe2, used=24576)
        daemon.wait_for(first.pid, second.pid)
        server = Prometheus(self.directory.path, daemon.port())
        self.addCleanup(server.close)

        def becomes(query: str, *values: float):
            with self.subTest(query=query):
                wait_until(lambda: server.ask(query) == list(values), f"{query} is {values}")
        becomes('up{job="ttmem"}', 1)
        becomes('sum(ttmem_memory_used_bytes{kind="dram"})', 12288 + 24576)
        becomes('ttmem_memory_used_bytes{kind="dram", asic_id="0xe2"}', 24576)
        becomes('sum(ttmem_kernel_bytes{type="fabric"})', 1024)
        becomes('count(ttmem_memory_used_bytes{kind="dram"} / ttmem_memory_capacity_bytes)', 2)
        becomes("ttmem_process_deaths_holding_memory_total", 0)
        second.kill()
        becomes("ttmem_process_deaths_holding_memory_total", 1)
        becomes("ttmem_process_deaths_total", 1)
        becomes('sum(ttmem_memory_used_bytes{kind="dram"})', 12288)
        becomes('ttmem_processes{state="live", source="segment"}', 1)
        becomes('max_over_time(ttmem_memory_used_bytes{kind="dram", asic_id="0xe2"}[5m])', 24576)
        # No process reports that device any more: its series end. A 0 would be wrong.
        becomes('ttmem_memory_used_bytes{asic_id="0xe2"}')
        first.finish()

    def test_a_prometheus_server_answers_every_query_of_the_dashboard(self):
        daemon = self.daemon(listen="127.0.0.1:0")
        client = self.holder(0xe1)
        client.run("allocate_cb(held_in, 7, 105664, 4096, [1])")
        daemon.wait_for(client.pid)
        server = Prometheus(self.directory.path, daemon.port())
        self.addCleanup(server.close)
        wait_until(lambda: server.ask("count_over_time(ttmem_build_info[5m]) >= 2"), "there are enough samples for rates")
        for expression in dashboard_queries():
            # With "All" selected for each variable.
            answer = server.ask(re.sub(r"\$\w+", ".*", expression))
            # This host has no driver, and figures are exact; only those queries have no result.
            self.assertEqual(answer == [], "ttmem_device_" in expression or "ttmem_inexact{" in expression, expression)


class RulesAndDashboard(MetricsCase):
    """Alert rules, dashboard and document of the metrics."""

    def promtool(self, *arguments: str):
        done = subprocess.run([program("promtool"), *arguments], capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_alert_rules_are_valid_and_pass_their_tests(self):
        self.promtool("check", "rules", RULES)
        self.promtool("test", "rules", RULES.replace(".rules.", ".rules.test."))
        self.promtool("check", "config", os.path.join(PACKAGING, "prometheus", "scrape.yml"))

    def test_every_alert_has_a_test_in_which_it_fires(self):
        with open(RULES, encoding="utf-8") as file:
            alerts = set(re.findall(r"- alert: (\w+)", file.read()))
        with open(RULES.replace(".rules.", ".rules.test."), encoding="utf-8") as file:
            fired = set(re.findall(r"alertname: (\w+)\n\s+exp_alerts:\n\s+- ", file.read()))
        self.assertEqual(fired, alerts)

    def metric_names(self, target: str) -> set[str]:
        """Of a daemon with everything that has metrics, so with a flight recorder too."""
        folder = tempfile.TemporaryDirectory(prefix="ttmem-flight-")
        self.addCleanup(folder.cleanup)
        return names_of(self.metrics(self.daemon("--record", folder.name), target))

    def test_rules_and_dashboard_use_existing_metrics_only(self):
        there = self.metric_names("/metrics")
        with open(RULES, encoding="utf-8") as file:
            rules = re.findall(r"^\s+expr: (.*)$", file.read(), re.MULTILINE)
        variables = [one["definition"] for one in dashboard()["templating"]["list"] if "definition" in one]
        self.assertEqual(len(variables), 2)
        for what, expressions in (("rules", rules), ("dashboard", dashboard_queries() + variables)):
            names = {name for one in expressions for name in re.findall(r"\bttmem_\w+", one)}
            self.assertGreater(len(names), 5, what)
            self.assertEqual(names - there, set(), what)

    def test_the_document_lists_every_metric_and_no_other(self):
        there = self.metric_names("/metrics?processes=true")
        with open(os.path.join(ROOT, "docs", "METRICS.md"), encoding="utf-8") as file:
            rows = set(re.findall(r"^\| `(ttmem_\w+)`", file.read(), re.MULTILINE))
        self.assertEqual(rows, there)


if __name__ == "__main__":
    main()
