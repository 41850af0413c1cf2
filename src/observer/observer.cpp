// SPDX-License-Identifier: Apache-2.0

// What is recorded when the runtime calls one of its functions. Each has the original's name, calls the original, and
// lets its exceptions pass; nothing of its own ever leaves one of them as an exception.

#include "observer/observer.hpp"

#include <pthread.h>

#include <exception>

#include "observer/notice.hpp"

namespace ttmem::observer {

namespace {

Observer* observer = nullptr;  // never destroyed: buffers of static storage are freed at the very end

using metal::Buffer;
using metal::IDevice;

// Recording can't fail for the user: memory that is not there, or an error of the runtime when it is asked, loses the
// event.
template <class Record>
void record(const Record& what) noexcept {
    try {
        what();
    } catch (const std::exception& error) {
        observer->sets.stand_aside(error.what());
    } catch (...) {
        observer->sets.stand_aside("the runtime answered with an error");
    }
}

// Whoever passes through a function of a program.
class InProgram {
public:
    explicit InProgram(const void* program) noexcept : outer_(thread_data().frame) {
        record([&] {
            Frame& frame = thread_data().frame;
            if (frame.program != program) {
                frame = {program, observer->programs.next_frame()};
            }
        });
    }
    ~InProgram() { thread_data().frame = outer_; }
    InProgram(const InProgram&) = delete;
    InProgram& operator=(const InProgram&) = delete;

private:
    const Frame outer_;
};

// Tells of a failure when an exception passes, unless the thread is only being cancelled. Where the runtime can't be asked
// about it, the exception tells alone.
template <class What>
class OnException {
public:
    explicit OnException(What what) : what_(what), before_(std::uncaught_exceptions()) {}
    ~OnException() {
        if (std::uncaught_exceptions() > before_) {
            try {
                what_();
            } catch (...) {  // NOLINT(bugprone-empty-catch)
            }
        }
    }
    OnException(const OnException&) = delete;
    OnException& operator=(const OnException&) = delete;

private:
    const What what_;
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
    const OnException failed([&] { observer->out_of_memory(static_cast<const Buffer*>(buffer)); });
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

// Before the memory is free for others.
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

// They lie in L1 as circular buffers do, and live as long.
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

bool open_chip(void* self, uint8_t queues, uint64_t l1_small, uint64_t trace, uint64_t l1, Span remap,
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
    const InProgram frame(self);
    const OnException failed([&] { observer->clashed(self, static_cast<const IDevice*>(device)); });
    observer->metal.originals.compile_and_allocate(self, device, slow);
}

void allocate_circular_buffers(void* self, void* device) {
    const InProgram frame(self);
    observer->metal.originals.allocate_circular_buffers(self, device);
}

void deallocate_circular_buffers(void* self) {
    const InProgram frame(self);
    observer->metal.originals.deallocate_circular_buffers(self);
}

void destroy_program(void* self) {
    {
        const InProgram frame(self);
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

// What the parent recorded is not in the child's segment: it starts afresh, as libttmem does.
void start_afresh_after_fork() {
    observer = new Observer(observer->metal);
    thread_data().told = 0;
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
