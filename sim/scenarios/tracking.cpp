// SPDX-License-Identifier: Apache-2.0
//
// Buffers of every kind on single devices, allocated and freed one by one, and one on an address that another buffer owns.
#include <tt-metalium/host_api.hpp>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {
namespace {

using namespace tt::tt_metal;

constexpr size_t kL1Small = 32'768;
constexpr size_t kTrace = 1'048'576;

using Buffers = std::vector<std::shared_ptr<Buffer>>;

std::shared_ptr<Buffer> sharded(IDevice* device, BufferType type) {
    const ShardSpecBuffer shards(CoreRangeSet(CoreRange(CoreCoord(0, 0), CoreCoord(3, 0))), {4, 512},
                                 ShardOrientation::ROW_MAJOR, {1, 512}, {16, 1});
    return Buffer::create(device, DeviceAddr{4} * 4 * 1024, 1024, type,
                          BufferShardingArgs(shards, TensorMemoryLayout::HEIGHT_SHARDED));
}

template <typename Make>
Buffers on_each(const std::vector<IDevice*>& devices, const Make& make) {
    Buffers buffers;
    for (IDevice* device : devices) {
        buffers.push_back(make(device));
    }
    return buffers;
}

}  // namespace

void run_tracking(Run& run) {
    std::vector<IDevice*> devices;
    for (const int chip : run.chips()) {
        devices.push_back(CreateDevice(chip, 1, kL1Small, kTrace));
    }
    run.step("open");

    Buffers dram =
        on_each(devices, [](IDevice* d) { return Buffer::create(d, 16'777'216, 2048, BufferType::DRAM); });
    run.step("dram");
    Buffers l1 =
        on_each(devices, [](IDevice* d) { return Buffer::create(d, 1'048'576, 2048, BufferType::L1); });
    run.step("l1");
    Buffers shards = on_each(devices, [](IDevice* d) { return sharded(d, BufferType::L1); });
    run.step("l1 sharded");
    Buffers small = on_each(devices, [](IDevice* d) { return sharded(d, BufferType::L1_SMALL); });
    run.step("l1 small");
    Buffers trace =
        on_each(devices, [](IDevice* d) { return Buffer::create(d, 65'536, 1024, BufferType::TRACE); });
    run.step("trace");
    // Odd pages are padded, so more is reserved than requested.
    Buffers odd =
        on_each(devices, [](IDevice* d) { return Buffer::create(d, 300'000, 3000, BufferType::DRAM); });
    run.step("odd pages");
    Buffers views = on_each(devices, [&dram](IDevice* d) {
        return Buffer::create(d, dram.front()->address(), 4'194'304, 2048, BufferType::DRAM);
    });
    run.step("view");
    for (const auto& view : views) {
        view->mark_as_deallocated();
    }
    run.step("view marked as deallocated");

    for (Buffers* each : {&odd, &trace, &small, &shards, &l1}) {
        each->clear();
    }
    run.step("free all but dram");
    for (const auto& buffer : dram) {
        DeallocateBuffer(*buffer);
    }
    run.step("free dram");
    dram.clear();
    for (IDevice* device : devices) {
        CloseDevice(device);
    }
    run.step("close");
}

}  // namespace ttmem::sim
