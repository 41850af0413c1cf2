// SPDX-License-Identifier: Apache-2.0

// A program that tests start. It creates its own segment, reports one allocation, and prints what it finds.

#include <unistd.h>

#include <cstdio>

#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"

int main() {
    using namespace ttmem::test;
    const ttmem_set set = make_set();
    ttmem_allocate(set, TTMEM_DRAM, 1, 2, 3, 4);
    const ttmem::segment::Reader reader = own_reader();
    std::printf("%u descriptor%s, %s pid, %zu live\n", count_own_descriptors(),
                count_own_descriptors() == 1 ? "" : "s",
                reader.pid() == static_cast<uint32_t>(getpid()) ? "own" : "another's",
                ledger_of(reader).size());
    return 0;
}
