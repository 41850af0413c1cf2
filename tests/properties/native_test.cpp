// SPDX-License-Identifier: Apache-2.0

// Makes random calls of ttmem.h on one thread, and the same calls on a model. Sets, ledger, names, pools, history,
// failures and every inexact counter must agree. Repeat a failure with the RC_PARAMS that it prints. Search for others
// with RC_PARAMS="seed=N max_success=5000".

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/properties/in_child.hpp"
#include "tests/properties/native_pair.hpp"

namespace ttmem::properties {

using What = NativeCall::What;

namespace {

constexpr size_t kFewNames = 12;
constexpr size_t kManyNames = 1024;

// Few distinct values, so that calls refer to the same allocations. Some values are at a limit.
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
    // Most calls use a few programs. The others come from a range, so that they share chains of the client's index.
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
        set(&NativeCall::owner, owner), set(&NativeCall::text, rc::gen::inRange<size_t>(0, kTexts)),
        set(&NativeCall::members,
            weightedElement<uint32_t>({{4, 1}, {2, 2}, {2, 3}, {2, 7}, {1, 9}, {1, 16}, {1, 0}})),
        set(&NativeCall::cores, rc::gen::inRange<size_t>(0, 5)));
}

rc::Gen<std::vector<NativeCall>> any_calls() {
    return rc::gen::scale(2.0, rc::gen::container<std::vector<NativeCall>>(any_call()));
}

// The same calls in every run, unless RC_PARAMS is set.
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
