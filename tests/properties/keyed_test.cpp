// SPDX-License-Identifier: Apache-2.0

// Makes random calls of the AllocationClient, and the same calls on a model. Ledger, pools, history and every inexact
// counter must agree. Repeat a failure with the RC_PARAMS that it prints. Search for others with
// RC_PARAMS="seed=N max_success=5000".

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <vector>

#include "tests/properties/in_child.hpp"
#include "tests/properties/keyed_model.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/allocation_client.hpp"

namespace ttmem::properties {

using What = KeyedCall::What;
using Client = tt::tt_metal::AllocationClient;

// rapidcheck calls this by name to report a failure.
void showValue(const KeyedCall& call, std::ostream& out) {  // NOLINT(readability-identifier-naming)
    const auto type = static_cast<unsigned>(call.type);
    switch (call.what) {
        case What::allocate:
            out << "report_allocation(" << call.device << ", " << call.size << ", " << type << ", " << call.id
                << ")";
            break;
        case What::free:
            out << "report_deallocation(" << call.device << ", " << call.id << ")";
            break;
        case What::free_anywhere:
            out << "report_deallocation(" << call.id << ")";
            break;
        case What::allocate_cb:
            out << "report_cb_allocation(" << call.device << ", " << call.size << ", " << call.id << ")";
            break;
        case What::free_cb:
            out << "report_cb_deallocation(" << call.device << ", " << call.size << ", " << call.id << ")";
            break;
        case What::load_kernel:
            out << "report_kernel_load(" << call.device << ", " << call.size << ", " << call.id << ", "
                << type << ")";
            break;
        case What::unload_kernel:
            out << "report_kernel_unload(" << call.device << ", " << call.size << ", " << call.id << ")";
            break;
    }
    out << "\n";
}

namespace {

constexpr size_t kSlots = 32;

void report(const KeyedCall& call) {
    switch (call.what) {
        case What::allocate:
            return Client::report_allocation(call.device, call.size, call.type, call.id);
        case What::free:
            return Client::report_deallocation(call.device, call.id);
        case What::free_anywhere:
            return Client::report_deallocation(call.id);
        case What::allocate_cb:
            return Client::report_cb_allocation(call.device, call.size, call.id);
        case What::free_cb:
            return Client::report_cb_deallocation(call.device, call.size, call.id);
        case What::load_kernel:
            return Client::report_kernel_load(call.device, call.size, call.id, call.type);
        case What::unload_kernel:
            return Client::report_kernel_unload(call.device, call.size, call.id);
    }
}

std::string place_of(const segment::Reader& reader, const segment::SetTotals& set) {
    const auto devices = reader.devices();
    for (size_t i = 0; i < devices.size(); ++i) {
        if (set.set.members == uint64_t{1} << i && devices[i]) {
            return place_of_device(static_cast<int32_t>(devices[i]->logical_id));
        }
    }
    return "a set that is not of one device";
}

Facts facts_of(const segment::Reader& reader) {
    Facts facts;
    state_ledger(reader, place_of, facts);
    state_counters(reader, place_of, facts);
    state_inexact(reader, facts);
    state_history(reader, facts);
    for (const segment::Failure& failure : reader.failures()) {
        const bool known = failure.type == static_cast<uint8_t>(segment::FailureType::unknown_free);
        const auto device = failure.has_device != 0 ? std::optional<int64_t>(failure.device) : std::nullopt;
        facts.push_back(known ? unknown_free_fact(device, failure.address)
                              : "a failure that nobody reported");
    }
    return facts;
}

// Makes the calls, compares, ends all live allocations, and compares again. The second comparison shows wrong reference
// counts.
std::string compare(const std::vector<KeyedCall>& calls) {
    KeyedModel model(kSlots);
    Client::report_deallocation(0, 12'345);  // creates the segment, even if there are no calls
    model.apply({What::free, 0, 0, 0, 12'345});
    for (const KeyedCall& call : calls) {
        report(call);
        model.apply(call);
    }
    const auto reader = segment::Reader::open(test::open_segment_of(getpid()));
    if (!reader) {
        return "the segment " + reader.error().text;
    }
    if (std::string text = difference(model.facts(), facts_of(*reader)); !text.empty()) {
        return text;
    }
    while (const auto call = model.call_to_end_something()) {
        report(*call);
        model.apply(*call);
    }
    const std::string text = difference(model.facts(), facts_of(*reader));
    return text.empty() ? text : "after all was freed:\n" + text;
}

// Few distinct values, so that calls refer to the same allocations. Some values are at a limit.
rc::Gen<KeyedCall> any_call() {
    const auto what = rc::gen::weightedElement<What>({{8, What::allocate},
                                                      {7, What::free},
                                                      {2, What::free_anywhere},
                                                      {3, What::allocate_cb},
                                                      {3, What::free_cb},
                                                      {2, What::load_kernel},
                                                      {2, What::unload_kernel}});
    const auto device = rc::gen::weightedElement<int>({{8, 0}, {5, 1}, {2, 64}, {1, -1}});
    const auto size = rc::gen::weightedElement<uint64_t>(
        {{8, 64}, {8, 4096}, {1, 0}, {1, (uint64_t{1} << 40) - 1}, {1, uint64_t{1} << 40}, {1, UINT64_MAX}});
    const auto type = rc::gen::weightedElement<uint8_t>({{8, uint8_t{0}},
                                                         {8, uint8_t{1}},
                                                         {2, uint8_t{2}},
                                                         {2, uint8_t{3}},
                                                         {2, uint8_t{4}},
                                                         {1, uint8_t{5}},
                                                         {1, uint8_t{255}}});
    // Most calls use a few addresses. The others come from a range, so that they share chains of the client's index.
    const auto few = rc::gen::weightedElement<uint64_t>(
        {{4, 0}, {8, 0x1000}, {6, 0x2000}, {3, 0x3000}, {1, uint64_t{1} << 63}, {1, UINT64_MAX}});
    const auto id = rc::gen::weightedOneOf<uint64_t>({{6, few}, {1, rc::gen::inRange<uint64_t>(1, 64)}});
    return rc::gen::build<KeyedCall>(rc::gen::set(&KeyedCall::what, what),
                                     rc::gen::set(&KeyedCall::device, device),
                                     rc::gen::set(&KeyedCall::size, size),
                                     rc::gen::set(&KeyedCall::type, type), rc::gen::set(&KeyedCall::id, id));
}

rc::Gen<std::vector<KeyedCall>> any_calls() {
    return rc::gen::scale(2.0, rc::gen::container<std::vector<KeyedCall>>(any_call()));
}

// The same calls in every run, unless RC_PARAMS is set.
const bool kConfigured = [] {
    setenv("RC_PARAMS", "seed=2 max_success=300", 0);
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    setenv("TTMEM_SLOTS", std::to_string(kSlots).c_str(), 1);
    setenv("TTMEM_WRITERS", "2", 1);
    setenv("TTMEM_RING_RECORDS", "256", 1);
    setenv("TTMEM_NAMES", "16", 1);
    return true;
}();

RC_GTEST_PROP(AddressKeyedApi, AgreesWithTheModelAfterAnyCalls, ()) {
    RC_ASSERT(kConfigured);
    const auto calls = *any_calls();
    if (const std::string text = run_in_child([&] { return compare(calls); }); !text.empty()) {
        RC_FAIL(text);
    }
}

}  // namespace

}  // namespace ttmem::properties
