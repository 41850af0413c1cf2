// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts the bytes of one connection into messages, although nothing in them says how long a message is. A connection keeps to
// one generation, and it is found out from its first message:
//
//   * a candidate end (72, 112, 144) counts when a header follows it: a type, and the process number of the first message;
//   * where nothing follows and the queue is drained, what is there is the message. A client's send of one message arrives
//     whole, so this is right, but it is not proven: what comes next may be no header but the rest of that message, and
//     then the choice is revised upward;
//   * at the end of the stream a whole prefix of a type that all generations have counts as a message.
//
// Old clients leave whatever was on their stack after byte 72 of a request, so nothing here rests on zeros.
//
// Pure: bytes in, messages out. Bounded: what waits is never longer than two messages.

#include <array>
#include <optional>

#include "sources/classic_wire/message.hpp"

namespace ttmem::sources::classic_wire {

// What a decoder tells. The generation is the best guess so far.
class Listener {
public:
    virtual void message(const Request& request, Generation generation) = 0;

    // The last message was longer than it was told to be: an answer given to it needs the bytes from `from` to `to` too.
    virtual void revised(Generation from, Generation to) = 0;

protected:
    ~Listener() = default;
};

class Decoder {
public:
    // Each may tell several messages. Nothing is told any more once the stream is broken: it is of no client.
    void feed(Bytes bytes, Listener& listener);

    // All that was sent so far has been fed.
    void drained(Listener& listener);

    // Nothing comes any more.
    void ended(Listener& listener);

    bool is_broken() const { return is_broken_; }

    // Whether it matters to be told when the queue is drained.
    bool wants_drained() const { return !is_certain_ && waiting_ > told_; }

    std::optional<Generation> generation() const { return generation_; }

private:
    enum class Fit : uint8_t { no, not_yet, yes };

    void cut(Bytes bytes, Listener& listener);
    void find_generation(Listener& listener);
    bool confirm_told();
    std::optional<Generation> decide(bool is_drained) const;
    std::optional<Generation> decide_without_process() const;
    void take(Generation generation, bool is_certain, Listener& listener);
    void drop_front(size_t count);
    Fit header_at(size_t offset) const;
    bool looks_like_header(size_t offset) const;

    std::array<unsigned char, 2 * kLongest> buffer_{};
    size_t waiting_ = 0;  // bytes in the buffer
    size_t told_ = 0;  // of these, the bytes of a message that was told already and may turn out to be longer
    std::optional<Generation> generation_;
    bool is_certain_ = false;  // a header followed, or it can't be longer
    bool is_broken_ = false;
};

}  // namespace ttmem::sources::classic_wire
