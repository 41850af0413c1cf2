// SPDX-License-Identifier: Apache-2.0

// The screens of the commands that go beyond status, ps and lists: as people have looked at them and found them good.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <set>

#include "view/chronicle_text.hpp"
#include "view/devices.hpp"
#include "view/golden_test_support.hpp"
#include "view/json.hpp"
#include "view/queries_test_support.hpp"
#include "view/query.hpp"
#include "view/text.hpp"
#include "view/views_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;
using testing::Not;

census::MapBlock block(uint64_t address, uint64_t bytes, const std::string& name) {
    return {address, bytes, false, bytes * 12 - 100, bytes * 12, 1, 90 * kSecond, name};
}

census::MapBlock gap(uint64_t address, uint64_t bytes) { return {address, bytes, true, 0, 0, 0, 0, ""}; }

MapView dram_map() {
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
    return {origin(), {}, 1, "0", {map}};
}

MapView unknown_map() {
    MapView view = dram_map();
    census::AddressMap& map = view.maps[0];
    map.bank = {};
    map.free.reset();
    map.largest_free.reset();
    map.left_out = 7;
    std::erase_if(map.blocks, [](const census::MapBlock& one) { return one.is_free; });
    return view;
}

EventView event(uint64_t sequence, const std::string& what, std::optional<Kind> kind = {},
                uint64_t bytes = 0) {
    EventView one;
    one.sequence = sequence;
    one.time_ns = kNow + sequence * 1'500'000'000;
    one.pid = 4711;
    one.what = what;
    if (kind) {
        one.kind = kind;
        one.devices = {0, 1, 2, 3};
        one.requested = bytes;
        one.address = 0x100040;
        one.name = "decoder.0/ttnn::matmul";
    }
    return one;
}

EventsView some_events() {
    EventView lost = event(3, "gap");
    lost.count = 12;
    EventView view = event(4, "allocation", Kind::cb, 8192);
    view.adds_bytes = false;
    EventView kernel = event(5, "allocation", Kind::kernel, 24'576);
    kernel.kernel_type = "dispatch";
    kernel.address.reset();
    return {origin(),
            8,
            3,
            {event(1, "process_started"), event(2, "allocation", Kind::dram, 4'194'304), lost, view, kernel,
             event(6, "free", Kind::dram, 4'194'304), event(7, "process_died")}};
}

HistoryView some_history() {
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

SelfView some_self() {
    SelfView self;
    self.origin = origin();
    self.origin.source = "daemon";
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

WhyView some_why() {
    WhyView view{several_failures(), {}};
    HoldersView holders{"0", Kind::dram, {}, {}};
    census::Group group;
    group.key = "4711";
    group.pid = 4711;
    group.used = 12'000'000'000;
    group.count = 400;
    group.oldest_age_ns = 200 * kSecond;
    holders.by_process = {group};
    group.pid.reset();
    group.key = "decoder.31/kv_cache";
    group.used = 9'000'000'000;
    holders.by_name = {group};
    group.key = "";
    group.used = 5;
    holders.by_name.push_back(group);
    view.holders = {holders};
    return view;
}

const std::string kLongName =
    "model.layers.31.self_attention.rotary_embedding.really_long/"
    "ttnn::transformer::scaled_dot_product_attention_decode";

MapView long_map_names() {
    MapView view = dram_map();
    view.maps[0].set = "a mesh with a name that somebody thought about for a long time, 漢字漢字漢字";
    view.maps[0].blocks[0].name = kLongName;
    return view;
}

EventsView long_event_names() {
    EventsView view = some_events();
    for (EventView& one : view.events) {
        if (one.name) {
            one.name = kLongName;
        }
    }
    return view;
}

WhyView long_why_names() {
    WhyView view = some_why();
    view.holders[0].by_name[0].key = kLongName;
    return view;
}

HistoryView galaxy_history() {
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

// A submesh and the mesh it is part of have allocators of their own: two maps of one memory.
MapView galaxy_map() {
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

std::string whole_map(const MapView& view, const Style& style) { return map_text(view, style); }

struct Commands : testing::Test {
    Commands() {
        setenv("TZ", "UTC", 1);
        tzset();
    }
};

template <class View, class Text>
void expect_screens(const std::string& name, const View& view, Text text) {
    for (const size_t width : {size_t{80}, size_t{200}}) {
        expect_golden(name + "." + std::to_string(width), text(view, Style{.width = width}));
    }
    expect_golden(name + ".bytes", text(view, Style{.bytes = true}));
}

TEST_F(Commands, LookAsTheyDid) {
    expect_screens("dram.map", *map_from_json(to_json(dram_map())), whole_map);
    expect_screens("unknown.map", unknown_map(), whole_map);
    expect_screens("some.events", some_events(), events_text);
    expect_screens("some.history", some_history(), history_text);
    expect_screens("some.self", some_self(), self_text);
    expect_screens("some.why", some_why(), why_text);
    expect_screens("t3000.breakdown", t3000(), breakdown_text);
    expect_screens("one_device.breakdown", one_device(), breakdown_text);
    expect_screens("galaxy.breakdown", galaxy(), breakdown_text);
    expect_screens("inexact.breakdown", inexact(), breakdown_text);
    expect_screens("with_driver.breakdown", with_driver(), breakdown_text);
    expect_screens("unknown_capacity.breakdown", unknown_capacity(), breakdown_text);
    expect_screens("full.breakdown", full(), breakdown_text);
    expect_screens("long_names.breakdown", long_names(), breakdown_text);
    expect_screens("long_names.map", long_map_names(), whole_map);
    expect_screens("long_names.events", long_event_names(), events_text);
    expect_screens("long_names.why", long_why_names(), why_text);
    expect_screens("galaxy.history", galaxy_history(), history_text);
    expect_screens("galaxy.map", galaxy_map(), whole_map);
    expect_golden("some.history.utf8", history_text(some_history(), {.utf8 = true}));
    expect_golden("dram.map.json", to_json(dram_map()));
    expect_golden("some.why.json", to_json(some_why()));
    expect_golden("some.events.json", to_json(some_events()));
    expect_golden("some.history.json", to_json(some_history()));
    expect_golden("some.self.json", to_json(some_self()));
}

TEST_F(Commands, SaySoWhereThereIsNothing) {
    MapView empty = dram_map();
    empty.maps.clear();
    expect_golden("empty.map.80", map_text(empty, {}));
    expect_golden("limited.map.80", map_text(dram_map(), {}, 2));
    expect_golden("nobody.map.80", map_text({origin(), {}, 0, "0", {}}, {}));
    expect_golden("empty.events.80", events_text({origin(), 1, 0, {}}, {}));
    expect_golden("empty.history.80", history_text({origin(), {}}, {}));
    expect_golden("empty.breakdown.80", breakdown_text(empty_host(), {}));
}

TEST_F(Commands, FitIntoEightyColumns) {
    for (const bool bytes : {false, true}) {
        const Style style{.bytes = bytes};
        for (const std::string& text :
             {map_text(dram_map(), style), map_text(galaxy_map(), style), map_text(long_map_names(), style),
              events_text(some_events(), style), events_text(long_event_names(), style),
              history_text(some_history(), style), history_text(galaxy_history(), style),
              self_text(some_self(), style), why_text(some_why(), style), why_text(long_why_names(), style),
              breakdown_text(full(), style), breakdown_text(galaxy(), style)}) {
            expect_fits(text, 80);
        }
    }
}

TEST(Map, ReadsWhatItWrites) {
    EXPECT_EQ(*map_from_json(to_json(dram_map())), dram_map());
    EXPECT_EQ(*map_from_json(to_json(unknown_map())), unknown_map());
}

TEST(Query, TellsTheFieldsInTheirOrderWithHeaderAndUnits) {
    const auto query = Query::parse("device,dram.used,board,cb.capacity,l1.headroom");
    ASSERT_TRUE(query);
    EXPECT_EQ(query->header({}), "device,dram.used [B],board,cb.capacity [B],l1.headroom [B]\n");
    EXPECT_EQ(query->lines(one_device(), {}), "0,5842132992 B,n300,,645360 B\n");
    EXPECT_EQ(query->header({.header = false}), "");
    EXPECT_EQ(query->lines(one_device(), {.units = false}), "0,5842132992,n300,,645360\n");
}

TEST(Query, WhatIsNotKnownIsEmptyAndNever0) {
    const auto query = Query::parse("device,dram.used,dram.count,temperature,power,bdf");
    EXPECT_EQ(query->lines(with_driver(), {.units = false}),
              "0,5842132992,412,45.2,31.4,0000:01:00.0\n"
              "1,65536,,65.2,31.4,0000:02:00.0\n"
              "2,,,85.2,,0000:03:00.0\n"
              "3,0,0,,,\n");
}

TEST(Query, NamesTheFieldThatDoesNotExist) {
    EXPECT_THAT(Query::parse("device,dram.size").error().text, HasSubstr("'dram.size'"));
    EXPECT_FALSE(Query::parse(""));
}

TEST(Query, EveryFieldHasANameOfItsOwnAndSaysWhatItIs) {
    std::set<std::string> names;
    for (const QueryField& field : query_fields()) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        EXPECT_FALSE(field.about.empty());
    }
}

TEST(Devices, AreFoundByEveryNameThatPeopleHave) {
    const View view = with_driver();
    for (const char* name : {"1", "/dev/tenstorrent/1", "0000:02:00.0", "0x2620a2", "0X2620A2"}) {
        const census::DeviceFigures* device = find_device(view, name);
        ASSERT_NE(device, nullptr) << name;
        EXPECT_EQ(device->id, 1u) << name;
    }
    for (const char* name : {"", "9", "01", "-1", "0x", "/dev/tenstorrent/", "0000:09:00.0"}) {
        EXPECT_EQ(find_device(view, name), nullptr) << name;
    }
}

TEST(Devices, OneKeepsItsProcessesAndWhatTheyHoldThere) {
    View view = t3000();
    EXPECT_EQ(keep_devices(view, {"7"}), std::nullopt);
    ASSERT_EQ(view.figures.devices.size(), 1u);
    EXPECT_EQ(view.figures.processes.size(), 2u);
    EXPECT_EQ(view.figures.processes[0].devices.size(), 1u);
    view = t3000();
    EXPECT_EQ(keep_devices(view, {"0"}), std::nullopt);
    EXPECT_EQ(view.figures.processes.size(), 1u) << "the other is not on it";
    EXPECT_THAT(*keep_devices(view, {"5"}), HasSubstr("there is no device 5"));
}

}  // namespace
}  // namespace ttmem::view
