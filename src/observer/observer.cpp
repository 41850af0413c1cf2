// SPDX-License-Identifier: Apache-2.0

// Records the runtime's calls. Each function has the original's name, calls the original and passes on its exceptions. It
// throws no exception of its own.

#include "observer/observer.hpp"

#include <pthread.h>
#include <ttmem/ttmem.h>

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "observer/notice.hpp"
#include "observer/processor.hpp"
#include "observer/relocations.hpp"
#include "observer/scopes.hpp"

namespace ttmem::observer {

namespace {

Observer* observer = nullptr;  // never destroyed: buffers with static storage are freed at process exit

using metal::Buffer;
using metal::CoreRangeSet;
using metal::IDevice;

// Recording never fails for the user: out of host memory, or an error from a query to the runtime, loses the event.
template <class Record>
void record(const Record& what) noexcept {
    try {
        what();
    } catch (const std::exception& error) {
        observer->sets.disable(error.what());
    } catch (...) {
        observer->sets.disable("the runtime answered with an error");
    }
}

// Marks the program whose function runs.
class ProgramScope {
public:
    explicit ProgramScope(const void* program) noexcept : outer_(thread_data().frame) {
        record([&] {
            Frame& frame = thread_data().frame;
            if (frame.program != program) {
                frame = {program, observer->programs.next_frame()};
            }
        });
    }
    ~ProgramScope() { thread_data().frame = outer_; }
    ProgramScope(const ProgramScope&) = delete;
    ProgramScope& operator=(const ProgramScope&) = delete;

private:
    const Frame outer_;
};

// Calls the runtime, and reports the text of an exception that passes. If the runtime cannot be queried then, only the exception
// itself remains. The cancellation of a thread is none.
template <class Call, class Report>
auto watch(const Call& call, const Report& report) {
    try {
        return call();
    } catch (const std::exception& error) {
        try {
            report(error.what());
        } catch (...) {  // NOLINT(bugprone-empty-catch)
        }
        throw;
    }
}

void* tracker_instance() {
    void* const tracker = observer->metal.originals.tracker_instance();
    if (!thread_data().is_watched) {
        record([&] { Processor::watch_thread(observer->metal, static_cast<metal::GraphTracker*>(tracker)); });
    }
    return tracker;
}

bool hook_allocate(void* self, void* buffer) {
    const bool is_hooked = observer->metal.originals.hook_allocate(self, buffer);
    ThreadData& data = thread_data();
    data.hooked = is_hooked ? buffer : nullptr;
    data.allocated = nullptr;  // an earlier buffer may have been at the same address
    return is_hooked;
}

// Ends with the allocation, also if it throws.
class MeasuredAllocation {
public:
    MeasuredAllocation(const void* allocator, const Buffer* buffer) noexcept
        : allocator_(allocator), buffer_(buffer) {
        record([&] { observer->start_measurement(measurement_, allocator_, buffer_); });
    }
    ~MeasuredAllocation() {
        if (measurement_.lock.owns_lock()) {
            thread_data().is_measuring = false;
        }
    }
    MeasuredAllocation(const MeasuredAllocation&) = delete;
    MeasuredAllocation& operator=(const MeasuredAllocation&) = delete;

    void succeeded() noexcept {
        record([&] { observer->end_measurement(measurement_, allocator_, buffer_); });
    }

private:
    const void* const allocator_;
    const Buffer* const buffer_;
    Measurement measurement_;
};

// Under the names of several releases.
template <auto kOriginal>
uint64_t allocate_on(void* self, void* object) {
    const auto* const buffer = static_cast<const Buffer*>(object);
    const uint64_t address = watch(
        [&] {
            MeasuredAllocation measured(self, buffer);
            const uint64_t given = (observer->metal.originals.*kOriginal)(self, object);
            measured.succeeded();
            return given;
        },
        [&](const char* text) { observer->out_of_memory(self, buffer, text); });
    ThreadData& data = thread_data();
    data.allocated = buffer;
    data.allocator = self;
    return address;
}
constexpr auto allocate_buffer = allocate_on<&Functions::allocate_buffer>;
constexpr auto allocator_allocate_buffer = allocate_on<&Functions::allocator_allocate_buffer>;

void track_allocate(void* self, void* buffer) {
    record([&] { observer->allocated(static_cast<const Buffer*>(buffer)); });
    observer->metal.originals.track_allocate(self, buffer);
}

void track_deallocate(void* self, void* buffer) {
    record([&] { observer->freed(static_cast<const Buffer*>(buffer)); });
    observer->metal.originals.track_deallocate(self, buffer);
}

// The allocator forgets its own buffers and takes over the memory of other allocators, which count it.
void override_state(void* self, void* state) {
    observer->metal.originals.override_state(self, state);
    record([&] { observer->buffers.free_all_of(self); });
}

// Before the memory can be reused. In newer releases an Allocator is a view whose first word is the address of the object
// that allocates.
void deallocate_buffers(void* self) {
    record([&] { observer->buffers.free_all_of(self); });
    observer->metal.originals.deallocate_buffers(self);
}

void allocator_deallocate_buffers(void* self) {
    record([&] {
        observer->buffers.free_all_of(self);
        observer->buffers.free_all_of(value_at<const void*>(self, 0));
    });
    observer->metal.originals.allocator_deallocate_buffers(self);
}

void record_circular_buffer(void* cores, uint64_t address, uint64_t size, bool is_view, void* device) {
    record([&] {
        const auto& ranges = observer->metal.core_ranges(static_cast<const CoreRangeSet*>(cores));
        observer->circular_buffer(
            static_cast<const IDevice*>(device),
            {.address = address, .size = size, .cores = mask_of(ranges), .is_view = is_view});
    });
}

// Under the names of several releases.
template <auto kOriginal>
void allocate_cb_on(void* self, void* cores, uint64_t address, uint64_t size, bool is_view, void* device) {
    record_circular_buffer(cores, address, size, is_view, device);
    (observer->metal.originals.*kOriginal)(self, cores, address, size, is_view, device);
}
constexpr auto track_allocate_cb = allocate_cb_on<&Functions::track_allocate_cb>;
constexpr auto track_allocate_cb_on_global_cores =
    allocate_cb_on<&Functions::track_allocate_cb_on_global_cores>;
void track_deallocate_cb(void* self, void* device) {
    record([&] {
        if (const void* program = thread_data().frame.program) {
            for (const IDevice* chip : observer->metal.chips_of(static_cast<const IDevice*>(device))) {
                observer->programs.free_on(program, BufferClass::circular, chip);
            }
        }
    });
    observer->metal.originals.track_deallocate_cb(self, device);
}

// Under the names of several releases.
template <auto kOriginal>
bool open_chip_by(void* self, uint8_t queues, uint64_t l1_small, uint64_t trace, uint64_t l1,
                  PassedSpan remap, bool minimal) {
    const bool is_open =
        (observer->metal.originals.*kOriginal)(self, queues, l1_small, trace, l1, remap, minimal);
    record([&] {
        if (is_open) {
            observer->sets.of(static_cast<const IDevice*>(self));
        }
    });
    return is_open;
}
constexpr auto open_chip = open_chip_by<&Functions::open_chip>;
constexpr auto open_chip_with_own_span = open_chip_by<&Functions::open_chip_with_own_span>;

bool close_chip(void* self) {
    const bool is_closed = observer->metal.originals.close_chip(self);
    record([&] { observer->closed(static_cast<const IDevice*>(self)); });
    return is_closed;
}

bool close_mesh(void* self) {
    const bool is_closed = observer->metal.originals.close_mesh(self);
    record([&] { observer->closed(static_cast<const IDevice*>(self)); });
    return is_closed;
}

void delete_mesh(void* self) {
    observer->metal.originals.delete_mesh(self);
    record([&] { observer->closed(static_cast<const IDevice*>(self)); });
}

void destroy_mesh(void* self) {
    observer->metal.originals.destroy_mesh(self);
    record([&] { observer->closed(static_cast<const IDevice*>(self)); });
}

// The runtime refuses a trace that is larger than its region before it allocates; only the text has the size.
template <class Call>
void end_trace_with(void* mesh, const Call& call) {
    watch(call, [&](const char* text) { observer->trace_refused(static_cast<const IDevice*>(mesh), text); });
}

void end_trace(void* self, uint8_t queue, void* trace) {
    end_trace_with(self, [&] { observer->metal.originals.end_trace(self, queue, trace); });
}

void end_trace_on_queue(void* self, void* queue, void* trace) {
    end_trace_with(self, [&] { observer->metal.originals.end_trace_on_queue(self, queue, trace); });
}

// A program whose dataflow buffers or scratchpads are laid out by calls that are not seen.
void note_unseen(void* program, void* device, const NotedLayout& layout) {
    const Metal& metal = observer->metal;
    if (metal.originals.allocate_dataflow_buffers != nullptr && !metal.is_dataflow_layout_seen) {
        observer->laid_out(program, BufferClass::dataflow, static_cast<const IDevice*>(device), {});
    }
    if (metal.originals.allocate_scratchpads != nullptr && !metal.is_scratchpad_layout_seen) {
        observer->laid_out(program, BufferClass::scratchpad, static_cast<const IDevice*>(device),
                           {.marks = {}, .has_asked_kernels = layout.has_asked_kernels});
    }
}

// The addresses that the runtime takes meanwhile on this thread are noted.
class Noting {
public:
    explicit Noting(NotedLayout* to) : before_(std::exchange(thread_data().layout, to)) {}
    ~Noting() { thread_data().layout = before_; }
    Noting(const Noting&) = delete;
    Noting& operator=(const Noting&) = delete;

private:
    NotedLayout* const before_;
};

void compile_and_allocate(void* self, void* device, bool slow) {
    const ProgramScope frame(self);
    NotedLayout layout;
    watch(
        [&] {
            const Noting now(&layout);
            observer->metal.originals.compile_and_allocate(self, device, slow);
        },
        [&](const char* text) {
            note_unseen(self, device, layout);
            observer->clashed(self, static_cast<const IDevice*>(device), text);
        });
    record([&] { note_unseen(self, device, layout); });
}

void allocate_circular_buffers(void* self, void* device) {
    const ProgramScope frame(self);
    record([&] { observer->programs.note(self); });
    observer->metal.originals.allocate_circular_buffers(self, device);
}

// Also for releases without compile_and_allocate().
template <auto kOriginal>
void validate(void* self, void* device) {
    const ProgramScope frame(self);
    watch([&] { (observer->metal.originals.*kOriginal)(self, device); },
          [&](const char* text) {
              note_unseen(self, device, {});
              observer->clashed(self, static_cast<const IDevice*>(device), text);
          });
    record([&] { note_unseen(self, device, {}); });
}
constexpr auto validate_circular_buffer_region = validate<&Functions::validate_circular_buffer_region>;
constexpr auto validate_dataflow_buffer_region = validate<&Functions::validate_dataflow_buffer_region>;

template <auto kOriginal>
void lay_out(void* self, void* device, BufferClass of) {
    const ProgramScope frame(self);
    record([&] { observer->programs.note(self); });
    NotedLayout layout;
    {
        const Noting now(&layout);
        (observer->metal.originals.*kOriginal)(self, device);
    }
    record([&] { observer->laid_out(self, of, static_cast<const IDevice*>(device), layout); });
}

void allocate_dataflow_buffers(void* self, void* device) {
    lay_out<&Functions::allocate_dataflow_buffers>(self, device, BufferClass::dataflow);
}

void allocate_scratchpads(void* self, void* device) {
    lay_out<&Functions::allocate_scratchpads>(self, device, BufferClass::scratchpad);
}

// Its object begins with its cores.
void mark_address(void* self, uint64_t address, uint64_t size, uint64_t base) {
    record([&] {
        if (auto* const layout = thread_data().layout) {
            layout->marks.push_back({value_at<CoreRectangle>(self, 0), address, size});
        }
    });
    observer->metal.originals.mark_address(self, address, size, base);
}

// An optimised runtime marks the addresses of scratchpads without a call, but still writes them into the kernel's arguments.
void* kernel_arguments(void* self) {
    record([&] {
        if (auto* const layout = thread_data().layout) {
            layout->has_asked_kernels = true;
        }
    });
    return observer->metal.originals.kernel_arguments(self);
}

void deallocate_circular_buffers(void* self) {
    const ProgramScope frame(self);
    observer->metal.originals.deallocate_circular_buffers(self);
}

void destroy_program(void* self) {
    {
        const ProgramScope frame(self);
        observer->metal.originals.destroy_program(self);
    }
    record([&] { observer->programs.gone(self); });
}

bool configure_device(void* device, void* program, bool slow) {
    const bool done = observer->metal.originals.configure_device(device, program, slow);
    record([&] {
        observer->loaded(static_cast<const metal::Program*>(program), static_cast<const IDevice*>(device));
    });
    return done;
}

void enqueue_workload(void* queue, void* workload, bool blocking) {
    observer->metal.originals.enqueue_workload(queue, workload, blocking);
    record([&] {
        observer->loaded(static_cast<const metal::MeshCommandQueue*>(queue),
                         static_cast<metal::MeshWorkload*>(workload));
    });
}

// Scopes of the user's program are among those of the ops.
void enter_user_scope(const char* name) {
    record([&] { enter_scope(name); });
}

void leave_user_scope() { record(leave_scope); }

// The calls about this process itself, which must reach the copy of libttmem that records its events.
void* find_client_function(const char* name) {
    struct ClientFunction {
        std::string_view name;
        void* address;
    };
    const std::array functions{
        ClientFunction{"ttmem_is_reporting", reinterpret_cast<void*>(&ttmem_is_reporting)},
        ClientFunction{"ttmem_tag_address", reinterpret_cast<void*>(&ttmem_tag_address)},
        ClientFunction{"ttmem_own_usage", reinterpret_cast<void*>(&ttmem_own_usage)},
        ClientFunction{"ttmem_reset_peak", reinterpret_cast<void*>(&ttmem_reset_peak)},
        ClientFunction{"ttmem_mark", reinterpret_cast<void*>(&ttmem_mark)},
    };
    for (const ClientFunction& function : functions) {
        if (function.name == name) {
            return function.address;
        }
    }
    return nullptr;
}

// The parent's records are not in the child's segment: the child starts empty, as libttmem does.
void start_afresh_after_fork() {
    observer = new Observer(observer->metal);
    thread_data().reported_scopes = 0;
}

// The facts that this runtime does not give.
std::string missing_facts(const Metal& metal) {
    const Functions& originals = metal.originals;
    std::string missing;
    const auto add = [&](const std::string& fact) { missing += (missing.empty() ? "" : "; ") + fact; };
    if (metal.kernels_of == nullptr || metal.workload_programs == nullptr || metal.mesh_view == nullptr ||
        metal.view_devices == nullptr) {
        add("kernels");
    } else if (metal.originals.deallocate_circular_buffers == nullptr) {
        add("kernels unless a device is open");
    }
    if (metal.fabric_node == nullptr || metal.asic_of_node == nullptr) {
        add("ASIC ids");
    }
    if (metal.originals.deallocate_circular_buffers == nullptr) {
        add("circular buffers on buffers");
    }
    if (metal.originals.allocate_buffer != nullptr && metal.allocator_impl_banks == nullptr) {
        add("bytes on sub-devices (marked inexact)");
    }
    if (metal.originals.allocate_buffer != nullptr && metal.allocator_impl_statistics == nullptr) {
        add("out of memory on sub-devices");
    }
    if (metal.is_per_core != nullptr && metal.per_core_addresses == nullptr) {
        add("bytes of per-core buffers (marked inexact)");
    }
    if (originals.open_chip == nullptr && originals.open_chip_with_own_span == nullptr) {
        add("chips before their first buffer");
    }
    if (originals.end_trace == nullptr && originals.end_trace_on_queue == nullptr) {
        add("traces beyond their region");
    }
    if (originals.configure_device == nullptr) {
        add("kernels in slow dispatch");
    }
    if (originals.enqueue_workload == nullptr) {
        add("kernels in fast dispatch");
    }
    if (!is_called_through_linker(reinterpret_cast<const void*>(originals.validate_circular_buffer_region))) {
        add(originals.compile_and_allocate != nullptr ? "clashes in slow dispatch" : "clashes");
    }
    if (metal.program_id == nullptr) {
        add("the runtime's numbers of programs");
    }
    if (metal.buffer_next_id == nullptr && metal.places.buffer_id == 0) {
        add("numbers of buffers");
    }
    if (const std::string problem = Processor::probe(metal); !problem.empty()) {
        add(problem);
    }
    if (metal.allocation_context != nullptr) {
        const char* tracking = base::secure_environment("TT_METAL_TRACE_ALLOC_TRACKING");
        if (tracking == nullptr || std::string_view(tracking) != "1") {
            add("names of caches and traces unless TT_METAL_TRACE_ALLOC_TRACKING=1 ('ttmem run --names')");
        }
    }
    if (originals.allocate_dataflow_buffers != nullptr && !metal.is_dataflow_layout_seen) {
        add(metal.dataflow_buffers_of != nullptr ? "sizes of dataflow buffers (marked inexact)"
                                                 : "dataflow buffers");
    }
    if (originals.allocate_scratchpads != nullptr && !metal.is_scratchpad_layout_seen) {
        add("sizes of scratchpads (marked inexact)");
    } else if (originals.allocate_scratchpads != nullptr && !metal.are_kernel_arguments_seen) {
        add("which programs have scratchpads (all marked inexact)");
    } else if (originals.allocate_scratchpads != nullptr) {
        add("scratchpads if the runtime is optimised (marked inexact)");  // their addresses are marked in one translation unit
    }
    return missing;
}

}  // namespace
}  // namespace ttmem::observer

extern "C" __attribute__((visibility("default"))) void ttmem_observer_attach(
    const ttmem::observer::Runtime& runtime, ttmem::observer::Attachment& answer);

extern "C" void ttmem_observer_attach(const ttmem::observer::Runtime& runtime,
                                      ttmem::observer::Attachment& answer) {
    using namespace ttmem::observer;
    answer = {};
    try {
        Metal metal;
        if (const char* problem = look_up(runtime, metal)) {
            snprintf(answer.problem, sizeof answer.problem, "%s", problem);
            return;
        }
        snprintf(answer.missing_facts, sizeof answer.missing_facts, "%s", missing_facts(metal).c_str());
        observer = new Observer(metal);
    } catch (...) {
        snprintf(answer.problem, sizeof answer.problem, "there is no memory");
        return;
    }
    pthread_atfork(nullptr, nullptr, start_afresh_after_fork);
#define TTMEM_OBSERVE(name, symbol, result, parameters, arguments, needed) \
    answer.observing.functions.name = runtime.originals.name != nullptr ? +(name) : nullptr;
    TTMEM_INTERPOSED(TTMEM_OBSERVE)
#undef TTMEM_OBSERVE
    answer.observing.enter_scope = enter_user_scope;
    answer.observing.leave_scope = leave_user_scope;
    answer.observing.find_client_function = find_client_function;
    answer.fits = true;
}
