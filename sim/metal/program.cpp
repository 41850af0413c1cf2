// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/circular_buffer.hpp>
#include <tt-metalium/program.hpp>
#include <utility>

#include "sim/metal/program_impl.hpp"

namespace tt::tt_metal {

Program::Program() : internal_(std::make_shared<detail::ProgramImpl>()) {}
Program::Program(std::shared_ptr<detail::ProgramImpl> impl) : internal_(std::move(impl)) {}
Program::~Program() noexcept = default;
Program::Program(Program&& other) noexcept = default;
Program& Program::operator=(Program&& other) noexcept = default;

void Program::set_runtime_id(ProgramId id) { internal_->set_runtime_id(id); }

ProgramId Program::get_runtime_id() const { return internal_->get_runtime_id(); }

std::vector<std::shared_ptr<CircularBuffer>> Program::circular_buffers() const {
    std::vector<std::shared_ptr<CircularBuffer>> buffers;
    for (const auto& buffer : internal_->circular_buffers()) {
        buffers.push_back(std::make_shared<CircularBuffer>(buffer.get()));
    }
    return buffers;
}

std::vector<detail::KernelMeta> detail::collect_kernel_meta(const Program& program, IDevice* device) {
    return program.impl().collect_kernel_meta(device);
}

}  // namespace tt::tt_metal
