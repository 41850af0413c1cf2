// SPDX-License-Identifier: Apache-2.0
#include "observer/buffer_ids.hpp"

#include <algorithm>

#include "observer/memory.hpp"
#include "observer/thread_data.hpp"

namespace ttmem::observer {

namespace {

constexpr size_t kFirstWord = 12;  // above the fields at known places
constexpr size_t kWords = 96;      // a buffer has up to 69 words
constexpr unsigned kConfirmations = 3;

}  // namespace

uint64_t BufferIds::of(const metal::Buffer* buffer) {
    ThreadData& data = thread_data();
    if (data.buffer_id_place == 0) {
        const std::lock_guard lock(mutex_);
        if (place_ == 0) {
            return learn_from(buffer);
        }
        data.buffer_id_place = place_;
    }
    return value_at<uint64_t>(buffer, data.buffer_id_place);
}

uint64_t BufferIds::learn_from(const metal::Buffer* buffer) {
    if (metal_.buffer_next_id == nullptr) {
        return 0;
    }
    const uint64_t id = __atomic_load_n(metal_.buffer_next_id, __ATOMIC_RELAXED) - 1;
    if (id == 0) {
        return 0;  // many words are 0
    }
    uint64_t words[kWords] = {};
    const size_t count = read_memory(buffer, words, sizeof words) / sizeof words[0];
    std::vector<size_t> places;
    for (size_t word = kFirstWord; word < count; ++word) {
        if (words[word] == id) {
            places.push_back(word * sizeof words[0]);
        }
    }
    if (confirmations_ != 0) {
        std::erase_if(places, [&](size_t place) {
            return std::find(candidates_.begin(), candidates_.end(), place) == candidates_.end();
        });
    }
    if (places.empty()) {
        return 0;  // another thread made a buffer meanwhile
    }
    candidates_ = std::move(places);
    if (++confirmations_ >= kConfirmations && candidates_.size() == 1) {
        place_ = candidates_.front();
    }
    return id;
}

}  // namespace ttmem::observer
