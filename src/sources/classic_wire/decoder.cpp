// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/decoder.hpp"

#include <algorithm>
#include <cstring>

namespace ttmem::sources::classic_wire {

namespace {

constexpr size_t kAllDecided =
    kLongest + kHeaderBytes;  // with so many bytes every candidate fits or does not
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
        // Enough to complete what waits, or to tell of which generation it is.
        const size_t wanted = is_certain_ ? size_of(*generation_) : kAllDecided;
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

// The common case: whole messages, where they lie.
void Decoder::cut(Bytes bytes, Listener& listener) {
    const size_t size = size_of(*generation_);
    for (; bytes.size() >= size; bytes = bytes.subspan(size)) {
        listener.message(decode_request(bytes), *generation_);
    }
    std::copy(bytes.begin(), bytes.end(), buffer_.begin());
    waiting_ = bytes.size();
}

// Whether a header of the same client stands there, as far as there are bytes to tell.
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

// A header of whatever process. A forked child that goes on with its parent's connection names another one.
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
    while (!is_certain_ && waiting_ > told_) {
        if (told_ != 0 && confirm_told()) {
            break;
        }
        const auto decided = decide(false);
        if (!decided) {
            is_broken_ = waiting_ == kAllDecided;
            return;
        }
        take(*decided, true, listener);
    }
    // What follows the first message is of the same generation.
    while (is_certain_ && waiting_ >= size_of(*generation_)) {
        take(*generation_, true, listener);
    }
}

// What came after a message that was told: the next one? Then its generation is certain.
bool Decoder::confirm_told() {
    if (header_at(told_) == Fit::yes || looks_like_header(told_)) {
        is_certain_ = true;
        drop_front(told_);
    }
    return is_certain_;
}

// The shortest candidate that a header follows, or the only one that is left. Shorter ones than the told one are out.
std::optional<Generation> Decoder::decide(bool is_drained) const {
    std::optional<Generation> possible;
    size_t candidates = 0;
    for (const Generation generation : kGenerations) {
        const size_t size = size_of(generation);
        if (size < told_ || !has_type(generation, buffer_[0])) {
            continue;
        }
        const bool is_exact = is_drained && size == waiting_;
        const Fit fit = header_at(size);
        if (size == told_ && fit == Fit::not_yet) {
            return std::nullopt;  // it may be the next message, or the rest of this one
        }
        if (size == told_ || fit == Fit::no) {
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

// No candidate is followed by a header of the same process.
std::optional<Generation> Decoder::decide_without_process() const {
    for (const Generation generation : kGenerations) {
        if (size_of(generation) > told_ && has_type(generation, buffer_[0]) &&
            looks_like_header(size_of(generation))) {
            return generation;
        }
    }
    return std::nullopt;
}

// The message at the front is of that generation.
void Decoder::take(Generation generation, bool is_certain, Listener& listener) {
    generation_ = generation;
    is_certain_ = is_certain || generation == Generation::bytes_144;
    if (told_ != 0) {
        listener.revised(static_cast<Generation>(told_), generation);
    } else {
        listener.message(decode_request(Bytes(buffer_).first(size_of(generation))), generation);
    }
    told_ = 0;
    if (is_certain_) {
        drop_front(size_of(generation));
    } else {
        told_ = size_of(generation);
    }
}

void Decoder::drop_front(size_t count) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(count),
              buffer_.begin() + static_cast<std::ptrdiff_t>(waiting_), buffer_.begin());
    waiting_ -= count;
    told_ = 0;
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
        !is_certain_ && told_ == 0 && waiting_ >= kShortest && !is_broken_ && buffer_[0] <= kLastTypeOf72;
    if (is_prefix) {
        take(Generation::bytes_72, true, listener);
    }
    waiting_ = 0;
    told_ = 0;
}

}  // namespace ttmem::sources::classic_wire
