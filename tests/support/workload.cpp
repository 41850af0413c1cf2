// SPDX-License-Identifier: Apache-2.0
#include "tests/support/workload.hpp"

#include <utility>

namespace ttmem::test {

using segment::AllocationKind;
using segment::Inexact;

namespace {

constexpr AllocationKind kBufferKinds[] = {AllocationKind::dram, AllocationKind::l1,
                                           AllocationKind::system_memory, AllocationKind::l1_small,
                                           AllocationKind::trace};
constexpr size_t kMostBuffers = 400;
constexpr size_t kMostScopes = 4;
const std::string kNames[] = {"decoder.0", "decoder.1", "ttnn::matmul", "ttnn::softmax", "kv_cache"};

uint8_t index_of(ttmem_set set) { return static_cast<uint8_t>(set & 0xff); }

template <class T>
T take_any(std::vector<T>& from, uint64_t number) {
    std::swap(from[number % from.size()], from.back());
    T item = std::move(from.back());
    from.pop_back();
    return item;
}

}  // namespace

void Exchange::put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
}

bool Exchange::take(Item& item) {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) {
        return false;
    }
    item = std::move(items_.back());
    items_.pop_back();
    return true;
}

std::vector<Item> Exchange::take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
}

Worker::Worker(uint64_t seed, uint32_t number, ttmem_set shared_set, ttmem_device own_device,
               Exchange& exchange)
    : rng_(seed + number),
      number_(number),
      shared_set_(shared_set),
      own_device_(own_device),
      exchange_(exchange),
      program_(uint64_t{number} << 32) {}

void Worker::work(uint64_t operations) {
    if (own_set_ == 0) {
        recycle_own_set();
    }
    for (uint64_t i = 0; i < operations; ++i) {
        const uint64_t what = random(200);
        if (what < 80) {
            buffers_.size() < kMostBuffers ? allocate_buffer() : free_one(buffers_);
        } else if (what < 140) {
            free_one(buffers_);
        } else if (what < 160) {
            exchange_one();
        } else if (what < 166) {
            allocate_cb();
        } else if (what < 170) {
            load_kernel();
        } else if (what < 173) {
            free_one(program_items_);
        } else if (what < 175) {
            end_program();
        } else if (what < 190) {
            scopes();
        } else if (what < 196) {
            tag();
        } else if (what < 199) {
            free_wrongly();
        } else {
            recycle_own_set();
        }
    }
    while (!scopes_.empty()) {
        ttmem_scope_pop();
        scopes_.pop_back();
    }
}

std::vector<Live> Worker::live() const {
    std::vector<Live> result;
    for (const auto* items : {&buffers_, &own_set_items_, &program_items_}) {
        for (const Item& item : *items) {
            result.push_back(item.live);
        }
    }
    return result;
}

std::string Worker::name() const {
    std::string path;
    for (const std::string& scope : scopes_) {
        path += (path.empty() ? "" : "/") + scope;
    }
    return path;
}

Live Worker::random_buffer() {
    Live live;
    live.owner = number_ << 32 | next_owner_++;
    live.address = random(1 << 30) * 32;
    live.requested = random(1 << 24);
    live.reserved = live.requested + random(4096);
    live.kind = kBufferKinds[random(std::size(kBufferKinds))];
    live.name = name();
    const uint64_t sort = random(10);
    live.flags = sort == 0   ? segment::AllocationFlag::planned
                 : sort == 1 ? segment::AllocationFlag::view
                             : segment::AllocationFlag::none;
    if (sort == 2) {
        live.flags = segment::AllocationFlag::reserved_unknown;
        live.reserved = live.requested;
    }
    return live;
}

void Worker::allocate_buffer() {
    const bool own = random(8) == 0;
    const ttmem_set set = own ? own_set_ : shared_set_;
    Item item{0, random_buffer()};
    item.live.set = index_of(set);
    const uint32_t flags = segment::adds_bytes(item.live.flags) ? 0u : uint32_t{item.live.flags.bits} << 8;
    const bool unknown = item.live.flags.has(segment::AllocationFlag::reserved_unknown);
    item.handle =
        ttmem_allocate(set, static_cast<uint32_t>(item.live.kind) | flags, item.live.address,
                       item.live.requested, unknown ? TTMEM_UNKNOWN : item.live.reserved, item.live.owner);
    ++events;
    (own ? own_set_items_ : buffers_).push_back(std::move(item));
}

void Worker::allocate_cb() {
    const auto x = static_cast<unsigned>(random(8));
    const ttmem_cores cores = rectangle(0, 0, x, static_cast<unsigned>(random(8)));
    const bool global = random(4) == 0;
    Item item;
    item.live = random_buffer();
    item.live.owner = program_;
    item.live.kind = AllocationKind::cb;
    item.live.set = index_of(shared_set_);
    item.live.flags = global ? segment::AllocationFlag::view : segment::AllocationFlag::none;
    item.live.reserved = item.live.requested * count_cores(cores);
    item.live.cores = mask_of(cores);
    item.handle = ttmem_allocate_cb(shared_set_, program_, item.live.address, item.live.requested, &cores,
                                    global ? TTMEM_VIEW : 0);
    ++events;
    program_items_.push_back(std::move(item));
}

void Worker::load_kernel() {
    Item item;
    item.live.kind =
        static_cast<AllocationKind>(static_cast<uint64_t>(AllocationKind::kernel_application) + random(3));
    for (const Item& known : program_items_) {
        if (known.live.kind == item.live.kind) {
            // Loads a kernel that is already loaded, which must change nothing.
            ttmem_load_kernel(shared_set_, program_, static_cast<ttmem_kind>(item.live.kind),
                              random(1 << 20));
            return;
        }
    }
    item.live.owner = item.live.address = program_;
    item.live.requested = item.live.reserved = random(1 << 20);
    item.live.set = index_of(shared_set_);
    item.live.name = name();
    item.handle = ttmem_load_kernel(shared_set_, program_, static_cast<ttmem_kind>(item.live.kind),
                                    item.live.requested);
    ++events;
    program_items_.push_back(std::move(item));
}

void Worker::free_one(std::vector<Item>& from) {
    if (from.empty()) {
        return;
    }
    const Item item = take_any(from, rng_());
    ttmem_free(item.handle);
    ++events;
    if (freed_.size() < 64) {
        freed_.push_back(item.handle);
    } else {
        freed_[random(64)] = item.handle;
    }
}

void Worker::exchange_one() {
    if (!buffers_.empty()) {
        exchange_.put(take_any(buffers_, rng_()));
    }
    if (Item item; exchange_.take(item)) {
        ttmem_free(item.handle);
        ++events;
    }
}

void Worker::end_program() {
    ttmem_program_gone(program_);
    events += program_items_.size();
    program_items_.clear();
    ++program_;
}

void Worker::scopes() {
    if (scopes_.size() < kMostScopes && random(2) == 0) {
        scopes_.push_back(kNames[random(std::size(kNames))]);
        ttmem_scope_push(scopes_.back().c_str());
    } else if (!scopes_.empty()) {
        ttmem_scope_pop();
        scopes_.pop_back();
    }
}

void Worker::tag() {
    if (buffers_.empty()) {
        return;
    }
    Item& item = buffers_[random(buffers_.size())];
    if (item.live.name.size() < 36) {  // nested tags would fill the table of names
        const std::string& tag = kNames[random(std::size(kNames))];
        ttmem_tag(item.handle, tag.c_str());
        item.live.name += (item.live.name.empty() ? "" : "/") + tag;
    }
}

void Worker::free_wrongly() {
    if (!freed_.empty() && random(2) == 0) {
        ttmem_free(freed_[random(freed_.size())]);
        ++inexact[static_cast<size_t>(Inexact::double_free)];
    } else {
        ttmem_allocate(0, TTMEM_DRAM, 0, 1, 1, 0);
        ++inexact[static_cast<size_t>(Inexact::unknown_set)];
    }
}

// Closing a set ends each allocation in it with one event, and is an event itself. So is opening a set.
void Worker::recycle_own_set() {
    if (own_set_ != 0) {
        ttmem_close_set(own_set_);
        events += own_set_items_.size() + 1;
        own_set_items_.clear();
    }
    own_set_ = ttmem_open_set(&own_device_, 1, "of one worker");
    ++events;
}

}  // namespace ttmem::test
