// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of the calls of tt::tt_metal::AllocationClient, in the simplest form: a list of live allocations, oldest
// first, which is scanned completely for every call.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/properties/facts.hpp"

namespace ttmem::properties {

struct KeyedCall {
    enum class What { allocate, free, free_anywhere, allocate_cb, free_cb, load_kernel, unload_kernel };

    What what = What::allocate;
    int device = 0;
    uint64_t size = 0;
    uint8_t type = 0;  // of the buffer or kernel
    uint64_t id = 0;   // address or kernel id
};

class KeyedModel {
public:
    explicit KeyedModel(size_t slots) : slots_(slots) {}

    void apply(const KeyedCall& call);
    Facts facts() const;

    // A call that ends a live allocation, or nothing if none is live. Each reference needs its own call.
    std::optional<KeyedCall> call_to_end_something() const;

private:
    enum class Class { buffer, cb, kernel };
    struct Live {
        int device = 0;
        Class what = Class::buffer;
        Entry entry;
        uint64_t references = 1;
    };
    struct UnknownFree {
        std::optional<int> device;
        uint64_t id = 0;
    };

    void begin(const KeyedCall& call, Class what);
    void end(const KeyedCall& call, Class what);
    void end_anywhere(const KeyedCall& call);
    void record(const KeyedCall& call, Class what, uint32_t kind);
    void release(size_t index);
    void count(segment::Inexact what) { ++inexact_[static_cast<uint32_t>(what)]; }
    void count_unknown_free(std::optional<int> device, uint64_t id);

    size_t slots_;
    std::vector<Live> live_;  // oldest first
    std::map<int, bool> seen_;
    Counters counters_;
    InexactCounts inexact_{};
    std::vector<UnknownFree> unknown_frees_;
    uint64_t events_ = 0;
};

std::string place_of_device(int64_t device);
std::string unknown_free_fact(std::optional<int64_t> device, uint64_t id);

}  // namespace ttmem::properties
