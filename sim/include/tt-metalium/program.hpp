// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tt::tt_metal {

class CircularBuffer;
class IDevice;

namespace detail {
class ProgramImpl;
struct KernelMeta;
}  // namespace detail

using ProgramId = uint64_t;

class Program {
public:
    Program();
    explicit Program(std::shared_ptr<detail::ProgramImpl> impl);
    ~Program() noexcept;

    Program(const Program& other) = delete;
    Program& operator=(const Program& other) = delete;
    Program(Program&& other) noexcept;
    Program& operator=(Program&& other) noexcept;

    void set_runtime_id(ProgramId id);
    ProgramId get_runtime_id() const;

    std::vector<std::shared_ptr<CircularBuffer>> circular_buffers() const;

    detail::ProgramImpl& impl() { return *internal_; }
    const detail::ProgramImpl& impl() const { return *internal_; }

private:
    std::shared_ptr<detail::ProgramImpl> internal_;
};

namespace detail {

// Without a device: names and sources only, for a program that is not compiled yet.
std::vector<KernelMeta> collect_kernel_meta(const Program& program, IDevice* device);

}  // namespace detail

}  // namespace tt::tt_metal
