// SPDX-License-Identifier: Apache-2.0
#pragma once

// An array of plain values in pages of its own. Its memory is exactly bytes_for(count), it grows without a copy, and a shortage
// of memory is a result and not an exception.

#include <sys/mman.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "segment/layout.hpp"

namespace ttmem::sources::classic_wire {

template <class T>
class PageArray {
public:
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

    PageArray() = default;
    PageArray(const PageArray&) = delete;
    PageArray& operator=(const PageArray&) = delete;
    ~PageArray() {
        if (values_ != nullptr) {
            munmap(values_, bytes());
        }
    }
    void swap(PageArray& other) {
        std::swap(values_, other.values_);
        std::swap(size_, other.size_);
    }

    static constexpr uint64_t bytes_for(size_t count) {
        return segment::round_to_page(uint64_t{count} * sizeof(T));
    }

    // New values are all zero. False: no memory, and nothing has changed.
    bool grow(size_t count) {
        assert(count >= size_);
        if (bytes_for(count) != bytes()) {
            void* const pages = values_ == nullptr
                                    ? mmap(nullptr, bytes_for(count), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                    : mremap(values_, bytes(), bytes_for(count), MREMAP_MAYMOVE);
            if (pages == MAP_FAILED) {
                return false;
            }
            values_ = static_cast<T*>(pages);
        }
        size_ = count;
        return true;
    }

    size_t size() const { return size_; }
    uint64_t bytes() const { return bytes_for(size_); }
    T& operator[](size_t index) {
        assert(index < size_);
        return values_[index];
    }
    const T& operator[](size_t index) const {
        assert(index < size_);
        return values_[index];
    }
    T* begin() { return values_; }
    T* end() { return values_ + size_; }

private:
    T* values_ = nullptr;
    size_t size_ = 0;
};

}  // namespace ttmem::sources::classic_wire
