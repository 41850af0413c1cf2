# SPDX-License-Identifier: Apache-2.0
"""The root directory of a simulated host: the files that the kernel driver shows for its boards in sys/, proc/ and dev/."""

import os
import shutil
import tempfile

WORMHOLE, BLACKHOLE = "wormhole_b0", "blackhole"
WORMHOLE_DRAM = 12 * (1073741824 - 1048640)
BLACKHOLE_DRAM = 8 * (4278190080 - 1048704)

# Card, architecture, devices on the bus, and the DRAM and L1 that follow from the card's name. A p150 may have cores fused off.
BOARDS = {
    "n150": ("n150", WORMHOLE, 1, WORMHOLE_DRAM, 64 * 1393472),
    "n300": ("n300", WORMHOLE, 1, WORMHOLE_DRAM, 56 * 1393472),
    "t3000": ("n300", WORMHOLE, 4, WORMHOLE_DRAM, 56 * 1393472),
    "p150": ("p150a", BLACKHOLE, 1, BLACKHOLE_DRAM, None),
    "galaxy": ("galaxy-wormhole", WORMHOLE, 32, WORMHOLE_DRAM, 72 * 1393472),
    "unknown": ("x999", WORMHOLE, 1, None, None),
}
GARBAGE = b"\xff\x00garbage \x1b[31m\xc3"
TELEMETRY = ("temperature_c", "temperature_max_c", "power_w", "power_max_w", "current_a", "current_max_a", "voltage_v",
             "voltage_max_v", "aiclk_mhz", "axiclk_mhz", "arcclk_mhz", "fan_rpm", "thermal_trips", "alive")


class DriverTree:
    def __init__(self, board: str):
        self.root = tempfile.mkdtemp(prefix="ttmem-host-")
        os.chmod(self.root, 0o755)
        self.card, self.arch, self.count, self.dram, self.l1 = BOARDS[board]
        self.processes: set[int] = set()
        for folder in ("sys/class/tenstorrent", "sys/class/hwmon", "sys/devices/pci0000:00", "proc/driver/tenstorrent",
                       "dev/tenstorrent", "dev/shm"):
            os.makedirs(self.path(folder))
        os.symlink("/proc/stat", self.path("proc/stat"))
        for device in range(self.count):
            self.add_device(device)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def path(self, *parts: str) -> str:
        return os.path.join(self.root, *parts)

    def write(self, path: str, value: str | int | bytes):
        """Atomically, as the kernel does: no reader sees half of a value."""
        text = value if isinstance(value, bytes) else f"{value}\n".encode()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + "~", "wb") as file:
            file.write(text)
        os.replace(path + "~", path)

    # The facts of device N. Values that identify a device are unique on a host.

    @staticmethod
    def asic_id(device: int) -> int:
        return 0xa51c000000000001 + device

    @staticmethod
    def bdf(device: int) -> str:
        return f"0000:{device + 1:02x}:00.0"

    def pci(self, device: int, *below: str) -> str:
        return self.path("sys/devices/pci0000:00", self.bdf(device), *below)

    def attribute(self, device: int, name: str) -> str:
        return self.pci(device, "tenstorrent", f"tenstorrent!{device}", name)

    def sensor(self, device: int, name: str) -> str:
        return self.pci(device, "hwmon", f"hwmon{device}", name)

    def node(self, device: int) -> str:
        return self.path("dev/tenstorrent", str(device))

    def link(self, device: int) -> str:
        """The driver has a device if and only if this link is there."""
        return self.path("sys/class/tenstorrent", f"tenstorrent!{device}")

    def files(self, device: int) -> dict:
        """The path of each value, and the value."""
        is_blackhole = self.arch == BLACKHOLE
        values = {"vendor": "0x1e52", "device": "0xb140" if is_blackhole else "0x401e", "numa_node": device // 2,
                  "current_link_speed": "16.0 GT/s PCIe", "current_link_width": 8, "max_link_width": 16,
                  "max_link_speed": "32.0 GT/s PCIe" if is_blackhole else "16.0 GT/s PCIe"}
        attributes = {"tt_card_type": self.card, "tt_serial": f"{0x100014511702001 + device:016X}",
                      "tt_asic_id": f"{self.asic_id(device):016X}", "tt_fw_bundle_ver": "18.10.0.0",
                      "tt_heartbeat": 1000, "tt_aiclk": 1000 + device, "tt_axiclk": 900, "tt_arcclk": 540}
        sensors = {"name": "blackhole" if is_blackhole else "wormhole", "temp1_input": 48312 + 1000 * device,
                   "temp1_max": 90000, "in0_input": 720 + device, "in0_max": 950, "curr1_input": 23000 + 1000 * device,
                   "curr1_max": 160000, "power1_input": 17000000 + 1000000 * device, "power1_max": 85000000}
        if is_blackhole:
            attributes["tt_therm_trip_count"] = 3
            sensors["fan1_input"] = 1830
        return {self.pci(device, name): value for name, value in values.items()} | \
            {self.attribute(device, name): value for name, value in attributes.items()} | \
            {self.sensor(device, name): value for name, value in sensors.items()}

    def expected_view(self, device: int) -> dict:
        """What a view must show of it. Memory is not included, nor the heartbeat, which takes two scans."""
        is_blackhole = self.arch == BLACKHOLE
        values = ((48312 + 1000 * device) / 1000, 90.0, 17.0 + device, 85.0, 23.0 + device, 160.0, (720 + device) / 1000, 0.95,
                  1000 + device, 900, 540, 1830 if is_blackhole else None, 3 if is_blackhole else None)
        return {"id": device, "arch": self.arch, "board": self.card, "asic_id": hex(self.asic_id(device)),
                "bdf": self.bdf(device), "remote": False,
                "driver": {"bdf": self.bdf(device), "numa_node": device // 2,
                           "serial": f"{0x100014511702001 + device:016X}", "firmware": "18.10.0.0",
                           "pcie": {"speed": "16.0 GT/s PCIe",
                                    "max_speed": "32.0 GT/s PCIe" if is_blackhole else "16.0 GT/s PCIe",
                                    "width": 8, "max_width": 16}},
                "telemetry": dict(zip(TELEMETRY, values))}

    # Changes of the host.

    def add_device(self, device: int, change=lambda files: files):
        """With the files that `change` returns when it is given all files of a device."""
        for path, value in change(self.files(device)).items():
            self.write(path, value)
        for folder in (self.attribute(device, ""), self.sensor(device, "")):
            os.makedirs(folder, exist_ok=True)
            os.symlink(f"../../../{self.bdf(device)}", os.path.join(folder, "device"))
        place = f"../../devices/pci0000:00/{self.bdf(device)}"
        os.symlink(f"{place}/hwmon/hwmon{device}", self.path("sys/class/hwmon", f"hwmon{device}"))
        self.write(self.pids_file(device), "")
        self.write(self.node(device), "")
        os.symlink(f"{place}/tenstorrent/tenstorrent!{device}", self.link(device))

    def remove_device(self, device: int):
        os.unlink(self.link(device))
        os.unlink(self.path("sys/class/hwmon", f"hwmon{device}"))
        shutil.rmtree(self.pci(device))
        shutil.rmtree(os.path.dirname(self.pids_file(device)))
        os.unlink(self.node(device))

    def pids_file(self, device: int) -> str:
        return self.path("proc/driver/tenstorrent", str(device), "pids")

    def add_processes(self, *pids: int):
        """Adds these processes to the /proc of the host, as they really are."""
        for pid in set(pids) - self.processes:
            os.symlink(f"/proc/{pid}", self.path("proc", str(pid)))
            self.processes.add(pid)

    def set_holders(self, device: int, *pids: int):
        """Lets the driver report that these processes have it open: one line per descriptor."""
        self.add_processes(*pids)
        self.write(self.pids_file(device), "".join(f"{pid}\n" for pid in pids).encode())
