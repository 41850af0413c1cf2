// SPDX-License-Identifier: Apache-2.0
#pragma once

// Views with round figures for golden tests: groups, programs, failures and post-mortems.

#include "view/testing/views_test_support.hpp"

namespace ttmem::view {

inline census::Group group(std::string key, uint64_t used, uint64_t count, Kind kind = Kind::dram) {
    census::Group result;
    result.key = std::move(key);
    result.memory[index_of(kind)] = {used, used - used / 100, count};
    result.count = count;
    result.largest = used / count;
    result.oldest_age_ns = 3'700 * kSecond;
    return result;
}

inline GroupView groups_by_name() {
    GroupView view{.origin = origin(),
                   .inexact = {},
                   .processes = 2,
                   .group = census::GroupBy::name,
                   .total = 43,
                   .allocations = 1'234,
                   .groups = {}};
    view.groups.push_back(group("decoder.0/kv_cache", 2'147'483'648, 64));
    view.groups.push_back(group("", 67'108'864, 5));
    view.groups.back().memory[index_of(Kind::l1)] = {1'048'576, 1'000'000, 2};
    view.groups.back().memory[index_of(Kind::cb)] = {65'536, 65'536, 1};
    view.groups.back().count += 3;
    view.groups.push_back(group(
        "transformer/a_decoder_layer_with_a_long_name.31/attention/ttnn::scaled_dot_product", 4'096, 1));
    view.groups.back().planned = 3;
    view.groups.back().views = 2;
    return view;
}

inline GroupView groups_by_device() {
    GroupView view{.origin = origin(),
                   .inexact = {},
                   .processes = 2,
                   .group = census::GroupBy::device,
                   .total = 2,
                   .allocations = 69,
                   .groups = {}};
    for (const uint32_t id : {7u, 0u}) {
        view.groups.push_back(group(std::to_string(id), 1'048'576 * (id + 1), 64));
        view.groups.back().device = id;
    }
    return view;
}

inline GroupView groups_by_thread() {
    GroupView view{
        origin(), {{4711, census::Reason::ledger_full, 12}}, 2, census::GroupBy::thread, 2, 300'000, 37'856,
        {}};
    view.groups.push_back(group("4712", 8'192, 2));
    view.groups.back().pid = 4711;
    view.groups.push_back(group("12345", 4'096, 1));
    view.groups.back().pid = 12345;
    return view;
}

inline ProgramView several_programs() {
    ProgramView view{.origin = origin(), .inexact = {}, .processes = 2, .total = 12, .programs = {}};
    census::ProgramFigures program;
    program.pid = 4711;
    program.program = 17;
    program.name = "decoder.0/ttnn::matmul";
    program.devices = {0, 1, 2, 3, 4, 5, 6, 7};
    program.set = "mesh 2x4";
    program.cb_requested = 280'000;
    program.cb_used = 15'728'640;
    program.cb_count = 24;
    program.cb_views = 1;
    program.cb_top = 385'664;
    program.cb_top_core = census::Core{3, 4};
    program.kernel_by_type = {24'576, 0, 0};
    program.kernel_count = 3;
    program.age_ns = 200 * kSecond;
    view.programs.push_back(program);
    census::ProgramFigures dispatch;
    dispatch.pid = 4711;
    dispatch.program = 18'446'744'073'709'551'615u;
    dispatch.devices = {0};
    dispatch.kernel_by_type = {0, 114'688, 94'208};
    dispatch.kernel_count = 2;
    view.programs.push_back(dispatch);
    program.program.reset();
    program.name.clear();
    program.cb_top_core.reset();
    program.set = "by address";
    view.programs.push_back(program);
    return view;
}

inline census::MapBlock card_block(uint64_t address, uint64_t bytes, uint64_t age_s, const char* name,
                                   uint64_t circular_buffers = 0) {
    census::MapBlock block;
    block.address = address;
    block.bytes = bytes;
    block.is_free = name == nullptr;
    if (name != nullptr) {
        block.requested = bytes * 12 - 100;
        block.used = bytes * 12;
        block.owner = address / 32;
        block.age_ns = age_s * kSecond;
        block.name = name;
        block.circular_buffers = circular_buffers;
    }
    return block;
}

inline census::FailureCard card_of_dram() {
    census::FailureCard card;
    card.number = 3;
    card.request = {.requested = 536'870'912,
                    .needed = 44'739'264,
                    .page = 2048,
                    .banks = 12,
                    .alignment = 32,
                    .direction = census::PlacementDirection::bottom_up};
    card.bank = {.kind = Kind::dram,
                 .bank = {1'048'640, 1'072'693'184, 12},
                 .used = 1'005'584'320,
                 .free = 67'108'864,
                 .largest_free = 33'554'432,
                 .allocations = 1'204};
    card.holders = {
        {"decoder/kv_cache", 9'663'676'416, 64}, {"decoder/weights", 2'147'483'648, 640}, {"", 98'304, 3}};
    card.youngest = {card_block(0x3fa0'0000, 8'192, 2, "decoder.31/attention/scores"),
                     card_block(0x3f90'0000, 1'048'576, 3, "decoder.30/kv_cache")};
    card.around = {card_block(0x1e00'0000, 33'554'432, 600, "decoder.12/kv_cache"),
                   card_block(0x2000'0000, 33'554'432, 0, nullptr),
                   card_block(0x2200'0000, 8'192, 2, "decoder.31/attention/scores")};
    card.blocks = card.around;
    card.events = {
        {census::CardEventType::free, 2 * kSecond, Kind::dram, 0x2000'0000, 402'653'184, "activations"},
        {census::CardEventType::allocation, kSecond, Kind::dram, 0x2200'0000, 98'204,
         "decoder.31/attention/scores"}};
    card.fix = census::WaysOut{};
    card.fix->fits_after_compaction = true;
    card.fix->with_page = 1024;
    card.fix->to_free = {{1,
                          8'192,
                          0x2000'0000,
                          {{0x2200'0000, 8'192, 17, 2 * kSecond, "decoder.31/attention/scores"}},
                          1,
                          true},
                         {2,
                          67'108'864,
                          0x1e00'0000,
                          {{0x1e00'0000, 33'554'432, 18, 600 * kSecond, "decoder.12/kv_cache"},
                           {0x2200'0000, 33'554'432, 19, 600 * kSecond, ""}},
                          2,
                          false}};
    card.fix->fewest_names = card.fix->to_free[0];
    return card;
}

inline census::FailureCard card_of_clash() {
    census::FailureCard card;
    card.number = 1;
    card.is_complete = false;
    card.request.requested = 65'536;
    card.bank = {.kind = Kind::l1,
                 .bank = {105'664, 1'393'472, 64},
                 .used = 362'496,
                 .free = 1'000'000,
                 .largest_free = {},
                 .allocations = 5'012};
    card.program =
        census::CardProgram{.name = "ttnn::matmul",
                            .core = census::Core{3, 4},
                            .circular_buffers = {card_block(105'664, 925'360, 1, "ttnn::matmul", 1),
                                                 card_block(1'031'024, 64, 1, "ttnn::matmul", 1)},
                            .cores = {{3, 4}, {4, 4}},
                            .blocker = card_block(1'031'024, 5'664, 90, "decoder.0/attention/activations")};
    card.around = {card.program->circular_buffers[0], *card.program->blocker};
    card.fix = census::WaysOut{};
    card.fix->to_shrink = {{"ttnn::matmul", 105'664, 925'360, 64}};
    card.fix->to_free = {{1,
                          5'664,
                          1'499'136,
                          {{1'031'024, 5'664, 77, 90 * kSecond, "decoder.0/attention/activations"}},
                          1,
                          true}};
    card.fix->region_size = 4'032;
    return card;
}

inline census::FailureFigures out_of_memory() {
    census::FailureFigures failure;
    failure.pid = 4711;
    failure.verdict = census::FailureVerdict::fragmented;
    failure.age_ns = 12 * kSecond;
    failure.time_ns = kNow - failure.age_ns;
    failure.devices = {0, 1, 2, 3, 4, 5, 6, 7};
    failure.set = "mesh 2x4";
    failure.kind = Kind::dram;
    failure.name = "decoder.31/kv_cache";
    failure.thread = 4712;
    failure.requested = 536'870'912;
    failure.needed = 44'739'264;
    failure.free = 67'108'864;
    failure.largest_free = 33'554'432;
    failure.missing = 11'184'832;
    failure.short_by = 11'184'832;
    return failure;
}

inline census::FailureFigures clash() {
    census::FailureFigures failure;
    failure.pid = 4711;
    failure.type = census::FailureType::cb_clash;
    failure.verdict = census::FailureVerdict::clash;
    failure.age_ns = 200 * kSecond;
    failure.time_ns = kNow - failure.age_ns;
    failure.devices = {0};
    failure.kind = Kind::cb;
    failure.name = "ttnn::matmul";
    failure.thread = 4712;
    failure.requested = 65'536;
    failure.free = 1'000'000;
    failure.cb_end = 1'031'088;
    failure.lowest_buffer = 1'031'024;
    failure.missing = 64;
    failure.short_by = 64;
    failure.core = census::Core{3, 4};
    failure.program = 17;
    failure.blocker = census::Blocker{.kind = Kind::l1,
                                      .address = 1'031'024,
                                      .requested = 360'000,
                                      .used = 362'496,
                                      .owner = 77,
                                      .name = "decoder.0/attention/activations"};
    return failure;
}

inline census::FailureFigures unknown_free() {
    census::FailureFigures failure;
    failure.pid = 12345;
    failure.type = census::FailureType::unknown_free;
    failure.verdict = census::FailureVerdict::unknown_free;
    failure.age_ns = 90'000 * kSecond;
    failure.time_ns = kNow - failure.age_ns;
    failure.address = 0xdeadbeef;
    failure.logical_device = 3;
    return failure;
}

inline FailureView several_failures() {
    return {.origin = origin(),
            .processes = 2,
            .total = 100,
            .counts = {{.pid = 4711, .out_of_memory = 120, .cb_clash = 1}, {.pid = 12345, .unknown_free = 1}},
            .failures = {out_of_memory(), clash(), unknown_free()}};
}

inline census::PostMortemSummary summary(uint32_t pid, std::string comm, uint64_t ago_s) {
    census::PostMortemSummary result;
    result.process = process(pid, std::move(comm), {held_on(n300(0)), held_on(n300(1))});
    result.process.state = census::ProcessState::dead;
    result.died_ns = kNow - ago_s * kSecond;
    result.allocations = 457;
    return result;
}

inline PostMortemListView several_post_mortems() {
    PostMortemListView view{
        origin(), 3, {summary(4711, "python3", 12), summary(4712, "tt-inference-server", 7'300)}};
    view.post_mortems[0].exact = false;
    view.post_mortems[0].in_flight = 1;
    view.post_mortems[0].failures = 121;
    view.post_mortems[1].process.devices.clear();
    view.post_mortems[1].allocations = 0;
    return view;
}

inline PostMortemView post_mortem() {
    PostMortemView view{origin(), {}};
    census::PostMortem& found = view.post_mortem;
    found.summary = several_post_mortems().post_mortems[0];
    found.inexact = {{4711, census::Reason::event_in_flight, 1}};
    for (const Kind kind : {Kind::dram, Kind::l1}) {
        found.by_kind.push_back(
            group(std::string(name_of(kind)), kind == Kind::dram ? 2'147'483'648 : 1'048'576, 64, kind));
        found.by_kind.back().kind = kind;
    }
    found.by_name = groups_by_name().groups;
    found.names = 43;
    found.largest = several_allocations().allocations;
    found.failures = {out_of_memory(), clash()};
    found.failure_counts = {.pid = 4711, .out_of_memory = 120, .cb_clash = 1};
    found.in_flight = {{4712, census::ActionInFlight::allocate, true, 77, 3},
                       {4713, census::ActionInFlight::free, false, 78, 6}};
    return view;
}

inline PostMortemView post_mortem_with_nothing() {
    PostMortemView view{origin(), {}};
    view.post_mortem.summary = several_post_mortems().post_mortems[1];
    return view;
}

}  // namespace ttmem::view
