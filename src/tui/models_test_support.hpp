// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a dashboard may know, for golden tests: hosts as they are met, with round figures.

#include <cmath>

#include "tui/model.hpp"
#include "view/testing/queries_test_support.hpp"

namespace ttmem::tui {

using view::kNow;
using view::kSecond;

// A T3000 with a driver: telemetry on the four chips of the bus, two processes.
inline view::View t3000_with_driver() {
    view::View view = view::t3000();
    view.origin.source = view::OriginSource::daemon;
    for (uint32_t id = 0; id < 8; ++id) {
        census::DeviceFigures& device = view.figures.devices[id];
        device.memory[index_of(census::Kind::dram)].used = 5'842'132'992 + uint64_t{1'000'000'000} * id;
        device.is_remote = id >= 4;
        if (id >= 4) {
            continue;
        }
        device.driver = census::DriverFacts{"0000:0" + std::to_string(id + 1) + ":00.0",
                                            0,
                                            "100a",
                                            "18.6.0.0",
                                            {"16.0 GT/s PCIe", "16.0 GT/s PCIe", 16, 16}};
        device.telemetry.temperature_c = 45 + 10 * id;
        device.telemetry.temperature_max_c = 75;
        device.telemetry.power_w = 31 + 2 * id;
        device.telemetry.power_max_w = 85;
        device.telemetry.current_a = 38;
        device.telemetry.current_max_a = 160;
        device.telemetry.voltage_v = 0.82;
        device.telemetry.voltage_max_v = 0.95;
        device.telemetry.aiclk_mhz = 1000;
        device.telemetry.axiclk_mhz = 900;
        device.telemetry.arcclk_mhz = 540;
        device.telemetry.thermal_trips = 0;
        device.telemetry.is_alive = id != 3;
    }
    return view;
}

// 32 devices, 64 processes.
inline view::View galaxy() {
    view::View view{{"galaxy-1", kNow, view::OriginSource::daemon}, {}};
    for (uint32_t id = 0; id < 32; ++id) {
        census::DeviceFigures device = view::n300(id);
        device.board = "galaxy";
        device.memory[index_of(census::Kind::dram)].used = uint64_t{402'259'944} * (id + 1);
        device.l1_worst_core.used = 43'000 * (id + 1);
        view.figures.devices.push_back(device);
    }
    for (uint32_t i = 0; i < 64; ++i) {
        census::DeviceHoldings held = view::held_on(view.figures.devices[i % 32]);
        held.memory[index_of(census::Kind::dram)].used /= i + 2;
        view.figures.processes.push_back(view::process(4000 + i, "worker-" + std::to_string(i), {held}));
        view.figures.processes.back().events_per_second = 100 * i;
        view.figures.processes.back().followed = 1000;
        view.figures.processes.back().lost = 0;
    }
    return view;
}

// Ten minutes of a view that was the same all the time but for its DRAM and its temperatures, which rose and fell.
inline Model watched(view::View view, uint64_t seconds = 120) {
    Model model;
    const view::View last = view;
    for (uint64_t i = seconds; i > 0; --i) {
        const uint64_t time = kNow - i * kSecond;
        const double wave = 0.5 + 0.5 * std::sin(static_cast<double>(i) / 12);
        for (census::DeviceFigures& device : view.figures.devices) {
            const auto& whole =
                last.figures.devices[static_cast<size_t>(&device - view.figures.devices.data())];
            const auto dram = index_of(census::Kind::dram);
            device.memory[dram].used =
                static_cast<uint64_t>(static_cast<double>(whole.memory[dram].used) * (0.25 + 0.75 * wave));
            if (device.l1_worst_core.used) {
                device.l1_worst_core.used =
                    static_cast<uint64_t>(static_cast<double>(*whole.l1_worst_core.used) * (1 - 0.5 * wave));
            }
            if (device.telemetry.temperature_c) {
                device.telemetry.temperature_c = *whole.telemetry.temperature_c - 5 * (1 - wave);
            }
        }
        view.origin.time_ns = time;
        model.take_status(view, {}, Link::daemon);
        model.tick(time);
    }
    model.take_status(last, {}, Link::daemon);
    model.tick(kNow);
    return model;
}

// A recording of forty seconds of a T3000 whose DRAM rose and fell, at its thirtieth second. A tenth is not read yet.
inline Model played() {
    constexpr uint64_t kBoot = 1000 * kSecond;  // on the monotonic clock
    access::Timeline timeline;
    timeline.first_ns = kBoot;
    timeline.last_ns = kBoot + 40 * kSecond;
    timeline.epoch_offset_ns = kNow - kBoot - 30 * kSecond;
    timeline.part_count = 512;
    view::View view = t3000_with_driver();
    for (size_t part = 0; part < timeline.part_count * 9 / 10; ++part) {
        const double wave = std::sin(static_cast<double>(part) / 163);
        access::TimelinePart one{static_cast<uint64_t>(40e9 * wave * wave), {}};
        for (const census::DeviceFigures& device : view.figures.devices) {
            one.devices.push_back({device.id, static_cast<uint64_t>(8e9 * wave * wave),
                                   static_cast<uint64_t>(1e6 * wave * wave)});
        }
        timeline.parts.push_back(one);
    }
    using Type = access::TimelinePoint::PointType;
    timeline.points = {{Type::start, kBoot, 4711, ""},
                       {Type::mark, kBoot + 5 * kSecond, 4711, "warm"},
                       {Type::gap, kBoot + 8 * kSecond, 4711, ""},
                       {Type::failure, kBoot + 20 * kSecond, 4711, "dram"},
                       {Type::mark, kBoot + 25 * kSecond, 4711, "step"},
                       {Type::failure, kBoot + 33 * kSecond, 4711, "l1"},
                       {Type::end, kBoot + 39 * kSecond, 4711, ""}};
    timeline.peaks[index_of(census::Kind::dram)] = {kBoot + 20 * kSecond, 40'000'000'000};
    timeline.peaks[index_of(census::Kind::l1)] = {kBoot + 22 * kSecond, 15'728'640};
    timeline.peaks[index_of(census::Kind::cb)] = {kBoot + 20 * kSecond, 1'048'576};
    timeline.has_moments = true;
    Model model;
    model.take(timeline);
    view.origin.source = view::OriginSource::recording;
    model.take_status(view, {}, Link::recording);
    return model;
}

inline view::CoreView some_cores() {
    view::CoreView view{view::origin(), {}, 1, 0, {}};
    view.grid.size = census::Core{8, 8};
    view.grid.capacity = 1'393'472;
    view.grid.lowest_buffer = 1'031'024;
    for (uint32_t y = 0; y < 8; ++y) {
        for (uint32_t x = 0; x < 8; ++x) {
            census::CoreFigures figures{{x, y}, std::nullopt, 362'448, 925'360};
            if (x < 6) {
                const uint64_t reach = 20'000 * (x + 1) * (y + 1);
                figures.cb_top = 105'664 + reach;
                figures.used = 362'448 + reach;
                figures.headroom = 925'360 - static_cast<int64_t>(reach);
            }
            view.grid.cores.push_back(figures);
        }
    }
    return view;
}

inline census::MapBlock taken(uint64_t address, uint64_t bytes, std::string name) {
    return {address,    bytes, false,        bytes * 12 - 100,
            bytes * 12, 1,     90 * kSecond, name.empty() ? std::nullopt : std::optional(std::move(name))};
}
inline census::MapBlock hole(uint64_t address, uint64_t bytes) {
    census::MapBlock block;
    block.address = address;
    block.bytes = bytes;
    block.is_free = true;
    return block;
}

inline view::MapView a_map() {
    constexpr uint64_t kBase = 0x100040;
    census::AddressMap map;
    map.pid = 4711;
    map.set = "mesh 2x4";
    map.devices = {0, 1, 2, 3, 4, 5, 6, 7};
    map.kind = census::Kind::dram;
    map.bank = {kBase, 1'000'000, 12};
    map.used = 600'000;
    map.free = 400'000;
    map.largest_free = 300'000;
    map.blocks = {taken(kBase, 300'000, "decoder.0/kv_cache"),
                  taken(kBase + 300'000, 200'000, "decoder.1/kv_cache"), hole(kBase + 500'000, 100'000),
                  taken(kBase + 600'000, 100'000, ""), hole(kBase + 700'000, 300'000)};
    census::AddressMap other = map;
    other.kind = census::Kind::l1;
    other.used = 1000;
    return {view::origin(), {}, 1, {0}, {other, map}};
}

inline view::EventView event(uint64_t sequence, history::RecordType type,
                             std::optional<census::Kind> kind = {}) {
    view::EventView one;
    one.sequence = sequence;
    one.time_ns = kNow + sequence * kSecond;
    one.pid = 4711;
    one.type = type;
    if (kind) {
        one.kind = kind;
        one.devices = {0, 1, 2, 3};
        one.requested = 4'194'304;
        one.address = 0x100040;
        one.name = "decoder.0/ttnn::matmul";
    }
    return one;
}

inline view::EventsView some_events() {
    view::EventView gap = event(3, history::RecordType::gap);
    gap.count = 12;
    view::EventView kernel = event(4, history::RecordType::allocation, census::Kind::kernel);
    kernel.kernel_type = "dispatch";
    kernel.address.reset();
    return {view::origin(),
            8,
            0,
            {event(1, history::RecordType::process_started),
             event(2, history::RecordType::allocation, census::Kind::dram), gap, kernel,
             event(5, history::RecordType::failure, census::Kind::l1),
             event(6, history::RecordType::free, census::Kind::dram),
             event(7, history::RecordType::process_died)}};
}

inline view::WhyView a_why() {
    view::HoldersView holders{0, census::Kind::dram, {}, {}};
    holders.by_process = {view::group("4711", 12'000'000'000, 400)};
    holders.by_name = {view::group("decoder.31/kv_cache", 9'000'000'000, 64), view::group("", 5'000, 1)};
    return {view::several_failures(), {holders}};
}

}  // namespace ttmem::tui
