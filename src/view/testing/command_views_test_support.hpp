// SPDX-License-Identifier: Apache-2.0
#pragma once

// Views with round figures for golden tests: address maps, events, history, the daemon itself and 'ttmem why'.

#include <string>

#include "view/questions/questions.hpp"
#include "view/testing/queries_test_support.hpp"

namespace ttmem::view {

inline census::MapBlock block(uint64_t address, uint64_t bytes, const std::string& name) {
    return {.address = address,
            .bytes = bytes,
            .is_free = false,
            .requested = bytes * 12 - 100,
            .used = bytes * 12,
            .owner = 1,
            .age_ns = 90 * kSecond,
            .name = name.empty() ? std::nullopt : std::optional(name),
            .circular_buffers = 0};
}

inline census::MapBlock gap(uint64_t address, uint64_t bytes) {
    census::MapBlock block;
    block.address = address;
    block.bytes = bytes;
    block.is_free = true;
    return block;
}

inline MapView dram_map() {
    census::AddressMap map;
    map.pid = 4711;
    map.set = "mesh 0";
    map.devices = {0, 1, 2, 3};
    map.kind = Kind::dram;
    map.bank = {0x100040, 1'000'000, 12};
    map.used = 600'000;
    map.free = 400'000;
    map.largest_free = 300'000;
    map.blocks = {block(0x100040, 500'000, "decoder.0/ttnn::matmul"), gap(0x100040 + 500'000, 100'000),
                  block(0x100040 + 600'000, 100'000, ""), gap(0x100040 + 700'000, 300'000)};
    return {origin(), {}, 1, {0}, {map}};
}

// Nothing of the process is on the second device.
inline MapView map_of_two_devices() {
    MapView view = dram_map();
    view.maps[0].device = 3;
    view.devices = {3, 8};
    return view;
}

// L1 with the circular buffers of two programs on the fullest core.
inline MapView l1_map() {
    constexpr uint64_t kBase = 105'664;
    census::AddressMap map;
    map.pid = 4711;
    map.set = "mesh 0";
    map.devices = {0, 1, 2, 3};
    map.kind = Kind::l1;
    map.bank = {kBase, 1'393'472, 56};
    map.used = 468'112;
    map.free = 645'360;
    map.largest_free = 645'360;
    census::MapCore core;
    core.core = census::Core{3, 4};
    core.bytes = 280'000;
    core.cb_top = kBase + 280'000;
    core.lowest_buffer = kBase + 925'360;
    core.headroom = 645'360;
    core.on_other_cores = 12;
    core.programs = {{17, "decoder.0/ttnn::matmul", 5, 280'000, kBase + 280'000},
                     {std::nullopt, "", 2, 8'192, kBase + 8'192}};
    map.core = core;
    census::MapBlock circular = block(kBase, 280'000, "decoder.0/ttnn::matmul");
    circular.requested.reset();
    circular.used.reset();
    circular.owner = 17;
    circular.circular_buffers = 7;
    map.blocks = {circular, gap(kBase + 280'000, 645'360), block(kBase + 925'360, 468'112, "activations")};
    return {origin(), {}, 1, {0}, {map}};
}

// The circular buffers of one program, whose highest one reaches into the lowest buffer.
inline MapView cb_map() {
    MapView view = l1_map();
    census::AddressMap& map = view.maps[0];
    map.kind = Kind::cb;
    map.bank.size = 925'424;
    map.used = 925'424;
    map.free = 0;
    map.largest_free = 0;
    map.core->core = census::Core{0, 0};
    map.core->is_asked = true;
    map.core->bytes = 925'424;
    map.core->cb_top = map.bank.base + 925'424;
    map.core->headroom = -64;
    map.core->without_cores = 1;
    map.core->programs = {{17, "decoder.0/ttnn::matmul", 2, 925'424, map.bank.base + 925'424}};
    map.blocks = {block(map.bank.base, 65'536, "decoder.0/ttnn::matmul"),
                  block(map.bank.base + 65'536, 859'888, "decoder.0/ttnn::matmul")};
    view.left_out = 3;
    view.left_aside = 1;
    return view;
}

inline CoreView some_cores() {
    CoreView view{origin(), {}, 1, 0, {}};
    view.grid.size = census::Core{3, 2};
    view.grid.capacity = 1'393'472;
    view.grid.lowest_buffer = 1'031'024;
    view.grid.without_cores = 2;
    for (uint32_t i = 0; i < 6; ++i) {
        census::CoreFigures core{{i % 3, i / 3}, std::nullopt, 362'448, 925'360};
        if (i % 2 == 1) {
            core.cb_top = 105'664 + i * 280'000;
            core.used = 362'448 + i * 280'000;
            core.headroom = 925'360 - int64_t{i} * 280'000;
            core.pid = 4711;
            core.program = i == 1 ? std::nullopt : std::optional<uint64_t>(16 + i);
            core.name = i == 1 ? "" : "decoder.0/ttnn::matmul";
        }
        view.grid.cores.push_back(core);
    }
    return view;
}

inline MapView unknown_map() {
    MapView view = dram_map();
    census::AddressMap& map = view.maps[0];
    map.bank = {};
    map.free.reset();
    map.largest_free.reset();
    map.left_out = 7;
    std::erase_if(map.blocks, [](const census::MapBlock& one) { return one.is_free; });
    return view;
}

inline EventView event(uint64_t sequence, history::RecordType type, std::optional<Kind> kind = {},
                       uint64_t bytes = 0) {
    EventView one;
    one.sequence = sequence;
    one.time_ns = kNow + sequence * 1'500'000'000;
    one.pid = 4711;
    one.type = type;
    if (kind) {
        one.kind = kind;
        one.devices = {0, 1, 2, 3};
        one.requested = bytes;
        one.address = 0x100040;
        one.name = "decoder.0/ttnn::matmul";
    }
    return one;
}

inline EventsView some_events() {
    EventView lost = event(3, history::RecordType::gap);
    lost.count = 12;
    EventView view = event(4, history::RecordType::allocation, Kind::cb, 8192);
    view.adds_bytes = false;
    EventView kernel = event(5, history::RecordType::allocation, Kind::kernel, 24'576);
    kernel.kernel_type = "dispatch";
    kernel.address.reset();
    return {origin(),
            8,
            3,
            {event(1, history::RecordType::process_started),
             event(2, history::RecordType::allocation, Kind::dram, 4'194'304), lost, view, kernel,
             event(6, history::RecordType::free, Kind::dram, 4'194'304),
             event(7, history::RecordType::process_died)}};
}

inline HistoryView some_history() {
    HistoryView view{origin(), {}};
    for (const uint32_t device : {0u, 1u}) {
        SeriesView series{device, Kind::dram, {}};
        for (uint64_t i = 0; i < 300; ++i) {
            series.samples.push_back({kNow - (300 - i) * kSecond, (device + 1) * i * 1'000'000});
        }
        series.samples[100].value = 900'000'000;
        view.series.push_back(series);
    }
    view.series.push_back({0, Kind::l1, {{kNow, 0}}});
    return view;
}

inline SelfView some_self() {
    SelfView self;
    self.origin = origin();
    self.origin.source = OriginSource::daemon;
    self.version = "1.2.3";
    self.pid = 99;
    self.uptime_ns = 3600 * kSecond;
    self.cpu_ns = 36 * kSecond;
    self.memory_bytes = 8 << 20;
    self.segment_bytes = 300 << 20;
    self.processes = 12;
    self.post_mortems = 1;
    self.connections = 3;
    self.events_followed = 123'456'789;
    self.events_lost = 4;
    self.events_per_second = 1000;
    self.lag_ns = 5'000'000;
    self.audits = 3600;
    return self;
}

inline WhyView some_why() {
    WhyView view{several_failures(), {}};
    HoldersView holders{0, Kind::dram, {}, {}};
    census::Group group;
    group.key = "4711";
    group.pid = 4711;
    group.memory[index_of(Kind::dram)].used = 12'000'000'000;
    group.count = 400;
    group.oldest_age_ns = 200 * kSecond;
    holders.by_process = {group};
    group.pid.reset();
    group.key = "decoder.31/kv_cache";
    group.memory[index_of(Kind::dram)].used = 9'000'000'000;
    holders.by_name = {group};
    group.key = "";
    group.memory[index_of(Kind::dram)].used = 5;
    holders.by_name.push_back(group);
    view.holders = {holders};
    return view;
}

// The first two failures have cards, the third has none, and a process that has ended has one on disk.
inline WhyView why_with_cards() {
    WhyView view = some_why();
    view.failures.failures[0].card = card_of_dram();
    view.failures.failures[1].card = card_of_clash();
    census::FailureFigures third = out_of_memory();
    third.no_card = census::NoCard::too_soon;
    third.kind = Kind::l1;
    view.failures.failures.push_back(third);
    view.kept.total = 3;
    view.kept.lost = 2;
    view.kept.problem = "/var/lib/ttmem/cards: No space left on device";
    view.kept.newest_first = {{4000, kNow, "python3", 1000, "ada", view.failures.failures[0]}};
    return view;
}

inline const std::string kLongName =
    "model.layers.31.self_attention.rotary_embedding.really_long/"
    "ttnn::transformer::scaled_dot_product_attention_decode";

inline MapView long_map_names() {
    MapView view = dram_map();
    view.maps[0].set = "a mesh with a name that somebody thought about for a long time, 漢字漢字漢字";
    view.maps[0].blocks[0].name = kLongName;
    return view;
}

inline EventsView long_event_names() {
    EventsView view = some_events();
    for (EventView& one : view.events) {
        if (one.name) {
            one.name = kLongName;
        }
    }
    return view;
}

inline WhyView long_why_names() {
    WhyView view = some_why();
    view.holders[0].by_name[0].key = kLongName;
    return view;
}

inline HistoryView galaxy_history() {
    HistoryView view{origin(), {}};
    for (uint32_t device = 0; device < 32; ++device) {
        SeriesView series{device, Kind::dram, {}};
        for (uint64_t i = 0; i < 60; ++i) {
            series.samples.push_back({kNow - (60 - i) * kSecond, (device + i) % 32 * 100'000'000});
        }
        view.series.push_back(series);
    }
    return view;
}

// A submesh and its mesh have separate allocators: two maps of the same memory.
inline MapView galaxy_map() {
    MapView view = dram_map();
    for (uint32_t id = 4; id < 32; ++id) {
        view.maps[0].devices.push_back(id);
    }
    census::AddressMap submesh = view.maps[0];
    submesh.devices = {0, 1};
    submesh.set = "submesh 1";
    view.maps.push_back(submesh);
    view.processes = 64;
    return view;
}

}  // namespace ttmem::view
