// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <tt-metalium/host_api.hpp>

#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

namespace {

constexpr uint64_t kAlignment = 32;
constexpr uint64_t kFillers = 8;

PoolKind pool_of(BufferType type) {
    switch (type) {
        case BufferType::L1:
            return PoolKind::l1;
        case BufferType::L1_SMALL:
            return PoolKind::l1_small;
        case BufferType::TRACE:
            return PoolKind::trace;
        default:
            return PoolKind::dram;
    }
}

// In rows of the grid.
CoreRangeSet first_cores(uint32_t cores, uint32_t width) {
    std::vector<CoreRange> ranges;
    const uint32_t rows = cores / width;
    if (rows != 0) {
        ranges.emplace_back(CoreCoord(0, 0), CoreCoord(width - 1, rows - 1));
    }
    if (cores % width != 0) {
        ranges.emplace_back(CoreCoord(0, rows), CoreCoord(cores % width - 1, rows));
    }
    return CoreRangeSet(std::move(ranges));
}

ops::Tensor make(MeshDevice& mesh, BufferType type, uint64_t bytes, uint64_t page, uint32_t cores,
                 uint32_t grid_width) {
    DeviceLocalBufferConfig local;
    local.page_size = page;
    local.buffer_type = type;
    uint64_t size = bytes;
    if (cores != 0) {
        const auto width = static_cast<uint32_t>(page / 2);
        const auto pages = static_cast<uint32_t>(allocator::divide_up(bytes / page, cores));
        size = uint64_t{cores} * pages * page;
        local.sharding_args =
            BufferShardingArgs(ShardSpecBuffer(first_cores(cores, grid_width), {pages, width},
                                               ShardOrientation::ROW_MAJOR, {1, width}, {cores * pages, 1}),
                               TensorMemoryLayout::HEIGHT_SHARDED);
    }
    return MeshBuffer::create(ReplicatedBufferConfig{.size = size}, local, &mesh);
}

// A range of the bank, in the order in which it was allocated.
struct Part {
    std::string name;  // empty: free in the end
    uint64_t size = 0;
    ops::Tensor tensor = nullptr;
};

// Fillers, then free blocks of which one is the largest, with a block between any two.
std::vector<Part> plan(uint64_t bank, uint64_t free, uint64_t largest) {
    std::vector<uint64_t> gaps = {largest};
    if (free > largest) {
        const uint64_t others = allocator::divide_up(free - largest, largest) + 1;
        const uint64_t each = (free - largest) / others / kAlignment * kAlignment;
        gaps.insert(gaps.end(), others, each);
        gaps.back() = free - largest - each * (others - 1);
    }
    std::vector<Part> parts;
    uint64_t left = bank - free;
    for (size_t i = 0; i < gaps.size(); ++i) {
        parts.push_back({"", gaps[i]});
        if (i + 1 < gaps.size()) {
            const uint64_t between =
                std::min<uint64_t>(32'768 + 2'048 * i, left / 2) / kAlignment * kAlignment;
            parts.push_back({fmt::format("kv_cache.{}", i), between});
            left -= between;
        }
    }
    for (uint64_t i = 0; i < kFillers; ++i) {
        const uint64_t size = i + 1 == kFillers ? left : left / (kFillers - i) / kAlignment * kAlignment;
        parts.insert(parts.begin(), {fmt::format("decoder.{}", i), size});
        left -= size;
    }
    return parts;
}

// The neighbours with the fewest bytes whose release makes room. Tries all of them.
std::vector<size_t> cheapest(const std::vector<Part>& parts, uint64_t needed) {
    std::vector<size_t> best;
    uint64_t best_cost = UINT64_MAX;
    for (size_t first = 0; first < parts.size(); ++first) {
        uint64_t room = 0;
        uint64_t cost = 0;
        std::vector<size_t> freed;
        for (size_t last = first; last < parts.size(); ++last) {
            room += parts[last].size;
            if (!parts[last].name.empty()) {
                cost += parts[last].size;
                freed.push_back(last);
            }
            if (room >= needed && cost < best_cost) {
                best = freed;
                best_cost = cost;
            }
        }
    }
    return best;
}

void expect_refusal(const std::function<void()>& request) {
    try {
        request();
    } catch (const std::runtime_error& error) {
        fmt::print("refused: {}\n", error.what());
        return;
    }
    throw std::logic_error("a request that must fail was granted");
}

}  // namespace

void run_refused_case(Run& run, const RefusedCase& refused) {
    const auto mesh = run.open_mesh(refused.regions);
    const PoolGeometry pool = memory_geometry(run.board(), refused.regions)[pool_of(refused.type)];
    std::vector<Part> parts = plan(pool.size, refused.free, refused.largest);
    const uint32_t width = run.board().compute_grid.x;
    for (Part& part : parts) {
        const ops::Scope scope(part.name.empty() ? "activation" : part.name);
        part.tensor = make(*mesh, refused.type, part.size * pool.banks, part.size, 0, width);
    }
    for (Part& part : parts) {
        if (part.name.empty()) {
            part.tensor.reset();
        }
    }
    run.step("full");
    const auto request = [&] {
        const ops::Scope scope("the request");
        return make(*mesh, refused.type, refused.bytes, refused.page, refused.cores, width);
    };
    expect_refusal([&] { (void)request(); });
    run.step("refused");
    const uint64_t pages = refused.bytes / refused.page;
    const uint64_t spread = refused.cores == 0 ? pool.banks : refused.cores;
    std::vector<std::string> freed;
    for (const size_t index : cheapest(parts, allocator::divide_up(pages, spread) * refused.page)) {
        freed.push_back(parts[index].name);
        parts[index].tensor.reset();
    }
    fmt::print("freed: {}\n", fmt::join(freed, " "));
    const ops::Tensor granted = request();
    run.step("fits");
    parts.clear();
    mesh->close();
    run.step("close");
}

void run_too_big_case(Run& run, const TooBigCase& too_big) {
    const RefusedCase& refused = too_big.request;
    const uint32_t width = run.board().compute_grid.x;
    const auto request = [&](MeshDevice& mesh, uint32_t cores) {
        const ops::Scope scope("the request");
        return make(mesh, refused.type, refused.bytes, refused.page, cores, width);
    };
    auto mesh = run.open_mesh(refused.regions);
    run.step("full");
    expect_refusal([&] { (void)request(*mesh, refused.cores); });
    run.step("refused");
    if (too_big.more_cores == 0) {
        mesh->close();
        mesh = run.open_mesh(too_big.other_regions);
    }
    ops::Tensor granted = request(*mesh, too_big.more_cores == 0 ? refused.cores : too_big.more_cores);
    run.step("fits");
    granted.reset();
    mesh->close();
    run.step("close");
}

void run_clash_case(Run& run, const ClashCase& clash) {
    std::shared_ptr<MeshDevice> mesh;
    ops::Tensor tensor;
    const auto open_with = [&](uint64_t l1_small) {
        const RegionSizes regions{.l1_small = l1_small};
        mesh = run.open_mesh(regions);
        const PoolGeometry l1 = memory_geometry(run.board(), regions)[PoolKind::l1];
        if (clash.tensor != 0) {
            const ops::Scope scope("decoder.0/activation");
            tensor = make(*mesh, BufferType::L1, clash.tensor * l1.banks, clash.tensor, 0,
                          run.board().compute_grid.x);
        }
    };
    open_with(clash.l1_small);
    run.step("full");
    const auto run_with = [&](const std::vector<uint32_t>& sizes) {
        const ops::Scope scope("ttnn::conv2d");
        Program program = CreateProgram();
        for (size_t i = 0; i < sizes.size(); ++i) {
            const auto index = static_cast<uint8_t>(i);
            CircularBufferConfig config(sizes[i], {{index, tt::DataFormat::Float16_b}});
            config.set_page_size(index, kAlignment);
            CreateCircularBuffer(program, clash.cores, config);
        }
        auto workload = std::make_unique<MeshWorkload>();
        workload->add_program(MeshCoordinateRange(mesh->shape()), std::move(program));
        EnqueueMeshWorkload(mesh->mesh_command_queue(), *workload, false);
        return workload;
    };
    if (clash.too_long != 0) {
        expect_refusal([&] { (void)run_with(clash.circular_buffers); });
        run.step("refused");
    }
    std::vector<uint32_t> smaller = clash.circular_buffers;
    *std::ranges::max_element(smaller) -= clash.too_long;
    auto workload = run_with(smaller);
    run.step("fits");
    workload.reset();
    if (clash.other_l1_small) {
        tensor.reset();
        mesh->close();
        open_with(*clash.other_l1_small);
        workload = run_with(clash.circular_buffers);
        run.step("fits in another region");
        workload.reset();
    }
    if (clash.too_long != 0 && tensor != nullptr) {
        tensor.reset();
        workload = run_with(clash.circular_buffers);
        run.step("fits without the tensor");
        workload.reset();
    }
    tensor.reset();
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
