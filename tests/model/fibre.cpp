// SPDX-License-Identifier: Apache-2.0
#include "tests/model/fibre.hpp"

#include <cstdint>
#include <cstdlib>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define TTMEM_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TTMEM_MODEL_ASAN 1
#endif
#endif

#ifdef TTMEM_MODEL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace ttmem::model {

namespace {

#ifdef TTMEM_MODEL_ASAN
// The stack bounds of the fibre that switched. The next fibre fills them in, because the main stack was not made here.
const void** leaving_bottom = nullptr;
std::size_t* leaving_bytes = nullptr;
#endif

}  // namespace

Fibre::Fibre(std::size_t stack_bytes) : stack_(new char[stack_bytes]), stack_bytes_(stack_bytes) {
    stack_bottom_ = stack_.get();
}

void Fibre::start(std::function<void()> body) {
    body_ = std::move(body);
#ifdef TTMEM_MODEL_ASAN
    // Frames that were abandoned leave poisoned memory behind.
    __asan_unpoison_memory_region(stack_.get(), stack_bytes_);
#endif
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = stack_bytes_;
    context_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    // makecontext passes only ints, so the pointer is split into two halves.
    makecontext(&context_, reinterpret_cast<void (*)()>(&Fibre::enter), 2, static_cast<unsigned>(self >> 32U),
                static_cast<unsigned>(self));
}

void Fibre::enter(unsigned high, unsigned low) {
#ifdef TTMEM_MODEL_ASAN
    __sanitizer_finish_switch_fiber(nullptr, leaving_bottom, leaving_bytes);
#endif
    auto* self = reinterpret_cast<Fibre*>((static_cast<std::uintptr_t>(high) << 32U) | low);
    self->body_();
    std::abort();
}

void Fibre::switch_to(Fibre& from, Fibre& to) {
#ifdef TTMEM_MODEL_ASAN
    void* fake_stack = nullptr;
    leaving_bottom = &from.stack_bottom_;
    leaving_bytes = &from.stack_bytes_;
    __sanitizer_start_switch_fiber(&fake_stack, to.stack_bottom_, to.stack_bytes_);
    swapcontext(&from.context_, &to.context_);
    __sanitizer_finish_switch_fiber(fake_stack, leaving_bottom, leaving_bytes);
#else
    swapcontext(&from.context_, &to.context_);
#endif
}

}  // namespace ttmem::model
