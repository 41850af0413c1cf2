// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of the calls of ttmem.h for one thread, in the simplest form. Sets are identified by their index, which
// is the low byte of a ttmem_set, and allocations by a number that the model assigns.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/properties/facts.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::properties {

// The tree of names, with room for N names including the empty one.
class NameModel {
public:
    NameModel(size_t room, InexactCounts& inexact) : room_(room), inexact_(inexact) {}

    uint32_t intern(const std::string& text, uint32_t parent);
    std::string path(uint32_t id) const;
    size_t depth(uint32_t id) const;

private:
    size_t room_;
    InexactCounts& inexact_;
    std::map<std::pair<uint32_t, std::string>, uint32_t> ids_;
};

class NativeModel {
public:
    using Id = uint64_t;
    using SetIndex = std::optional<uint32_t>;  // absent: a set that is not open

    NativeModel(size_t slots, size_t names) : slots_(slots), names_(names, inexact_) {}
    NativeModel(const NativeModel&) = delete;
    NativeModel& operator=(const NativeModel&) = delete;

    SetIndex open_set(const std::vector<ttmem_device>& members, const std::string& label);
    void close_set(SetIndex set);
    void clear_set(SetIndex set);

    std::optional<Id> allocate(SetIndex set, uint32_t kind_and_flags, const Entry& entry);
    std::optional<Id> allocate_cb(SetIndex set, const Entry& entry, const ttmem_cores* cores, uint32_t flags);
    std::optional<Id> load_kernel(SetIndex set, uint32_t kind, const Entry& entry);
    void free(Id id);
    void free_something_unknown();
    void program_gone(uint64_t program);

    void push(const std::string& name);
    void pop();
    void tag(Id id, const std::string& name);

    void fail(SetIndex set, const ttmem_out_of_memory& failure);
    void clash(SetIndex set, const ttmem_cb_clash& clash, std::optional<Id> in_the_way);

    bool is_live(Id id) const { return live_.count(id) != 0; }
    Facts facts() const;

private:
    struct Set {
        uint64_t members = 0;
        uint32_t label = 0;
        uint64_t closed = 0;  // the number of closes so far when it was closed; 0: open
    };
    struct Live {
        uint32_t set = 0;
        Entry entry;
        uint32_t name = 0;
    };

    void count(segment::Inexact what) { ++inexact_[static_cast<uint32_t>(what)]; }
    bool describe(SetIndex set, uint32_t kind_and_flags, Entry& entry);
    std::optional<Id> record(uint32_t set, const Entry& entry);
    std::vector<uint32_t> divide(uint64_t members) const;
    void end(Id id);
    void end_all_of(uint32_t set);
    SetIndex index_for_new_set() const;
    Entry named(const Live& live) const;
    uint32_t innermost() const { return scopes_.empty() ? 0 : scopes_.back(); }

    size_t slots_;
    InexactCounts inexact_{};
    NameModel names_;
    std::vector<Set> sets_;
    uint64_t closes_ = 0;
    std::map<Id, Live> live_;  // in the order of allocation
    Id next_id_ = 1;
    Counters counters_;
    std::vector<uint32_t> scopes_;  // the current name in each
    uint32_t too_deep_ = 0;         // scopes beyond the maximum depth
    uint64_t events_ = 0;
    std::map<segment::FailureType, std::vector<std::string>> failures_;
};

std::string place_of_set(uint32_t index);
std::string set_fact(uint32_t index, uint64_t members, bool is_open, const std::string& label);

// Formats a failure. `blocker` is the fact of the allocation in the way.
std::string failure_fact(uint32_t set, uint64_t members, const ttmem_out_of_memory& failure,
                         const std::string& name);
std::string clash_fact(uint32_t set, uint64_t members, const ttmem_cb_clash& clash, const std::string& name,
                       const std::string& blocker);
std::string blocker_fact(const Entry& entry);

}  // namespace ttmem::properties
