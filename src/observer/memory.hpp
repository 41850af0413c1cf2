// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads of the runtime's memory by address.

#include <cstddef>
#include <cstring>

namespace ttmem::observer {

// The value at an offset in an object whose layout was checked.
template <class Value>
Value value_at(const void* object, size_t offset) {
    Value value;
    // The value may be a pointer. NOLINTNEXTLINE(bugprone-sizeof-expression)
    std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof(Value));
    return value;
}

// Copies memory that may not be mapped: the kernel checks the addresses. Returns the number of bytes copied. `size` is at
// most 4096.
size_t read_memory(const void* from, void* to, size_t size);

// The first word of an object, null if it can't be read: the address of the vtable, if the object has one.
const void* first_word(const void* object);

}  // namespace ttmem::observer
