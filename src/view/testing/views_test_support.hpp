// SPDX-License-Identifier: Apache-2.0
#pragma once

// Views of typical hosts for golden tests, with round figures.

#include <string>
#include <vector>

#include "view/model/view.hpp"

namespace ttmem::view {

using census::Kind;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kNow = 1'800'000'000 * kSecond;

inline Origin origin() { return {"quietbox", kNow, OriginSource::direct}; }

// An n300 chip in use.
inline census::DeviceFigures n300(uint32_t id) {
    census::DeviceFigures device;
    device.id = id;
    device.arch = "wormhole_b0";
    device.board = "n300";
    device.asic_id = 0x2620a1 + id;
    device.memory[index_of(Kind::dram)] = {.used = 5'842'132'992,
                                           .requested = 5'842'001'920,
                                           .capacity = 12'872'318'208,
                                           .peak = 6'000'000'000,
                                           .count = 412,
                                           .largest_free = 412'876'800};
    device.memory[index_of(Kind::l1)] = {.used = 26'214'400,
                                         .requested = 25'165'824,
                                         .capacity = 78'034'432,
                                         .peak = 31'457'280,
                                         .count = 16,
                                         .largest_free = 1'000'000};
    device.memory[index_of(Kind::cb)] = {.used = 15'728'640,
                                         .requested = 280'000,
                                         .capacity = {},
                                         .peak = 20'971'520,
                                         .count = 24,
                                         .largest_free = {}};
    device.memory[index_of(Kind::kernel)] = {.used = 233'472,
                                             .requested = 233'472,
                                             .capacity = {},
                                             .peak = 233'472,
                                             .count = 5,
                                             .largest_free = {}};
    device.memory[index_of(Kind::kernel)].peak_exact = false;
    device.kernel_by_type = {24'576, 114'688, 94'208};
    device.l1_worst_core = {.core = census::Core{3, 4},
                            .cb_top = 385'664,
                            .lowest_buffer = 1'031'024,
                            .headroom = 645'360,
                            .used = 748'114,
                            .capacity = 1'393'472};
    return device;
}

inline census::DeviceHoldings held_on(const census::DeviceFigures& device) {
    census::DeviceHoldings held;
    held.id = device.id;
    held.logical_id = device.id;
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        held.memory[kind] = {device.memory[kind].used, device.memory[kind].requested,
                             device.memory[kind].count};
    }
    return held;
}

inline census::ProcessFigures process(uint32_t pid, std::string comm,
                                      std::vector<census::DeviceHoldings> devices) {
    census::ProcessFigures figures;
    figures.pid = figures.inner_pid = pid;
    figures.start_time_ns = kNow - 200 * kSecond;
    figures.comm = std::move(comm);
    figures.uid = 1000;
    figures.user = "ada";
    figures.state = census::ProcessState::live;
    figures.source = census::ProcessSource::segment;
    figures.devices = std::move(devices);
    return figures;
}

inline View empty_host() { return {origin(), {}}; }

inline View one_device() {
    const census::DeviceFigures device = n300(0);
    return {origin(), {{device}, {process(4711, "python3", {held_on(device)})}, {}}};
}

// A mesh of 8 chips with equal figures, and a second process on one of them.
inline View t3000() {
    View view{origin(), {}};
    std::vector<census::DeviceHoldings> mesh;
    for (uint32_t id = 0; id < 8; ++id) {
        view.figures.devices.push_back(n300(id));
        mesh.push_back(held_on(view.figures.devices.back()));
    }
    census::DeviceHoldings extra;
    extra.id = 7;
    extra.memory[index_of(Kind::trace)] = {1'048'576, 1'000'000, 1};
    census::MemoryFigures& trace = view.figures.devices[7].memory[index_of(Kind::trace)];
    trace = {.used = 1'048'576,
             .requested = 1'000'000,
             .capacity = 0,
             .peak = 1'048'576,
             .count = 1,
             .largest_free = {}};
    census::ProcessFigures second = process(12345, "tt-inference-server", {extra});
    second.user = "grace";
    second.start_time_ns = kNow - 90'000 * kSecond;
    view.figures.processes = {process(4711, "python3", mesh), second};
    return view;
}

// 32 chips and 64 processes: one per chip, and 32 that share the whole mesh.
inline View galaxy() {
    View view{origin(), {}};
    std::vector<census::DeviceHoldings> mesh;
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
    view.figures.inexact = {{4711, census::Reason::reserved_unknown, 3},
                            {4711, census::Reason::ledger_full, 12},
                            {4800, census::Reason::segment_skipped, 1, "lacks a seal"}};
    view.figures.devices[0].memory[index_of(Kind::dram)].largest_free.reset();
    return view;
}

// A device known by its number alone, as clients of the earlier allocation server report it.
inline View unknown_capacity() {
    census::DeviceFigures device;
    device.id = 3;
    device.memory[index_of(Kind::dram)] = {.used = 14'753'792,
                                           .requested = 14'753'792,
                                           .capacity = {},
                                           .peak = 14'753'792,
                                           .count = 10,
                                           .largest_free = {}};
    device.memory[index_of(Kind::cb)] = {.used = 262'144,
                                         .requested = 262'144,
                                         .capacity = {},
                                         .peak = 262'144,
                                         .count = 1,
                                         .largest_free = {}};
    device.l1_worst_core.cb_top = 367'808;
    return {origin(), {{device}, {process(4711, "python3", {held_on(device)})}, {}}};
}

// No DRAM is free, and circular buffers clash with L1 buffers.
inline View full() {
    View view = one_device();
    census::DeviceFigures& device = view.figures.devices[0];
    device.memory[index_of(Kind::dram)] = {.used = 12'872'318'208,
                                           .requested = 12'872'318'208,
                                           .capacity = 12'872'318'208,
                                           .peak = 12'872'318'208,
                                           .count = 1,
                                           .largest_free = 0};
    device.l1_worst_core = {.core = census::Core{0, 0},
                            .cb_top = 1'031'088,
                            .lowest_buffer = 1'031'024,
                            .headroom = -64,
                            .used = 1'393'472,
                            .capacity = 1'393'472};
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

// A host with a driver: one chip of a tracked process, one of the stock runtime in a container, one of an untracked process, and a
// remote one.
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
    stock.state = census::ProcessState::live;
    stock.source = census::ProcessSource::stock;
    census::DeviceHoldings held;
    held.id = 1;
    held.memory.fill({0, 0, 0, false, false});
    held.memory[index_of(Kind::dram)] = {65'536, 65'536, 0, true, false};
    held.memory[index_of(Kind::l1)] = {32'768, 32'768, 0, true, false};
    stock.devices = {held};
    census::DeviceFigures& of_stock = view.figures.devices[1];
    of_stock.memory[index_of(Kind::dram)] = {.used = 65'536,
                                             .requested = 65'536,
                                             .capacity = 12'872'318'208,
                                             .peak = 65'536,
                                             .count = 0,
                                             .largest_free = {}};
    of_stock.memory[index_of(Kind::l1)] = {.used = 32'768,
                                           .requested = 32'768,
                                           .capacity = 78'034'432,
                                           .peak = 32'768,
                                           .count = 0,
                                           .largest_free = {}};
    for (census::MemoryFigures& one : of_stock.memory) {
        one.is_known = one.used != 0;
        one.peak_exact = false;
        one.is_count_known = false;
    }
    census::ProcessFigures silent = stock;
    silent.pid = silent.inner_pid = 9001;
    silent.comm = "vllm";
    silent.container.reset();
    silent.state = census::ProcessState::untracked;
    silent.source = census::ProcessSource::driver;
    held.id = 2;
    held.memory.fill({0, 0, 0, false, false});
    silent.devices = {held};
    for (census::MemoryFigures& one : view.figures.devices[2].memory) {
        one.is_known = one.is_count_known = false;
    }
    view.figures.processes.push_back(stock);
    view.figures.processes.push_back(silent);
    view.figures.inexact = {{7150, census::Reason::reserved_unknown, 1},
                            {9001, census::Reason::untracked, 1}};
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
    AllocationView view{origin(), {{4711, census::Reason::name_cut, 2}}, 1, 2, {}};
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
