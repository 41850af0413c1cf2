// SPDX-License-Identifier: Apache-2.0

// Random calls of ttmem.h on one thread, and the same calls on a model: sets, ledger, names, pools, history, failures and
// every inexact counter must agree. Repeat a failure with the RC_PARAMS that it prints; look for others with
// RC_PARAMS="seed=N max_success=5000".

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "tests/properties/in_child.hpp"
#include "tests/properties/native_model.hpp"
#include "tests/support/own_segment.hpp"

namespace ttmem::properties {

// One call. `set` and `handle` name what an earlier call gave, counted from the newest; beyond the oldest there is
// nothing, and then the call gets a 0.
struct NativeCall {
    enum class What {
        open_set,
        close_set,
        clear_set,
        allocate,
        allocate_cb,
        load_kernel,
        free,
        free_forged,
        program_gone,
        push,
        pop,
        tag,
        allocation_failed,
        cb_clashed,
    };

    What what = What::allocate;
    size_t set = 0;
    size_t handle = 0;
    uint32_t kind = 0;
    uint32_t flags = 0;
    uint64_t address = 0;
    uint64_t requested = 0;
    uint64_t reserved = 0;
    uint64_t owner = 0;
    size_t text = 0;
    uint32_t members = 0;  // bit i: device i, and above the known ones some that are not
    size_t cores = 0;      // 0: unknown
};

using What = NativeCall::What;

// Found by rapidcheck, for the report of a failure.
void showValue(const NativeCall& c, std::ostream& out) {
    const char* const names[] = {"open_set",          "close_set",   "clear_set", "allocate",
                                 "allocate_cb",       "load_kernel", "free",      "free_forged",
                                 "program_gone",      "push",        "pop",       "tag",
                                 "allocation_failed", "cb_clashed"};
    out << names[static_cast<size_t>(c.what)] << "(set " << c.set << ", handle " << c.handle << ", kind "
        << c.kind << ", flags " << c.flags << ", address " << c.address << ", requested " << c.requested
        << ", reserved " << c.reserved << ", owner " << c.owner << ", text " << c.text << ", members "
        << c.members << ", cores " << c.cores << ")\n";
}

namespace {

constexpr size_t kSlots = 32;
constexpr size_t kFewNames = 12;
constexpr size_t kManyNames = 1024;

const std::string kTexts[] = {
    "a", "b", "decoder.3", "", std::string(119, 'x') + "\xc3\xa9", std::string(300, 'y')};

const ttmem_cores* cores_of(size_t which) {
    static const ttmem_cores kCores[] = {{{1}}, {{0xff, 0xff}}, {{}}, {{0, 0, 0x8000}}};
    return which == 0 ? nullptr : &kCores[(which - 1) % std::size(kCores)];
}

// A client and a model, side by side.
class Pair {
public:
    explicit Pair(size_t names) : model_(kSlots, names) {
        setenv("TTMEM_NAMES", std::to_string(names).c_str(), 1);
        for (uint32_t i = 0; i < 3; ++i) {
            ttmem_device_info info{};
            info.logical_id = i;
            ttmem_register_device(&info);
        }
    }

    // Sets that were open and closed before, or are open still, so that the table of sets is near its end.
    void fill_sets(size_t count, bool close) {
        for (size_t i = 0; i < count; ++i) {
            step({.what = What::open_set, .members = 1});
            if (close) {
                step({.what = What::close_set});
            }
        }
    }

    void step(const NativeCall& call);
    std::string compare() const;

private:
    struct Set {
        ttmem_set token = 0;
        NativeModel::SetIndex index;
    };
    struct Handle {
        ttmem_handle handle = 0;
        std::optional<NativeModel::Id> id;
    };

    Set set_of(const NativeCall& call) const {
        return call.set < sets_.size() ? sets_[sets_.size() - 1 - call.set] : Set();
    }
    Handle handle_of(const NativeCall& call) const {
        return call.handle < handles_.size() ? handles_[handles_.size() - 1 - call.handle] : Handle();
    }
    void open_set(const NativeCall& call);
    void end_set(const NativeCall& call, bool close);
    void keep(ttmem_handle handle, std::optional<NativeModel::Id> id);
    void free(const NativeCall& call);
    void fail(const NativeCall& call, segment::FailureType type);
    Facts facts_of_segment(const segment::Reader& reader) const;

    NativeModel model_;
    std::vector<Set> sets_;
    std::vector<Handle> handles_;
    std::string problem_;
};

void Pair::open_set(const NativeCall& call) {
    std::vector<ttmem_device> members;
    for (uint32_t i = 0; i < 5; ++i) {
        if ((call.members >> i & 1) != 0) {
            members.push_back(i == 4 ? 0 : i + 1);
        }
    }
    const std::string& label = kTexts[call.text];
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
        return;  // a set that never was is no set, and no mistake
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
        // A generation that is no live one's, and one that will be this slot's in a million frees.
        ttmem_free(handle.handle ^ (call.kind % 2 == 0 ? 1u : 1u << 20));
        model_.free_something_unknown();
        return;
    }
    ttmem_free(handle.handle);
    if (handle.id) {
        model_.free(*handle.id);
    }
}

void Pair::fail(const NativeCall& call, segment::FailureType type) {
    const Set set = set_of(call);
    const Handle blocker = handle_of(call);
    ttmem_failure failure{};
    failure.set = set.token;
    failure.kind = call.kind;
    failure.requested = call.requested;
    failure.needed = call.reserved;
    failure.free = call.address;
    failure.largest_free = call.address + 1;
    failure.program = call.owner;
    failure.in_the_way = blocker.handle;
    failure.core_x = 3;
    failure.core_y = 7;
    type == segment::FailureType::out_of_memory ? ttmem_allocation_failed(&failure)
                                                : ttmem_cb_clashed(&failure);
    model_.fail(type, set.index, failure, blocker.id);
}

void Pair::step(const NativeCall& call) {
    const Set set = set_of(call);
    Entry entry;
    entry.address = call.address;
    entry.requested = call.requested;
    entry.reserved = call.reserved;
    entry.owner = call.owner;
    const std::string& text = kTexts[call.text];
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
            return fail(call, segment::FailureType::out_of_memory);
        case What::cb_clashed:
            return fail(call, segment::FailureType::cb_clash);
    }
}

std::string fact_of_failure(const segment::Reader& reader, const segment::Failure& f) {
    const auto type = static_cast<segment::FailureType>(f.type);
    if (type == segment::FailureType::unknown_free) {
        return "unknown free";
    }
    ttmem_failure failure{};
    failure.kind = f.kind;
    failure.requested = f.requested;
    failure.needed = f.needed;
    failure.free = f.free;
    failure.largest_free = f.largest_free;
    failure.program = f.program;
    failure.core_x = f.core_x;
    failure.core_y = f.core_y;
    Entry blocker;
    blocker.kind = f.blocker_kind;
    blocker.address = f.blocker_address;
    blocker.requested = f.blocker_requested;
    blocker.reserved = f.blocker_reserved;
    blocker.owner = f.blocker_owner;
    blocker.name = reader.name(f.blocker_name);
    return failure_fact(type, f.set, f.members, failure, reader.name(f.name),
                        f.has_blocker != 0 ? blocker_fact(blocker) : "");
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

// Few values, so that calls meet; now and then one at the edge.
rc::Gen<NativeCall> any_call() {
    using rc::gen::set;
    using rc::gen::weightedElement;
    const auto what = weightedElement<What>({{3, What::open_set},
                                             {2, What::close_set},
                                             {1, What::clear_set},
                                             {12, What::allocate},
                                             {5, What::allocate_cb},
                                             {5, What::load_kernel},
                                             {8, What::free},
                                             {1, What::free_forged},
                                             {2, What::program_gone},
                                             {4, What::push},
                                             {3, What::pop},
                                             {3, What::tag},
                                             {1, What::allocation_failed},
                                             {1, What::cb_clashed}});
    const auto size = weightedElement<uint64_t>(
        {{8, 64}, {8, 4096}, {1, 0}, {1, (uint64_t{1} << 40) - 1}, {1, uint64_t{1} << 40}});
    const auto reserved =
        weightedElement<uint64_t>({{8, 4096}, {4, 8192}, {1, 0}, {3, TTMEM_UNKNOWN}, {1, TTMEM_UNKNOWN - 1}});
    const auto kind = weightedElement<uint32_t>(
        {{4, 0}, {4, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {3, 6}, {2, 7}, {2, 8}, {1, 9}, {1, 255}});
    const auto flags = weightedElement<uint32_t>(
        {{12, 0}, {2, TTMEM_PLANNED}, {2, TTMEM_VIEW}, {1, TTMEM_PLANNED | TTMEM_VIEW}, {1, 0x400}, {1, 2}});
    // Some programs of many: they share chains of the client's index with others.
    const auto owner = rc::gen::weightedOneOf<uint64_t>(
        {{3, weightedElement<uint64_t>({{4, 1}, {4, 2}, {1, 0}, {1, UINT64_MAX}})},
         {1, rc::gen::inRange<uint64_t>(0, 64)}});
    return rc::gen::build<NativeCall>(
        set(&NativeCall::what, what),
        set(&NativeCall::set, weightedElement<size_t>({{8, 0}, {4, 1}, {2, 2}, {1, 9}})),
        set(&NativeCall::handle, rc::gen::inRange<size_t>(0, 24)), set(&NativeCall::kind, kind),
        set(&NativeCall::flags, flags),
        set(&NativeCall::address,
            weightedElement<uint64_t>({{4, 0x1000}, {4, 0x2000}, {1, 0}, {1, UINT64_MAX}})),
        set(&NativeCall::requested, size), set(&NativeCall::reserved, reserved),
        set(&NativeCall::owner, owner),
        set(&NativeCall::text, rc::gen::inRange<size_t>(0, std::size(kTexts))),
        set(&NativeCall::members,
            weightedElement<uint32_t>({{4, 1}, {2, 2}, {2, 3}, {2, 7}, {1, 9}, {1, 16}, {1, 0}})),
        set(&NativeCall::cores, rc::gen::inRange<size_t>(0, 5)));
}

rc::Gen<std::vector<NativeCall>> any_calls() {
    return rc::gen::scale(2.0, rc::gen::container<std::vector<NativeCall>>(any_call()));
}

// The same calls in every run unless somebody asks for others.
const bool kConfigured = [] {
    setenv("RC_PARAMS", "seed=2 max_success=300", 0);
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    setenv("TTMEM_SLOTS", std::to_string(kSlots).c_str(), 1);
    setenv("TTMEM_WRITERS", "2", 1);
    setenv("TTMEM_RING_RECORDS", "256", 1);
    return true;
}();

void expect_agreement(size_t names, const std::function<void(Pair&)>& prepare,
                      const std::vector<NativeCall>& calls) {
    const std::string text = run_in_child([&] {
        Pair pair(names);
        prepare(pair);
        for (const NativeCall& call : calls) {
            pair.step(call);
        }
        return pair.compare();
    });
    if (!text.empty()) {
        RC_FAIL(text);
    }
}

void open_one_set(Pair& pair) { pair.step({.what = What::open_set, .members = 1}); }

RC_GTEST_PROP(NativeApi, AgreesWithTheModelAfterAnyCalls, ()) {
    RC_ASSERT(kConfigured);
    expect_agreement(kManyNames, open_one_set, *any_calls());
}

RC_GTEST_PROP(NativeApi, AgreesWithTheModelWhereNamesRunOut, ()) {
    expect_agreement(kFewNames, open_one_set, *any_calls());
}

RC_GTEST_PROP(NativeApi, AgreesWithTheModelWhereClosedSetsAreUsedAgain, ()) {
    expect_agreement(
        kManyNames, [](Pair& pair) { pair.fill_sets(127, true); }, *any_calls());
}

RC_GTEST_PROP(NativeApi, AgreesWithTheModelWhereSetsRunOut, ()) {
    expect_agreement(
        kManyNames, [](Pair& pair) { pair.fill_sets(126, false); }, *any_calls());
}

RC_GTEST_PROP(NativeApi, AgreesWithTheModelWhereScopesAreTooDeep, ()) {
    const auto go_deep = [](Pair& pair) {
        open_one_set(pair);
        for (int i = 0; i < 62; ++i) {
            pair.step({.what = What::push});
        }
        pair.step({.what = What::allocate, .requested = 64, .reserved = 64});
        pair.step({.what = What::tag});
        pair.step({.what = What::tag});
    };
    expect_agreement(kManyNames, go_deep, *any_calls());
}

}  // namespace

}  // namespace ttmem::properties
