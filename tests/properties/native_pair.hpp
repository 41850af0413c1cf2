// SPDX-License-Identifier: Apache-2.0
#pragma once

// A call of ttmem.h as a value, and a pair of client and model that both execute it.

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tests/properties/native_model.hpp"

namespace ttmem::properties {

// One call. `set` and `handle` refer to results of earlier calls, counted from the newest. A reference beyond the
// oldest result passes 0.
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
    uint32_t members = 0;  // bit i: device i; bits above the known devices are unknown ones
    size_t cores = 0;      // 0: unknown
};

// rapidcheck calls this by name to report a failure.
void showValue(const NativeCall& c, std::ostream& out);  // NOLINT(readability-identifier-naming)

constexpr size_t kSlots = 32;
constexpr size_t kTexts = 6;  // number of texts that a call can choose from

// Executes each call on a client and a model.
class Pair {
public:
    explicit Pair(size_t names);

    // Opens `count` sets, and closes them if `close` is true, so that the table of sets is nearly full.
    void fill_sets(size_t count, bool close);

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
    void fail(const NativeCall& call);
    void clash(const NativeCall& call);
    Facts facts_of_segment(const segment::Reader& reader) const;

    NativeModel model_;
    std::vector<Set> sets_;
    std::vector<Handle> handles_;
    std::string problem_;
};

}  // namespace ttmem::properties
