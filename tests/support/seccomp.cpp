// SPDX-License-Identifier: Apache-2.0
#include "tests/support/seccomp.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <vector>

namespace ttmem::test {

namespace {

// The macros of the kernel's header contain old-style casts. These functions build the same four numbers.
sock_filter statement(unsigned code, uint32_t k) { return {static_cast<uint16_t>(code), 0, 0, k}; }

sock_filter jump_if_equal(uint32_t value, size_t if_true, size_t if_false) {
    return {BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint8_t>(if_true), static_cast<uint8_t>(if_false), value};
}

sock_filter load(size_t offset) { return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }

bool install(std::vector<sock_filter>& program) {
    sock_fprog filter{};
    filter.len = static_cast<uint16_t>(program.size());
    filter.filter = program.data();
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}  // namespace

bool refuse_system_call(long call, int error, std::initializer_list<Argument> arguments) {
    std::vector<sock_filter> program;
    // Two instructions per argument follow, then the refusal. A mismatch jumps past it.
    size_t left = 2 * arguments.size() + 1;
    program.push_back(load(offsetof(seccomp_data, nr)));
    program.push_back(jump_if_equal(static_cast<uint32_t>(call), 0, left));
    for (const Argument& argument : arguments) {
        left -= 2;
        program.push_back(load(offsetof(seccomp_data, args) + argument.index * sizeof(uint64_t)));
        program.push_back(jump_if_equal(argument.value, 0, left));
    }
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return install(program);
}

bool allow_only(std::initializer_list<long> calls) {
    std::vector<sock_filter> program;
    program.push_back(load(offsetof(seccomp_data, nr)));
    size_t left = calls.size();
    for (const long call : calls) {
        program.push_back(jump_if_equal(static_cast<uint32_t>(call), left, 0));
        --left;
    }
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return install(program);
}

}  // namespace ttmem::test
