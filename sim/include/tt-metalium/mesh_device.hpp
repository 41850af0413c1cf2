// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tt-metalium/device.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <tt-metalium/mesh_config.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device_view.hpp>
#include <tt-metalium/mesh_trace_id.hpp>

namespace tt::tt_fabric {
class FabricNodeId;
}  // namespace tt::tt_fabric

namespace tt::tt_metal::distributed {

class MeshCommandQueue;
class MeshDeviceImpl;

using DeviceIds = std::vector<int>;

class MeshDevice : public IDevice, public std::enable_shared_from_this<MeshDevice> {
public:
    static std::shared_ptr<MeshDevice> create(
        const MeshDeviceConfig& config, size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
        size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE, size_t num_command_queues = 1,
        const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
        ttsl::Span<const uint32_t> l1_bank_remap = {}, size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);
    static std::shared_ptr<MeshDevice> create_unit_mesh(
        int device_id, size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
        size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE, size_t num_command_queues = 1,
        const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
        ttsl::Span<const uint32_t> l1_bank_remap = {}, size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);
    static std::map<int, std::shared_ptr<MeshDevice>> create_unit_meshes(
        const std::vector<int>& device_ids, size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
        size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE, size_t num_command_queues = 1,
        const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
        ttsl::Span<const uint32_t> l1_bank_remap = {}, size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);

    ~MeshDevice() override;

    tt::ARCH arch() const override;
    int id() const override;  // numbers meshes; not a chip's number
    ChipId build_id() const override;
    uint8_t num_hw_cqs() const override;
    bool is_initialized() const override;
    int num_dram_channels() const override;
    uint32_t l1_size_per_core() const override;
    uint32_t dram_size_per_channel() const override;
    CoreCoord grid_size() const override;
    CoreCoord logical_grid_size() const override;
    CoreCoord dram_grid_size() const override;
    CoreCoord compute_with_storage_grid_size() const override;
    const std::unique_ptr<Allocator>& allocator() const override;
    const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device_id) const override;
    const std::unique_ptr<AllocatorImpl>& allocator_impl() const override;
    const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device_id) const override;
    std::optional<DeviceAddr> lowest_occupied_compute_l1_address() const override;
    uint32_t get_trace_buffers_size() const override;
    void set_trace_buffers_size(uint32_t size) override;
    bool initialize(uint8_t num_hw_cqs, size_t l1_small_size, size_t trace_region_size, size_t worker_l1_size,
                    ttsl::Span<const uint32_t> l1_bank_remap = {}, bool minimal = false) override;
    bool close() override;
    void enable_program_cache() override;
    void clear_program_cache() override;
    void disable_and_clear_program_cache() override;
    program_cache::detail::ProgramCache& get_program_cache() override;
    size_t num_program_cache_entries() override;
    const std::vector<SubDeviceId>& get_sub_device_ids() const override;
    uint32_t num_sub_devices() const override;
    bool is_mmio_capable() const override;
    std::shared_ptr<distributed::MeshDevice> get_mesh_device() override;

    MeshTraceId begin_mesh_trace(MeshCommandQueue& cq);
    void begin_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id);
    void end_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id);
    void replay_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id, bool blocking);
    void release_mesh_trace(const MeshTraceId& trace_id);

    // Row by row.
    std::vector<IDevice*> get_devices() const;
    IDevice* get_device(ChipId physical_device_id) const;
    IDevice* get_device(const MeshCoordinate& coord) const;
    IDevice* get_device(size_t row_idx, size_t col_idx) const;
    tt_fabric::FabricNodeId get_fabric_node_id(const MeshCoordinate& coord) const;
    DeviceIds get_device_ids() const;
    size_t num_devices() const;
    size_t num_rows() const;
    size_t num_cols() const;
    const MeshShape& shape() const;
    const MeshDeviceView& get_view() const;
    std::string to_string() const;

    bool is_parent_mesh() const;
    const std::shared_ptr<MeshDevice>& get_parent_mesh() const;
    std::vector<std::shared_ptr<MeshDevice>> get_submeshes() const;
    // Its chips stay members of this mesh too. It has its own allocator.
    std::shared_ptr<MeshDevice> create_submesh(const MeshShape& submesh_shape,
                                               const std::optional<MeshCoordinate>& offset = std::nullopt);
    std::vector<std::shared_ptr<MeshDevice>> create_submeshes(const MeshShape& submesh_shape);

    MeshCommandQueue& mesh_command_queue(std::optional<uint8_t> cq_id = std::nullopt) const;
    void enqueue_to_thread_pool(std::function<void()>&& f);
    void wait_for_thread_pool();

    const MeshDeviceImpl& impl() const { return *pimpl_; }
    MeshDeviceImpl& impl() { return *pimpl_; }

private:
    friend class MeshDeviceImpl;
    MeshDevice() = default;

    std::unique_ptr<MeshDeviceImpl> pimpl_;
};

}  // namespace tt::tt_metal::distributed
