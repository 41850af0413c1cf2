// SPDX-License-Identifier: Apache-2.0
#include "observer/memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace ttmem::observer {

size_t read_memory(const void* from, void* to, size_t size) {
    int ends[2];
    if (from == nullptr || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return 0;
    }
    const base::Descriptor out(ends[0]);
    const base::Descriptor in(ends[1]);
    const ssize_t readable = write(in.get(), from, size);
    const ssize_t copied = readable > 0 ? read(out.get(), to, static_cast<size_t>(readable)) : 0;
    return copied > 0 ? static_cast<size_t>(copied) : 0;
}

const void* first_word(const void* object) {
    const void* word = nullptr;
    return read_memory(object, &word, sizeof word) == sizeof word ? word : nullptr;
}

}  // namespace ttmem::observer
