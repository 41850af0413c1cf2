// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tt-metal calls to report its device memory to ttmem. Each function returns at once where
// tracking is off, throws nothing, and never changes what tt-metal does. integrate.py inserted the calls and removes them.
//
// A guard is the first local variable of the function that it watches, so its destructor runs after everything else there,
// the function's locks included.

#include <cstdint>
#include <string_view>

namespace tt::tt_metal {
class AllocatorImpl;
class Buffer;
class CoreRangeSet;
class IDevice;
class Program;
namespace detail {
class ProgramImpl;
}  // namespace detail
namespace distributed {
class MeshCommandQueue;
class MeshWorkload;
}  // namespace distributed
}  // namespace tt::tt_metal

namespace tt::tt_metal::ttmem_reporter {

// The op around what this thread allocates. Inline functions of a public header call these two from other libraries.
void enter_scope(std::string_view name) noexcept;
void leave_scope() noexcept;

#pragma GCC visibility push(hidden)

void allocated(const Buffer* buffer) noexcept;
void freed(const Buffer* buffer) noexcept;
void all_freed(const AllocatorImpl* allocator) noexcept;
void circular_buffer(const CoreRangeSet& cores, uint64_t address, uint64_t size, bool is_global,
                     const IDevice* chip) noexcept;
void program_gone(const detail::ProgramImpl* program) noexcept;

// Knows how the function ends. Where tracking is off, it neither succeeds nor fails.
class Guard {
public:
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

protected:
    Guard() noexcept;
    ~Guard() = default;
    bool is_on() const noexcept { return exceptions_before_ >= 0; }
    bool has_succeeded() const noexcept;
    bool has_failed() const noexcept;  // an exception leaves it

private:
    const int exceptions_before_;  // negative where tracking is off
};

class AllocationGuard : Guard {
public:
    AllocationGuard(const AllocatorImpl* allocator, const Buffer* buffer) noexcept;
    ~AllocationGuard();

private:
    void end_measurement() noexcept;

    const AllocatorImpl* const allocator_;
    const Buffer* const buffer_;
    bool is_measured_ = false;
    uint64_t allocated_before_ = 0;
};

class StateGuard : Guard {
public:
    explicit StateGuard(const AllocatorImpl* allocator) noexcept;
    ~StateGuard();

private:
    const AllocatorImpl* const allocator_;
};

class OpeningGuard : Guard {
public:
    explicit OpeningGuard(const IDevice* chip) noexcept;
    ~OpeningGuard();

private:
    const IDevice* const chip_;
};

class ClosingGuard : Guard {
public:
    explicit ClosingGuard(const IDevice* device) noexcept;
    ~ClosingGuard();

private:
    const IDevice* const device_;
};

class ProgramGuard : Guard {
public:
    explicit ProgramGuard(const detail::ProgramImpl* program) noexcept;
    ~ProgramGuard();

private:
    const detail::ProgramImpl* const outer_program_;
    const uint64_t outer_layout_;
};

class DataflowGuard : Guard {
public:
    DataflowGuard(detail::ProgramImpl* program, const IDevice* device) noexcept;
    ~DataflowGuard();

private:
    detail::ProgramImpl* const program_;
    const IDevice* const device_;
};

class ClashGuard : Guard {
public:
    ClashGuard(detail::ProgramImpl* program, const IDevice* device) noexcept;
    ~ClashGuard();

private:
    detail::ProgramImpl* const program_;
    const IDevice* const device_;
};

class LaunchGuard : Guard {
public:
    LaunchGuard(const IDevice* device, Program& program) noexcept;
    LaunchGuard(const distributed::MeshCommandQueue& queue, distributed::MeshWorkload& workload) noexcept;
    ~LaunchGuard();

private:
    const IDevice* const device_;
    Program* const program_;
    const distributed::MeshCommandQueue* const queue_;
    distributed::MeshWorkload* const workload_;
};

class TraceGuard : Guard {
public:
    explicit TraceGuard(const distributed::MeshCommandQueue& queue) noexcept;
    ~TraceGuard();

private:
    const distributed::MeshCommandQueue& queue_;
    uint64_t size_before_ = 0;
};

#pragma GCC visibility pop

}  // namespace tt::tt_metal::ttmem_reporter
