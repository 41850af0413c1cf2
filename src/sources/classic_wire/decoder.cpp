// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/decoder.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace ttmem::sources::classic_wire {

namespace {

// With this many bytes, each candidate is confirmed or excluded.
constexpr size_t kAllDecided = kLongest + kHeaderBytes;
constexpr int32_t kLastPlausibleDevice = 4095;

int32_t number_at(const unsigned char* bytes) {
    int32_t number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

}  // namespace

void Decoder::feed(Bytes bytes, Listener& listener) {
    while (!bytes.empty() && !is_broken_) {
        if (is_certain_ && waiting_ == 0) {
            return cut(bytes, listener);
        }
        // Enough bytes to complete the buffered message, or to determine its generation.
        const size_t wanted = is_certain_ ? size_of(*generation_) : kAllDecided;
        assert(waiting_ < wanted && wanted <= buffer_.size());
        const size_t taken = std::min(bytes.size(), wanted - waiting_);
        std::copy_n(bytes.begin(), taken, buffer_.begin() + static_cast<std::ptrdiff_t>(waiting_));
        waiting_ += taken;
        bytes = bytes.subspan(taken);
        if (!is_certain_) {
            find_generation(listener);
        } else if (waiting_ == wanted) {
            take(*generation_, true, listener);
        }
    }
}

// The common case is whole messages, which are decoded in place.
void Decoder::cut(Bytes bytes, Listener& listener) {
    assert(is_certain_ && waiting_ == 0);
    const size_t size = size_of(*generation_);
    for (; bytes.size() >= size; bytes = bytes.subspan(size)) {
        listener.message(decode_request(bytes), *generation_);
    }
    std::copy(bytes.begin(), bytes.end(), buffer_.begin());
    waiting_ = bytes.size();
}

// Checks for a header of the same client at `offset`, as far as the buffered bytes reach.
Decoder::Fit Decoder::header_at(size_t offset) const {
    if (offset < waiting_ && !is_type(buffer_[offset])) {
        return Fit::no;
    }
    const size_t process = offset + kProcessOffset;
    for (size_t i = 0; i < sizeof(int32_t) && process + i < waiting_; ++i) {
        if (buffer_[process + i] != buffer_[kProcessOffset + i]) {
            return Fit::no;
        }
    }
    return waiting_ >= offset + kHeaderBytes ? Fit::yes : Fit::not_yet;
}

// Accepts a header of any process: a forked child that uses its parent's connection sends its own process number.
bool Decoder::looks_like_header(size_t offset) const {
    const int32_t device = number_at(&buffer_[offset + kDeviceOffset]);
    return waiting_ >= offset + kHeaderBytes && is_type(buffer_[offset]) && device >= -1 &&
           device <= kLastPlausibleDevice && number_at(&buffer_[offset + kProcessOffset]) >= 0;
}

void Decoder::find_generation(Listener& listener) {
    if (waiting_ != 0 && !is_type(buffer_[0])) {
        is_broken_ = true;
        return;
    }
    while (!is_certain_ && waiting_ > reported_) {
        if (reported_ != 0 && confirm_reported()) {
            break;
        }
        const auto decided = decide(false);
        if (!decided) {
            is_broken_ = waiting_ == kAllDecided;
            return;
        }
        take(*decided, true, listener);
    }
    // The messages after the first have the same generation.
    while (is_certain_ && waiting_ >= size_of(*generation_)) {
        take(*generation_, true, listener);
    }
}

// A header after the reported message confirms its generation.
bool Decoder::confirm_reported() {
    if (header_at(reported_) == Fit::yes || looks_like_header(reported_)) {
        is_certain_ = true;
        drop_front(reported_);
    }
    return is_certain_;
}

// Returns the shortest candidate that a header follows, or the only remaining one. Candidates shorter than the reported
// message are excluded.
std::optional<Generation> Decoder::decide(bool is_drained) const {
    std::optional<Generation> possible;
    size_t candidates = 0;
    for (const Generation generation : kGenerations) {
        const size_t size = size_of(generation);
        if (size < reported_ || !has_type(generation, buffer_[0])) {
            continue;
        }
        const bool is_exact = is_drained && size == waiting_;
        const Fit fit = header_at(size);
        if (size == reported_ && fit == Fit::not_yet) {
            return std::nullopt;  // the bytes may start the next message or continue this one
        }
        if (size == reported_ || fit == Fit::no) {
            continue;
        }
        if (fit == Fit::yes || is_exact) {
            return generation;
        }
        possible = possible ? possible : generation;
        ++candidates;
    }
    if (candidates == 1 && waiting_ >= size_of(*possible) && waiting_ != size_of(*possible)) {
        return possible;
    }
    return candidates == 0 ? decide_without_process() : std::nullopt;
}

// Used if no candidate is followed by a header of the same process.
std::optional<Generation> Decoder::decide_without_process() const {
    for (const Generation generation : kGenerations) {
        if (size_of(generation) > reported_ && has_type(generation, buffer_[0]) &&
            looks_like_header(size_of(generation))) {
            return generation;
        }
    }
    return std::nullopt;
}

// Removes the first message, which has this generation, and reports it.
void Decoder::take(Generation generation, bool is_certain, Listener& listener) {
    // A message that was reported already turned out to be longer.
    assert(waiting_ >= size_of(generation) && reported_ < size_of(generation));
    generation_ = generation;
    is_certain_ = is_certain || generation == Generation::bytes_144;
    if (reported_ != 0) {
        listener.revised(static_cast<Generation>(reported_), generation);
    } else {
        listener.message(decode_request(Bytes(buffer_).first(size_of(generation))), generation);
    }
    reported_ = 0;
    if (is_certain_) {
        drop_front(size_of(generation));
    } else {
        reported_ = size_of(generation);
    }
}

void Decoder::drop_front(size_t count) {
    assert(count <= waiting_);
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(count),
              buffer_.begin() + static_cast<std::ptrdiff_t>(waiting_), buffer_.begin());
    waiting_ -= count;
    reported_ = 0;
}

void Decoder::drained(Listener& listener) {
    if (is_broken_ || !wants_drained()) {
        return;
    }
    if (const auto decided = decide(true)) {
        take(*decided, false, listener);
    }
}

void Decoder::ended(Listener& listener) {
    drained(listener);
    const bool is_prefix =
        !is_certain_ && reported_ == 0 && waiting_ >= kShortest && !is_broken_ && buffer_[0] <= kLastTypeOf72;
    if (is_prefix) {
        take(Generation::bytes_72, true, listener);
    }
    waiting_ = 0;
    reported_ = 0;
}

}  // namespace ttmem::sources::classic_wire
