// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace ttmem::model {

/// A stack and a position in a program on it. The threads of the model take turns on one real thread.
///
/// A fibre that is restarted before its body has returned abandons the old body. Nothing on its stack is destroyed, so
/// a body must not keep objects there that own resources.
class Fibre {
public:
    /// The context that is running now, as a target to switch back to.
    Fibre() = default;

    /// A fibre with its own stack.
    explicit Fibre(std::size_t stack_bytes);

    Fibre(const Fibre&) = delete;
    Fibre& operator=(const Fibre&) = delete;

    /// Prepares `body` to run at the next switch to this fibre. It must never return: its last action is a switch.
    void start(std::function<void()> body);

    /// Leaves `from`, which is the running one, and continues `to`.
    static void switch_to(Fibre& from, Fibre& to);

private:
    static void enter(unsigned high, unsigned low);

    ucontext_t context_{};
    std::unique_ptr<char[]> stack_;
    std::size_t stack_bytes_ = 0;
    const void* stack_bottom_ = nullptr;  // in the form that AddressSanitizer needs
    std::function<void()> body_;
};

}  // namespace ttmem::model
