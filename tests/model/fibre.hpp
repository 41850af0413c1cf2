// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace ttmem::model {

/// A stack and a place in a program on it: the threads of the model take turns on one real thread.
///
/// A fibre that is started anew before its body has returned simply forgets the old one. Nothing on its stack
/// is destroyed, so a body keeps nothing there that owns something.
class Fibre {
public:
    /// The context that is running now, as a place to come back to.
    Fibre() = default;

    /// A fibre with a stack of its own.
    explicit Fibre(std::size_t stack_bytes);

    Fibre(const Fibre&) = delete;
    Fibre& operator=(const Fibre&) = delete;

    /// Prepares `body` to run at the next switch to this fibre. It must never return: its last act is a
    /// switch.
    void start(std::function<void()> body);

    /// Leaves `from`, which is the running one, and goes on with `to`.
    static void switch_to(Fibre& from, Fibre& to);

private:
    static void enter(unsigned high, unsigned low);

    ucontext_t context_{};
    std::unique_ptr<char[]> stack_;
    std::size_t stack_bytes_ = 0;
    const void* stack_bottom_ = nullptr;  // as the address sanitizer wants to know it
    std::function<void()> body_;
};

}  // namespace ttmem::model
