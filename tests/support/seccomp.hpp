// SPDX-License-Identifier: Apache-2.0
#pragma once

// Real failures: the kernel itself refuses a system call of the calling thread (and of those it makes later), for good.

#include <cstdint>
#include <initializer_list>

namespace ttmem::test {

// One argument of a call that decides whether it is meant; only its low 32 bits are looked at.
struct Argument {
    unsigned index;
    uint32_t value;
};

// From now on `call` fails with `error` where all `arguments` fit. Several rules add up. False: no such filter here.
bool refuse_system_call(long call, int error, std::initializer_list<Argument> arguments = {});

// From now on every call but these kills the process.
bool allow_only(std::initializer_list<long> calls);

}  // namespace ttmem::test
