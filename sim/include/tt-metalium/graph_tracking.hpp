// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/mesh_buffer.hpp>

namespace tt::tt_metal {

class AllocatorImpl;
class IDevice;
class Program;

struct TrackedArgument {
    std::any value;
    std::string (*to_string_fn)(const std::any&);
};

// Callers that track functions with arguments define how these become text.
template <typename T>
std::string serialize_tracked_arg(const std::any& a);

// Receives the events of the thread that pushed it.
class IGraphProcessor {
public:
    enum class RunMode {
        NORMAL,
        NO_DISPATCH  // nothing is allocated and nothing runs
    };

    IGraphProcessor() = default;
    virtual ~IGraphProcessor() = default;

    virtual bool is_capture_processor() const { return true; }
    virtual void track_allocate(const Buffer* /*buffer*/) {}
    virtual void track_deallocate(Buffer* /*buffer*/) {}
    virtual void track_allocate_cb(const CoreRangeSet& /*core_range_set*/, uint64_t /*addr*/,
                                   uint64_t /*size*/, bool /*is_globally_allocated*/,
                                   const IDevice* /*device*/) {}
    virtual void track_deallocate_cb(const IDevice* /*device*/) {}
    virtual void track_program(Program* /*program*/, const IDevice* /*device*/) {}
    virtual void track_function_start(std::string_view /*function_name*/,
                                      std::span<TrackedArgument> /*input_parameters*/) {}
    virtual void track_function_end() {}
    virtual void track_function_end(const std::any& /*output_tensors*/) {}
    virtual void begin_capture(RunMode /*mode*/) {}
    virtual nlohmann::json end_capture();
};

// May replace an action of the runtime: true means handled.
class IGraphHooks {
public:
    IGraphHooks() = default;
    virtual ~IGraphHooks() = default;

    virtual bool hook_allocate(const Buffer* buffer) = 0;
    virtual bool hook_deallocate(Buffer* buffer) = 0;
    virtual bool hook_program(Program* program) = 0;
    virtual bool hook_write_to_device(const Buffer* buffer) = 0;
    virtual bool hook_read_from_device(Buffer* buffer) = 0;
    virtual bool hook_read_from_device(const distributed::MeshBuffer* mesh_buffer) = 0;
    virtual bool hook_write_to_device(const distributed::MeshBuffer* mesh_buffer) = 0;
};

// The one place where the runtime reports its memory. Processors and the hook belong to a thread; reports to ttmem come
// from all threads.
class GraphTracker {
public:
    GraphTracker(const GraphTracker&) = delete;
    GraphTracker(GraphTracker&&) = delete;

    static GraphTracker& instance();

    bool is_enabled() const;
    void push_processor(const std::shared_ptr<IGraphProcessor>& processor);
    void pop_processor();
    bool add_hook(const std::shared_ptr<IGraphHooks>& hook);

    // Called after the memory is allocated, and before it is freed.
    void track_allocate(const Buffer* buffer);
    void track_deallocate(Buffer* buffer);

    void track_allocate_cb(const CoreRangeSet& core_range_set, uint64_t addr, uint64_t size,
                           bool is_globally_allocated, const IDevice* device);
    void track_deallocate_cb(const IDevice* device);
    void track_program(Program* program, const IDevice* device);

    template <class... Args>
    void track_function_start(std::string_view function_name, Args&&... args) {
        enter_scope(function_name);
        if (processors.empty()) {
            return;
        }
        std::array<TrackedArgument, sizeof...(Args)> parameters{TrackedArgument{
            std::any(std::ref(args)), &serialize_tracked_arg<std::remove_reference_t<Args>>}...};
        for (const auto& processor : processors) {
            processor->track_function_start(function_name, parameters);
        }
    }
    void track_function_end() {
        for (const auto& processor : processors) {
            processor->track_function_end();
        }
        leave_scope();
    }
    template <class ReturnType>
    void track_function_end(ReturnType& output_tensors) {
        for (const auto& processor : processors) {
            processor->track_function_end(std::ref(output_tensors));
        }
        leave_scope();
    }

    bool hook_allocate(const Buffer* buffer);
    bool hook_deallocate(Buffer* buffer);
    bool hook_write_to_device(const Buffer* buffer);
    bool hook_write_to_device(const distributed::MeshBuffer* mesh_buffer);
    bool hook_read_from_device(Buffer* buffer);
    bool hook_read_from_device(const distributed::MeshBuffer* mesh_buffer);
    bool hook_program(Program* program);

    const std::vector<std::shared_ptr<IGraphProcessor>>& get_processors() const;
    const std::shared_ptr<IGraphHooks>& get_hook() const;
    void clear();
    void clear_hook();

    // ---- not reported by tt-metal; reported to ttmem only, never to processors ----

    enum class KernelType : uint8_t { APPLICATION = 0, FABRIC = 1, DISPATCH = 2 };

    void track_open(const IDevice* device);
    void track_close(const IDevice* device);           // and everything still in it
    void track_bulk_deallocate(const Buffer* buffer);  // one buffer of a bulk free
    void track_view(const Buffer* buffer);             // on memory that another allocation owns
    void track_view_end(const Buffer* buffer);
    void track_kernel_load(uint64_t size, uint64_t program, KernelType type, const IDevice* device);
    void track_program_end(uint64_t program);
    void track_out_of_memory(const Buffer* buffer, uint64_t needed_per_bank, uint64_t free_per_bank,
                             uint64_t largest_free_per_bank);
    // An address of nullopt: the circular buffers reach beyond the end of L1, with no buffer in their way.
    void track_cb_clash(uint64_t program, uint64_t size, uint64_t region_end,
                        std::optional<DeviceAddr> lowest_buffer, const CoreCoord& core,
                        const IDevice* device);

private:
    GraphTracker() = default;
    ~GraphTracker() = default;

    static void enter_scope(std::string_view name);
    static void leave_scope();

    static thread_local std::vector<std::shared_ptr<IGraphProcessor>> processors;
    static thread_local std::shared_ptr<IGraphHooks> hook;
};

}  // namespace tt::tt_metal
