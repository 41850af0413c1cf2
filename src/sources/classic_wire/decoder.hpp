// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits the bytes of one connection into messages, although no message carries its length. All messages of a
// connection have one generation, which the decoder determines from the first message:
//
//   * a candidate end (72, 112, 144) is accepted if a header follows it: a type, and the process number of the first
//     message;
//   * if nothing follows and the queue is drained, the bytes so far are the message. A client's send of one message
//     arrives whole, so this is correct in practice, but not certain. If the next bytes turn out to be the rest of that
//     message, the generation is revised upward;
//   * at the end of the stream, a whole prefix of a type that all generations have counts as a message.
//
// Old clients leave bytes of their stack after byte 72 of a request, so the decoder never relies on zeros.
//
// The decoder does no I/O and buffers at most two messages.

#include <array>
#include <optional>

#include "sources/classic_wire/message.hpp"

namespace ttmem::sources::classic_wire {

// Receives the messages of a decoder. The generation is the best estimate so far.
class Listener {
public:
    virtual void message(const WireRequest& request, Generation generation) = 0;

    // The last message was longer than reported. Its answer also needs the bytes from `from` to `to`.
    virtual void revised(Generation from, Generation to) = 0;

protected:
    ~Listener() = default;
};

class Decoder {
public:
    // Each call may report several messages. A broken stream did not come from a client; nothing more is reported for
    // it.
    void feed(Bytes bytes, Listener& listener);

    // Call when everything sent so far has been fed.
    void drained(Listener& listener);

    // Call when the connection has ended.
    void ended(Listener& listener);

    bool is_broken() const { return is_broken_; }

    // Whether a call of drained() can report anything.
    bool wants_drained() const { return !is_certain_ && waiting_ > reported_; }

    std::optional<Generation> generation() const { return generation_; }

private:
    enum class Fit : uint8_t { no, not_yet, yes };

    void cut(Bytes bytes, Listener& listener);
    void find_generation(Listener& listener);
    bool confirm_reported();
    std::optional<Generation> decide(bool is_drained) const;
    std::optional<Generation> decide_without_process() const;
    void take(Generation generation, bool is_certain, Listener& listener);
    void drop_front(size_t count);
    Fit header_at(size_t offset) const;
    bool looks_like_header(size_t offset) const;

    std::array<unsigned char, 2 * kLongest> buffer_{};
    size_t waiting_ = 0;  // bytes in the buffer
    // The part of the buffer that was already reported as a message and may turn out to be longer.
    size_t reported_ = 0;
    std::optional<Generation> generation_;
    bool is_certain_ = false;  // a header followed, or the message can't be longer
    bool is_broken_ = false;
};

}  // namespace ttmem::sources::classic_wire
