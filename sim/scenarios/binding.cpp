// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/binding.h"

#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tt-metalium/memory_reporter.hpp>

#include "sim/scenarios/ops.hpp"

namespace ttmem::sim {
namespace {

using ops::MeshDevice;
using ops::Tensor;
using namespace tt::tt_metal;

thread_local std::string last_error;

// No exception may reach the caller, who may be written in another language.
template <class Call, class Result>
Result attempt(const Call& call, Result failed) {
    try {
        return call();
    } catch (const std::exception& error) {
        last_error = error.what();
    } catch (...) {
        last_error = "unknown exception";
    }
    return failed;
}

using Mesh = std::shared_ptr<MeshDevice>;

MeshDevice& mesh_of(void* device) { return **static_cast<Mesh*>(device); }

void* open(uint32_t first, uint32_t count, uint64_t l1_small_size, uint64_t trace_region_size) {
    std::vector<int> chips(count);
    std::iota(chips.begin(), chips.end(), static_cast<int>(first));
    const distributed::MeshDeviceConfig config(distributed::MeshShape(1, count), std::nullopt, chips);
    return new Mesh(MeshDevice::create(config, l1_small_size, trace_region_size));
}

// L1_SMALL takes sharded buffers only.
Tensor allocate(MeshDevice& device, BufferType type, uint64_t bytes) {
    if (type != BufferType::L1_SMALL) {
        return ops::empty(device, bytes, type);
    }
    constexpr uint32_t kCores = 4;
    constexpr uint32_t kPage = 1024;
    const auto pages = static_cast<uint32_t>((bytes + kCores * kPage - 1) / (kCores * kPage));
    return ops::height_sharded(device, kCores, pages, kPage, type);
}

}  // namespace
}  // namespace ttmem::sim

using namespace ttmem::sim;

const char* ttmem_sim_error(void) { return last_error.c_str(); }

void* ttmem_sim_open(uint32_t first, uint32_t count, uint64_t l1_small_size, uint64_t trace_region_size) {
    return attempt([&] { return open(first, count, l1_small_size, trace_region_size); },
                   static_cast<void*>(nullptr));
}

int ttmem_sim_close(void* device) {
    const std::unique_ptr<Mesh> mesh(static_cast<Mesh*>(device));
    return attempt([&] { return (*mesh)->close() ? 0 : -1; }, -1);
}

void* ttmem_sim_allocate(void* device, uint32_t buffer_type, uint64_t bytes) {
    return attempt(
        [&]() -> void* {
            return new Tensor(allocate(mesh_of(device), static_cast<BufferType>(buffer_type), bytes));
        },
        static_cast<void*>(nullptr));
}

uint64_t ttmem_sim_address(const void* buffer) { return (*static_cast<const Tensor*>(buffer))->address(); }

void ttmem_sim_free(void* buffer) { delete static_cast<Tensor*>(buffer); }

int ttmem_sim_program(void* device, const char* name, uint32_t x, uint32_t y,
                      const uint32_t* circular_buffers, uint32_t count) {
    return attempt(
        [&] {
            ops::run_program(mesh_of(device),
                             {.name = name,
                              .cores = CoreRange(CoreCoord(0, 0), CoreCoord(x - 1, y - 1)),
                              .circular_buffers = {circular_buffers, circular_buffers + count},
                              .kernels = {2048, 2048, 4096}});
            return 0;
        },
        -1);
}

void ttmem_sim_enter_op(const char* name) { GraphTracker::instance().track_function_start(name); }

void ttmem_sim_leave_op(void) { GraphTracker::instance().track_function_end(); }

int ttmem_sim_memory_view(void* device, uint32_t buffer_type, uint64_t view[5]) {
    return attempt(
        [&] {
            const auto found = detail::GetMemoryView(&mesh_of(device), static_cast<BufferType>(buffer_type));
            view[0] = found.num_banks;
            view[1] = found.total_bytes_per_bank;
            view[2] = found.total_bytes_allocated_per_bank;
            view[3] = found.total_bytes_free_per_bank;
            view[4] = found.largest_contiguous_bytes_free_per_bank;
            return 0;
        },
        -1);
}

int ttmem_sim_block_table(void* device, uint32_t buffer_type, uint64_t* blocks, uint32_t capacity) {
    return attempt(
        [&] {
            const auto view = detail::GetMemoryView(&mesh_of(device), static_cast<BufferType>(buffer_type));
            const auto& table = view.block_table;
            for (size_t i = 0; i < table.size() && i < capacity; ++i) {
                blocks[3 * i] = std::stoull(table[i].at("address"));
                blocks[3 * i + 1] = std::stoull(table[i].at("size"));
                blocks[3 * i + 2] = table[i].at("allocated") == "yes" ? 1 : 0;
            }
            return static_cast<int>(table.size());
        },
        -1);
}
