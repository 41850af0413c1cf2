// SPDX-License-Identifier: Apache-2.0
#include "tests/properties/native_pair.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <ostream>

#include "tests/support/own_segment.hpp"

namespace ttmem::properties {

using What = NativeCall::What;

namespace {

const std::string kText[kTexts] = {
    "a", "b", "decoder.3", "", std::string(119, 'x') + "\xc3\xa9", std::string(300, 'y')};

const ttmem_cores* cores_of(size_t which) {
    static const ttmem_cores kCores[] = {{{1}}, {{0xff, 0xff}}, {{}}, {{0, 0, 0x8000}}};
    return which == 0 ? nullptr : &kCores[(which - 1) % std::size(kCores)];
}

std::string fact_of_failure(const segment::Reader& reader, const segment::Failure& f) {
    const auto type = static_cast<segment::FailureType>(f.type);
    if (type == segment::FailureType::unknown_free) {
        return "unknown free";
    }
    if (type == segment::FailureType::out_of_memory) {
        ttmem_out_of_memory failure{};
        failure.kind = f.kind;
        failure.requested = f.requested;
        failure.needed_per_bank = f.needed_per_bank;
        failure.free_per_bank = f.free_per_bank;
        failure.largest_free_per_bank = f.largest_free_per_bank;
        return failure_fact(f.set, f.members, failure, reader.name(f.name));
    }
    ttmem_cb_clash clash{};
    clash.core_x = f.core_x;
    clash.core_y = f.core_y;
    clash.program = f.program;
    clash.requested = f.requested;
    clash.cb_end = f.cb_end;
    clash.lowest_buffer = f.lowest_buffer;
    clash.free_per_bank = f.free_per_bank;
    Entry blocker;
    blocker.kind = f.blocker_kind;
    blocker.address = f.blocker_address;
    blocker.requested = f.blocker_requested;
    blocker.reserved = f.blocker_reserved;
    blocker.owner = f.blocker_owner;
    blocker.name = reader.name(f.blocker_name);
    return clash_fact(f.set, f.members, clash, reader.name(f.name),
                      f.has_blocker != 0 ? blocker_fact(blocker) : "");
}

}  // namespace

void showValue(const NativeCall& c, std::ostream& out) {  // NOLINT(readability-identifier-naming)
    const char* const names[] = {"open_set",          "close_set",   "clear_set", "allocate",
                                 "allocate_cb",       "load_kernel", "free",      "free_forged",
                                 "program_gone",      "push",        "pop",       "tag",
                                 "allocation_failed", "cb_clashed"};
    out << names[static_cast<size_t>(c.what)] << "(set " << c.set << ", handle " << c.handle << ", kind "
        << c.kind << ", flags " << c.flags << ", address " << c.address << ", requested " << c.requested
        << ", reserved " << c.reserved << ", owner " << c.owner << ", text " << c.text << ", members "
        << c.members << ", cores " << c.cores << ")\n";
}

Pair::Pair(size_t names) : model_(kSlots, names) {
    setenv("TTMEM_NAMES", std::to_string(names).c_str(), 1);
    for (uint32_t i = 0; i < 3; ++i) {
        ttmem_device_info info{};
        info.logical_id = i;
        ttmem_register_device(&info);
    }
}

void Pair::fill_sets(size_t count, bool close) {
    for (size_t i = 0; i < count; ++i) {
        step({.what = What::open_set, .members = 1});
        if (close) {
            step({.what = What::close_set});
        }
    }
}

void Pair::open_set(const NativeCall& call) {
    std::vector<ttmem_device> members;
    for (uint32_t i = 0; i < 5; ++i) {
        if ((call.members >> i & 1) != 0) {
            members.push_back(i == 4 ? 0 : i + 1);
        }
    }
    const std::string& label = kText[call.text];
    const ttmem_set token =
        ttmem_open_set(members.data(), static_cast<uint32_t>(members.size()), label.c_str());
    const NativeModel::SetIndex index = model_.open_set(members, label);
    if ((token != 0) != index.has_value() || (index && (token & 0xff) != *index)) {
        problem_ += "a set was opened where it should not, or in another place\n";
    }
    if (index) {
        sets_.push_back({token, index});
    }
}

void Pair::end_set(const NativeCall& call, bool close) {
    const Set set = set_of(call);
    if (set.token == 0) {
        return;  // the token 0 is ignored, and not counted as an error
    }
    close ? ttmem_close_set(set.token) : ttmem_clear_set(set.token);
    close ? model_.close_set(set.index) : model_.clear_set(set.index);
    for (Set& known : sets_) {
        if (close && known.token == set.token) {
            known.index.reset();
        }
    }
}

void Pair::keep(ttmem_handle handle, std::optional<NativeModel::Id> id) {
    for (const Handle& known : handles_) {
        if (id && known.id && (*known.id == *id) != (known.handle == handle)) {
            problem_ += "one handle for two allocations, or two for one\n";
        }
    }
    if ((handle != 0) != id.has_value()) {
        problem_ += "a handle where there should be none, or none where there should be one\n";
    }
    handles_.push_back({handle, id});
}

void Pair::free(const NativeCall& call) {
    const Handle handle = handle_of(call);
    if (call.what == What::free_forged) {
        // A generation that is not live, or one that this slot reaches only after about a million frees.
        ttmem_free(handle.handle ^ (call.kind % 2 == 0 ? 1u : 1u << 20));
        model_.free_something_unknown();
        return;
    }
    ttmem_free(handle.handle);
    if (handle.id) {
        model_.free(*handle.id);
    }
}

void Pair::fail(const NativeCall& call) {
    const Set set = set_of(call);
    ttmem_out_of_memory failure{};
    failure.set = set.token;
    failure.kind = call.kind;
    failure.requested = call.requested;
    failure.needed_per_bank = call.reserved;
    failure.free_per_bank = call.address;
    failure.largest_free_per_bank = call.address + 1;
    ttmem_allocation_failed(&failure);
    model_.fail(set.index, failure);
}

void Pair::clash(const NativeCall& call) {
    const Set set = set_of(call);
    const Handle blocker = handle_of(call);
    ttmem_cb_clash clash{};
    clash.set = set.token;
    clash.core_x = 3;
    clash.core_y = 7;
    clash.program = call.owner;
    clash.requested = call.requested;
    clash.cb_end = call.reserved;
    clash.lowest_buffer = call.address;
    clash.free_per_bank = call.address + 1;
    clash.blocker = blocker.handle;
    ttmem_cb_clashed(&clash);
    model_.clash(set.index, clash, blocker.id);
}

void Pair::step(const NativeCall& call) {
    const Set set = set_of(call);
    Entry entry;
    entry.address = call.address;
    entry.requested = call.requested;
    entry.reserved = call.reserved;
    entry.owner = call.owner;
    const std::string& text = kText[call.text];
    const uint32_t kind = call.kind | call.flags;
    switch (call.what) {
        case What::open_set:
            return open_set(call);
        case What::close_set:
            return end_set(call, true);
        case What::clear_set:
            return end_set(call, false);
        case What::allocate:
            return keep(
                ttmem_allocate(set.token, kind, call.address, call.requested, call.reserved, call.owner),
                model_.allocate(set.index, kind, entry));
        case What::allocate_cb:
            return keep(ttmem_allocate_cb(set.token, call.owner, call.address, call.requested,
                                          cores_of(call.cores), call.flags),
                        model_.allocate_cb(set.index, entry, cores_of(call.cores), call.flags));
        case What::load_kernel:
            return keep(
                ttmem_load_kernel(set.token, call.owner, static_cast<ttmem_kind>(call.kind), call.requested),
                model_.load_kernel(set.index, call.kind, entry));
        case What::free:
        case What::free_forged:
            return free(call);
        case What::program_gone:
            ttmem_program_gone(call.owner);
            return model_.program_gone(call.owner);
        case What::push:
            ttmem_scope_push(text.c_str());
            return model_.push(text);
        case What::pop:
            ttmem_scope_pop();
            return model_.pop();
        case What::tag: {
            const Handle handle = handle_of(call);
            ttmem_tag(handle.handle, text.c_str());
            return handle.id ? model_.tag(*handle.id, text) : void();
        }
        case What::allocation_failed:
            return fail(call);
        case What::cb_clashed:
            return clash(call);
    }
}

Facts Pair::facts_of_segment(const segment::Reader& reader) const {
    const auto place_of = [](const segment::Reader& /*unused*/, const segment::SetTotals& set) {
        return place_of_set(set.index);
    };
    Facts facts;
    for (const segment::SetTotals& set : reader.totals().sets) {
        facts.push_back(set_fact(set.index, set.set.members, set.is_open(), reader.name(set.set.label)));
    }
    state_ledger(reader, place_of, facts);
    state_counters(reader, place_of, facts);
    state_inexact(reader, facts);
    state_history(reader, facts);
    for (const segment::Failure& failure : reader.failures()) {
        facts.push_back(fact_of_failure(reader, failure));
    }
    return facts;
}

std::string Pair::compare() const {
    const auto reader = segment::Reader::open(test::open_segment_of(getpid()));
    if (!reader) {
        return "the segment " + reader.error().text;
    }
    return problem_ + difference(model_.facts(), facts_of_segment(*reader));
}

}  // namespace ttmem::properties
