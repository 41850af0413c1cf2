// SPDX-License-Identifier: Apache-2.0

// Records the runtime's calls. Each function has the original's name, calls the original and passes on its exceptions. It
// throws no exception of its own.

#include "observer/observer.hpp"

#include <pthread.h>

#include <exception>

#include "observer/notice.hpp"

namespace ttmem::observer {

namespace {

Observer* observer = nullptr;  // never destroyed: buffers with static storage are freed at process exit

using metal::Buffer;
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

// Reports a failure when an exception passes, unless the thread is being cancelled. If the runtime cannot be queried, only
// the exception itself remains.
template <class Callback>
class ExceptionGuard {
public:
    explicit ExceptionGuard(Callback what) : what_(what), before_(std::uncaught_exceptions()) {}
    ~ExceptionGuard() {
        if (std::uncaught_exceptions() > before_) {
            try {
                what_();
            } catch (...) {  // NOLINT(bugprone-empty-catch)
            }
        }
    }
    ExceptionGuard(const ExceptionGuard&) = delete;
    ExceptionGuard& operator=(const ExceptionGuard&) = delete;

private:
    const Callback what_;
    const int before_;
};

void* tracker_instance() {
    void* const tracker = observer->metal.originals.tracker_instance();
    record([&] { observer->watch_thread(static_cast<metal::GraphTracker*>(tracker)); });
    return tracker;
}

bool hook_allocate(void* self, void* buffer) {
    const bool is_hooked = observer->metal.originals.hook_allocate(self, buffer);
    thread_data().hooked = is_hooked ? buffer : nullptr;
    return is_hooked;
}

uint64_t allocate_buffer(void* self, void* buffer) {
    const ExceptionGuard failed([&] { observer->out_of_memory(static_cast<const Buffer*>(buffer)); });
    const uint64_t address = observer->metal.originals.allocate_buffer(self, buffer);
    ThreadData& data = thread_data();
    data.allocated = buffer;
    data.allocator = self;
    return address;
}

void track_allocate(void* self, void* buffer) {
    record([&] { observer->allocated(static_cast<const Buffer*>(buffer)); });
    observer->metal.originals.track_allocate(self, buffer);
}

void track_deallocate(void* self, void* buffer) {
    record([&] { observer->freed(static_cast<const Buffer*>(buffer)); });
    observer->metal.originals.track_deallocate(self, buffer);
}

// Before the memory can be reused.
void deallocate_buffers(void* self) {
    record([&] { observer->buffers.free_all_of(self); });
    observer->metal.originals.deallocate_buffers(self);
}

void track_allocate_cb(void* self, void* cores, uint64_t address, uint64_t size, bool global, void* device) {
    record([&] {
        observer->circular_buffer(static_cast<const IDevice*>(device),
                                  {.address = address,
                                   .size = size,
                                   .cores = static_cast<metal::CoreRangeSet*>(cores),
                                   .is_view = global});
    });
    observer->metal.originals.track_allocate_cb(self, cores, address, size, global, device);
}

// They lie in L1 like circular buffers and live as long.
void track_allocate_dataflow_buffer(void* self, void* cores, uint64_t address, uint64_t size, bool borrows,
                                    void* device) {
    record([&] {
        observer->circular_buffer(static_cast<const IDevice*>(device),
                                  {.address = address,
                                   .size = size,
                                   .cores = static_cast<metal::CoreRangeSet*>(cores),
                                   .is_view = borrows});
    });
    observer->metal.originals.track_allocate_dataflow_buffer(self, cores, address, size, borrows, device);
}

void track_allocate_scratchpad(void* self, void* cores, uint64_t address, uint64_t size, void* device) {
    record([&] {
        observer->circular_buffer(static_cast<const IDevice*>(device),
                                  {.address = address,
                                   .size = size,
                                   .cores = static_cast<metal::CoreRangeSet*>(cores),
                                   .is_view = false});
    });
    observer->metal.originals.track_allocate_scratchpad(self, cores, address, size, device);
}

void track_deallocate_cb(void* self, void* device) {
    record([&] {
        if (const void* program = thread_data().frame.program) {
            observer->programs.free_on(program, static_cast<const IDevice*>(device));
        }
    });
    observer->metal.originals.track_deallocate_cb(self, device);
}

bool open_chip(void* self, uint8_t queues, uint64_t l1_small, uint64_t trace, uint64_t l1, PassedSpan remap,
               bool minimal) {
    const bool is_open =
        observer->metal.originals.open_chip(self, queues, l1_small, trace, l1, remap, minimal);
    record([&] {
        if (is_open) {
            observer->sets.of(static_cast<const IDevice*>(self));
        }
    });
    return is_open;
}

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

void compile_and_allocate(void* self, void* device, bool slow) {
    const ProgramScope frame(self);
    const ExceptionGuard failed([&] { observer->clashed(self, static_cast<const IDevice*>(device)); });
    observer->metal.originals.compile_and_allocate(self, device, slow);
}

void allocate_circular_buffers(void* self, void* device) {
    const ProgramScope frame(self);
    observer->metal.originals.allocate_circular_buffers(self, device);
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
        observer->loaded(*static_cast<const metal::Program*>(program), static_cast<IDevice*>(device));
    });
    return done;
}

void enqueue_workload(void* queue, void* workload, bool blocking) {
    observer->metal.originals.enqueue_workload(queue, workload, blocking);
    record([&] {
        observer->loaded(*static_cast<const metal::distributed::MeshCommandQueue*>(queue),
                         *static_cast<metal::distributed::MeshWorkload*>(workload));
    });
}

// The parent's records are not in the child's segment: the child starts empty, as libttmem does.
void start_afresh_after_fork() {
    observer = new Observer(observer->metal);
    thread_data().reported_scopes = 0;
}

}  // namespace
}  // namespace ttmem::observer

extern "C" __attribute__((visibility("default"))) const char* ttmem_observer_attach(
    const ttmem::observer::Runtime& runtime, ttmem::observer::Functions& observing);

extern "C" const char* ttmem_observer_attach(const ttmem::observer::Runtime& runtime,
                                             ttmem::observer::Functions& observing) {
    using namespace ttmem::observer;
    try {
        Metal metal;
        if (const char* problem = look_up(runtime, metal)) {
            return problem;
        }
        observer = new Observer(metal);
    } catch (...) {
        return "there is no memory";
    }
    pthread_atfork(nullptr, nullptr, start_afresh_after_fork);
#define TTMEM_OBSERVE(name, symbol, result, parameters, arguments, needed) observing.name = name;
    TTMEM_INTERPOSED(TTMEM_OBSERVE)
#undef TTMEM_OBSERVE
    return nullptr;
}
