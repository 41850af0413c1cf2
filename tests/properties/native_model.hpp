// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the calls of ttmem.h mean for one thread, said as simply as it can be said. Sets are named by their index, the
// low byte of a ttmem_set; allocations by a number of the model's own.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/properties/facts.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::properties {

// The tree of names, with room for so many, the empty one included.
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
    using SetIndex = std::optional<uint32_t>;  // nothing: a set that is not open

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

    void fail(segment::FailureType type, SetIndex set, const ttmem_failure& failure,
              std::optional<Id> in_the_way);

    bool is_live(Id id) const { return live_.count(id) != 0; }
    Facts facts() const;

private:
    struct Set {
        uint64_t members = 0;
        uint32_t label = 0;
        uint64_t closed = 0;  // when, counted in closes; 0: open
    };
    struct Live {
        uint32_t set = 0;
        Entry entry;
        uint32_t name = 0;
    };

    void count(segment::Inexact what) { ++inexact_[static_cast<uint32_t>(what)]; }
    bool describe(SetIndex set, uint32_t kind_and_flags, Entry& entry);
    std::optional<Id> record(uint32_t set, const Entry& entry);
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
    std::map<Id, Live> live_;  // in the order of their beginning
    Id next_id_ = 1;
    Counters counters_;
    std::vector<uint32_t> scopes_;  // the name in force in each
    uint32_t too_deep_ = 0;         // opened inside the last of them
    uint64_t events_ = 0;
    std::map<segment::FailureType, std::vector<std::string>> failures_;
};

std::string place_of_set(uint32_t index);
std::string set_fact(uint32_t index, uint64_t members, bool is_open, const std::string& label);

// What a failure says; `blocker` is the fact of what was in the way.
std::string failure_fact(segment::FailureType type, uint32_t set, uint64_t members,
                         const ttmem_failure& failure, const std::string& name, const std::string& blocker);
std::string blocker_fact(const Entry& entry);

}  // namespace ttmem::properties
