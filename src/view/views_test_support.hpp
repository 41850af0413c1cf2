// SPDX-License-Identifier: Apache-2.0
#pragma once

// Views for golden tests: hosts as they are met, with round figures.

#include <string>
#include <vector>

#include "view/view.hpp"

namespace ttmem::view {

using census::Kind;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kNow = 1'800'000'000 * kSecond;

inline Origin origin() { return {"quietbox", kNow, "direct"}; }

inline census::MemoryFigures memory(uint64_t used, uint64_t requested, std::optional<uint64_t> capacity,
                                    uint64_t peak, uint64_t count, std::optional<uint64_t> largest_free) {
    census::MemoryFigures figures;
    figures.used = used;
    figures.requested = requested;
    figures.capacity = capacity;
    figures.peak = peak;
    figures.count = count;
    figures.largest_free = largest_free;
    return figures;
}

// An n300 chip in the middle of its work.
inline census::DeviceFigures n300(uint32_t id) {
    census::DeviceFigures device;
    device.id = id;
    device.arch = "wormhole_b0";
    device.board = "n300";
    device.asic_id = 0x2620a1 + id;
    device.memory[index_of(Kind::dram)] =
        memory(5'842'132'992, 5'842'001'920, 12'872'318'208, 6'000'000'000, 412, 412'876'800);
    device.memory[index_of(Kind::l1)] = memory(26'214'400, 25'165'824, 78'034'432, 31'457'280, 16, 1'000'000);
    device.memory[index_of(Kind::cb)] = memory(15'728'640, 280'000, {}, 20'971'520, 24, {});
    device.memory[index_of(Kind::kernel)] = memory(233'472, 233'472, {}, 233'472, 5, {});
    device.memory[index_of(Kind::kernel)].peak_exact = false;
    device.kernel_by_type = {24'576, 114'688, 94'208};
    device.l1_worst_core = {census::Core{3, 4}, 385'664, 1'031'024, 645'360, 748'114, 1'393'472};
    return device;
}

inline census::HeldOnDevice held_on(const census::DeviceFigures& device) {
    census::HeldOnDevice held;
    held.id = device.id;
    held.logical_id = device.id;
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        held.memory[kind] = {device.memory[kind].used, device.memory[kind].requested,
                             device.memory[kind].count};
    }
    return held;
}

inline census::ProcessFigures process(uint32_t pid, std::string comm,
                                      std::vector<census::HeldOnDevice> devices) {
    census::ProcessFigures figures;
    figures.pid = figures.inner_pid = pid;
    figures.start_time_ns = kNow - 200 * kSecond;
    figures.comm = std::move(comm);
    figures.uid = 1000;
    figures.user = "ada";
    figures.state = "live";
    figures.source = "segment";
    figures.devices = std::move(devices);
    return figures;
}

inline View empty_host() { return {origin(), {}}; }

inline View one_device() {
    const census::DeviceFigures device = n300(0);
    return {origin(), {{device}, {process(4711, "python3", {held_on(device)})}, {}}};
}

// A mesh of 8 in lockstep, and a second process with a single chip of it.
inline View t3000() {
    View view{origin(), {}};
    std::vector<census::HeldOnDevice> mesh;
    for (uint32_t id = 0; id < 8; ++id) {
        view.figures.devices.push_back(n300(id));
        mesh.push_back(held_on(view.figures.devices.back()));
    }
    census::HeldOnDevice extra;
    extra.id = 7;
    extra.memory[index_of(Kind::trace)] = {1'048'576, 1'000'000, 1};
    census::MemoryFigures& trace = view.figures.devices[7].memory[index_of(Kind::trace)];
    trace = memory(1'048'576, 1'000'000, 0, 1'048'576, 1, std::nullopt);
    census::ProcessFigures second = process(12345, "tt-inference-server", {extra});
    second.user = "grace";
    second.start_time_ns = kNow - 90'000 * kSecond;
    view.figures.processes = {process(4711, "python3", mesh), second};
    return view;
}

// 32 chips and 64 processes: one on each chip, and 32 that share the whole mesh.
inline View galaxy() {
    View view{origin(), {}};
    std::vector<census::HeldOnDevice> mesh;
    for (uint32_t id = 0; id < 32; ++id) {
        census::DeviceFigures device = n300(id);
        device.board = "galaxy-wormhole";
        view.figures.processes.push_back(process(4000 + id, "python3", {held_on(device)}));
        view.figures.devices.push_back(device);
        mesh.push_back(held_on(device));
    }
    for (uint32_t i = 0; i < 32; ++i) {
        view.figures.processes.push_back(process(70'000 + i, "vllm-worker", mesh));
    }
    return view;
}

inline View inexact() {
    View view = one_device();
    view.figures.inexact = {{4711, "reserved size unknown: used counts the requested bytes", 3, false},
                            {4711, "ledger full: allocations not recorded", 12, false},
                            {4800, "segment lacks a seal, skipped", 1, true}};
    view.figures.devices[0].memory[index_of(Kind::dram)].largest_free.reset();
    return view;
}

// A device known by its number alone, as the calls of the seeds report it.
inline View unknown_capacity() {
    census::DeviceFigures device;
    device.id = 3;
    device.memory[index_of(Kind::dram)] = memory(14'753'792, 14'753'792, {}, 14'753'792, 10, {});
    device.memory[index_of(Kind::cb)] = memory(262'144, 262'144, {}, 262'144, 1, {});
    device.l1_worst_core.cb_top = 367'808;
    return {origin(), {{device}, {process(4711, "python3", {held_on(device)})}, {}}};
}

// Full to the brim, with a clash.
inline View full() {
    View view = one_device();
    census::DeviceFigures& device = view.figures.devices[0];
    device.memory[index_of(Kind::dram)] =
        memory(12'872'318'208, 12'872'318'208, 12'872'318'208, 12'872'318'208, 1, 0);
    device.l1_worst_core = {census::Core{0, 0}, 1'031'088, 1'031'024, -64, 1'393'472, 1'393'472};
    return view;
}

inline View long_names() {
    View view = one_device();
    view.origin.host = "a-host-with-a-name-that-goes-on-and-on-and-on.example.com";
    view.figures.devices[0].board = "galaxy-blackhole";
    view.figures.processes[0].user = "a.user.with.a.very.long.name.indeed";
    view.figures.processes[0].comm = "漢字漢字漢字漢字";
    return view;
}

// A host with a driver: one chip that a tracked process uses, one of the stock runtime in a container, one that somebody holds
// without a word, and a remote one.
inline View with_driver() {
    View view = one_device();
    for (const uint32_t id : {1u, 2u, 3u}) {
        census::DeviceFigures device;
        device.id = id;
        device.arch = "wormhole_b0";
        device.board = "n300";
        device.asic_id = 0x2620a1 + id;
        view.figures.devices.push_back(device);
    }
    for (uint32_t id = 0; id < 3; ++id) {
        census::DeviceFigures& device = view.figures.devices[id];
        device.driver = census::DriverFacts{"0000:0" + std::to_string(id + 1) + ":00.0",
                                            0,
                                            "100a",
                                            "18.6.0.0",
                                            {"16.0 GT/s PCIe", "16.0 GT/s PCIe", 16, 16}};
        device.telemetry.temperature_c = 45.2 + 20 * id;
        device.telemetry.temperature_max_c = 75;
        device.telemetry.power_w = 31.4;
        device.telemetry.power_max_w = 85;
        device.telemetry.aiclk_mhz = 1000;
        device.telemetry.is_alive = id != 2;
        device.is_remote = false;
    }
    view.figures.devices[2].telemetry.power_w.reset();
    view.figures.devices[3].is_remote = true;

    census::ProcessFigures stock;
    stock.pid = 7150;
    stock.inner_pid = 17;
    stock.start_time_ns = kNow - 60 * kSecond;
    stock.comm = "python3";
    stock.user = "alice";
    stock.container = census::Container{"docker", "3f2a1b4c5d6e7f80", std::nullopt};
    stock.state = "live";
    stock.source = "stock";
    census::HeldOnDevice held;
    held.id = 1;
    held.memory.fill({0, 0, 0, false, false});
    held.memory[index_of(Kind::dram)] = {65'536, 65'536, 0, true, false};
    held.memory[index_of(Kind::l1)] = {32'768, 32'768, 0, true, false};
    stock.devices = {held};
    census::DeviceFigures& of_stock = view.figures.devices[1];
    of_stock.memory[index_of(Kind::dram)] = memory(65'536, 65'536, 12'872'318'208, 65'536, 0, {});
    of_stock.memory[index_of(Kind::l1)] = memory(32'768, 32'768, 78'034'432, 32'768, 0, {});
    for (census::MemoryFigures& one : of_stock.memory) {
        one.is_known = one.used != 0;
        one.peak_exact = false;
        one.is_count_known = false;
    }
    census::ProcessFigures silent = stock;
    silent.pid = silent.inner_pid = 9001;
    silent.comm = "vllm";
    silent.container.reset();
    silent.state = "untracked";
    silent.source = "driver";
    held.id = 2;
    held.memory.fill({0, 0, 0, false, false});
    silent.devices = {held};
    for (census::MemoryFigures& one : view.figures.devices[2].memory) {
        one.is_known = one.is_count_known = false;
    }
    view.figures.processes.push_back(stock);
    view.figures.processes.push_back(silent);
    view.figures.inexact = {{7150, "reserved size unknown: used counts the requested bytes", 1, false},
                            {9001, "untracked: it has devices open and reports nothing", 1, false}};
    return view;
}

inline View nothing_allocated() {
    census::DeviceFigures device;
    device.id = 0;
    device.board = "n150";
    device.memory[index_of(Kind::dram)].capacity = 12'872'318'208;
    device.l1_worst_core.headroom = 1'393'472;
    device.l1_worst_core.used = 0;
    device.l1_worst_core.capacity = 1'393'472;
    return {origin(),
            {{device}, {process(4711, "python3", {}), process(4712, "pytest", {held_on(device)})}, {}}};
}

inline census::LiveAllocation live(Kind kind, uint64_t used, uint64_t requested, uint64_t address,
                                   std::string name) {
    census::LiveAllocation allocation;
    allocation.pid = 4711;
    allocation.devices = {0, 1, 2, 3, 4, 5, 6, 7};
    allocation.set = "mesh 2x4";
    allocation.kind = kind;
    allocation.used = used;
    allocation.requested = requested;
    allocation.address = address;
    allocation.name = std::move(name);
    allocation.owner = 77;
    allocation.thread = 4712;
    allocation.age_ns = 200 * kSecond;
    return allocation;
}

inline AllocationView several_allocations() {
    AllocationView view{origin(), {}, 2, 123, {}};
    view.allocations.push_back(live(Kind::dram, 67'108'864, 67'000'000, 1'048'640, "decoder.0/kv_cache"));
    view.allocations.push_back(live(Kind::dram, 4'202'496, 4'194'304, 6'641'728, "decoder.0/ttnn::matmul"));
    view.allocations.push_back(live(Kind::cb, 3'670'016, 65'536, 105'664, ""));
    census::LiveAllocation kernel = live(Kind::kernel, 57'344, 57'344, 0, "");
    kernel.address.reset();
    kernel.kernel_type = "fabric";
    view.allocations.push_back(kernel);
    kernel.kernel_type = "application";
    kernel.name = "ttnn::matmul";
    view.allocations.push_back(kernel);
    census::LiveAllocation by_address = live(Kind::l1, 8'192, 8'192, 1'464'320, "");
    by_address.pid = 12345;
    by_address.devices = {3};
    by_address.set = "by address";
    by_address.reserved_known = false;
    view.allocations.push_back(by_address);
    census::LiveAllocation planned = live(Kind::dram, 0, 4'194'304, 0, "capture/ttnn::add");
    planned.planned = true;
    view.allocations.push_back(planned);
    census::LiveAllocation globally = live(Kind::cb, 0, 8'192, 1'458'176, "ttnn::halo");
    globally.view = true;
    globally.devices = {0, 2, 4, 6};
    view.allocations.push_back(globally);
    view.left_out = 115;
    return view;
}

inline AllocationView long_allocation_names() {
    AllocationView view{origin(), {{4711, "name longer than its limit: cut", 2, false}}, 1, 2, {}};
    std::string path = "transformer";
    for (int i = 0; i < 12; ++i) {
        path += "/decoder_layer_with_a_long_name." + std::to_string(i);
    }
    view.allocations.push_back(
        live(Kind::l1_small, UINT64_MAX, UINT64_MAX, UINT64_MAX, path + "/ttnn::matmul"));
    view.allocations.push_back(
        live(Kind::system_memory, 1, 1, 0, "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"));
    view.allocations[0].pid = 4'194'304;
    view.allocations[1].devices = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20};
    return view;
}

}  // namespace ttmem::view
