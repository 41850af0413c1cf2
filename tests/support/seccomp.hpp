// SPDX-License-Identifier: Apache-2.0
#pragma once

// Real failures: the kernel refuses a system call of the calling thread, and of threads that it creates later,
// permanently.

#include <cstdint>
#include <initializer_list>

namespace ttmem::test {

// A condition on an argument of a call. Only its low 32 bits are compared.
struct Argument {
    unsigned index;
    uint32_t value;
};

// From now on, `call` fails with `error` if all `arguments` match. Rules accumulate. Returns false if filters are
// unavailable.
bool refuse_system_call(long call, int error, std::initializer_list<Argument> arguments = {});

// From now on, every other call kills the process.
bool allow_only(std::initializer_list<long> calls);

}  // namespace ttmem::test
