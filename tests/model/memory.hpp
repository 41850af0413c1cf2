// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

// The memory of the model: the values that a C++ atomic may return, as an abstract machine.
//
//   location x    modification order ->
//                 +-----------+   +-----------+   +-----------+
//                 | message 0 |   | message 4 |   | message 7 |      a message = value, timestamp, view
//                 | value 0   |   | value 5   |   | value 6   |      a view    = one timestamp per location
//                 +-----------+   +-----------+   +-----------+
//                                      ^ view of thread A             thread A may load 5 or 6, never 0 again;
//                                                                     its next store goes anywhere after 5
//
// * A load reads any message that is not older than the thread's view of the location. An acquire load then joins the
//   view that the message carries.
// * A store adds a message anywhere after the thread's view of the location (the order in which stores are executed is
//   not their modification order), but never between a read-modify-write and the message that it read. A release store
//   attaches the thread's whole view, a relaxed one only the message itself.
// * A read-modify-write reads a message that no other one has read, and its own message follows directly. It carries on
//   the view of the message it read (the release sequence), whatever its own order is.
// * seq_cst is treated as acq_rel, which is weaker than the language. consume is treated as acquire, which is stronger
//   than the standard requires, but is what every compiler does. A proof in the model therefore holds outside, and code
//   that needs the single total order of seq_cst is rejected.
//
// This is the RC11 model without fences and seq_cst. No load depends on a later store of its own thread (no load
// buffering): see README.md.

namespace ttmem::model {

inline constexpr std::size_t kMaxLocations = 64;

using LocationId = std::uint16_t;
using ThreadId = std::uint16_t;
using MessageId = std::uint32_t;
using Timestamp = std::uint32_t;

struct View {
    std::array<Timestamp, kMaxLocations> at{};

    void join(const View& other, std::size_t locations) {
        for (std::size_t i = 0; i < locations; ++i) {
            at[i] = std::max(at[i], other.at[i]);
        }
    }
};

enum class Action : std::uint8_t {
    load,
    store,
    exchange,
    add,
    subtract,
    bit_and,
    bit_or,
    bit_xor,
    compare_exchange,
    compare_exchange_weak,
};

struct Operation {
    Action action = Action::load;
    LocationId location = 0;
    std::memory_order order = std::memory_order_relaxed;
    std::memory_order failure_order = std::memory_order_relaxed;  // of a compare_exchange
    std::uint64_t operand = 0;
    std::uint64_t expected = 0;
    std::uint64_t mask = ~std::uint64_t{0};  // the value bits of the type
};

struct Message {
    std::uint64_t value = 0;
    Timestamp when = 0;
    MessageId id = 0;
    ThreadId author = 0;
    bool follows_its_source = false;  // written by a read-modify-write that read the preceding message
    View view;
};

enum class Effect : std::uint8_t { read, insert, modify };

/// One possible effect of an operation: read or modify the message at `index`, or insert one there.
struct Candidate {
    std::size_t index;
    Effect effect;
    bool spurious;  // a weak compare_exchange that fails although the value is the expected one
};

struct Outcome {
    std::uint64_t value_read = 0;
    std::uint64_t value_written = 0;
    MessageId read_from = 0;
    ThreadId read_author = 0;
    MessageId wrote = 0;
    std::uint32_t newer = 0;  // messages after the one that was read or written
    Effect effect = Effect::read;
};

bool is_acquire(std::memory_order order);
bool is_release(std::memory_order order);

class Memory {
public:
    void clear();

    LocationId add_location(std::uint64_t initial, View& creator, ThreadId author);

    std::size_t locations() const { return locations_; }

    MessageId next_message() const { return next_message_; }

    /// Collects all possible effects of `op` for a thread with view `view`, newest message first. Reads of messages
    /// with an id below `not_before` are left out.
    void collect(const Operation& op, const View& view, MessageId not_before, bool spurious,
                 std::vector<Candidate>& out) const;

    Outcome apply(const Operation& op, const Candidate& candidate, View& view, ThreadId author);

    /// The values of a location in modification order.
    std::vector<std::uint64_t> history(LocationId location) const;

private:
    bool is_taken(LocationId location, std::size_t index) const;
    Message& insert(LocationId location, std::size_t index, std::uint64_t value, ThreadId author);

    // Never shrinks, so that executions reuse the memory of earlier ones.
    std::vector<std::vector<Message>> messages_;
    std::size_t locations_ = 0;
    MessageId next_message_ = 0;
};

}  // namespace ttmem::model
