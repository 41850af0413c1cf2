// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of tt-metal that the observer interposes, and the interface between the observer's two libraries.
//
//   libttmem_observer.so     is preloaded into the user's program and all its children. It defines the functions below
//                            under tt-metal's names, needs only libc, and does nothing until one of them is called.
//   ttmem-observer/*.so      the observers. The first call loads the first that fits; the C++ runtime of the process is
//                            loaded by then. It records each call and calls the original.
//
// Methods take their object first, and classes are void here: neither library includes a header of tt-metal.
//
// Releases differ. A function that another release has under another name is a row of its own, with its own original.

#include <cstdint>

// name, symbol, result, parameters, arguments, and whether the observer requires it, given `originals`
#define TTMEM_INTERPOSED(FUNCTION)                                                                                                      \
    FUNCTION(tracker_instance, _ZN2tt8tt_metal12GraphTracker8instanceEv, void*, (), (), false)                                          \
    FUNCTION(hook_allocate, _ZN2tt8tt_metal12GraphTracker13hook_allocateEPKNS0_6BufferE, bool,                                          \
             (void* self, void* buffer), (self, buffer), true)                                                                          \
    FUNCTION(track_allocate, _ZN2tt8tt_metal12GraphTracker14track_allocateEPKNS0_6BufferE, void,                                        \
             (void* self, void* buffer), (self, buffer), true)                                                                          \
    FUNCTION(track_deallocate, _ZN2tt8tt_metal12GraphTracker16track_deallocateEPNS0_6BufferE, void,                                     \
             (void* self, void* buffer), (self, buffer), true)                                                                          \
    FUNCTION(track_allocate_cb,                                                                                                         \
             _ZN2tt8tt_metal12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE, void,                            \
             (void* self, void* cores, uint64_t address, uint64_t size, bool global, void* device),                                     \
             (self, cores, address, size, global, device),                                                                              \
             originals.track_allocate_cb_on_global_cores == nullptr)                                                                    \
    FUNCTION(track_allocate_cb_on_global_cores,                                                                                         \
             _ZN2tt8tt_metal12GraphTracker17track_allocate_cbERK12CoreRangeSetmmbPKNS0_7IDeviceE, void,                                 \
             (void* self, void* cores, uint64_t address, uint64_t size, bool global, void* device),                                     \
             (self, cores, address, size, global, device), false)                                                                       \
    FUNCTION(track_deallocate_cb, _ZN2tt8tt_metal12GraphTracker19track_deallocate_cbEPKNS0_7IDeviceE, void,                             \
             (void* self, void* device), (self, device), true)                                                                          \
    FUNCTION(allocate_buffer, _ZN2tt8tt_metal13AllocatorImpl15allocate_bufferEPNS0_6BufferE, uint64_t,                                  \
             (void* self, void* buffer), (self, buffer), originals.allocator_allocate_buffer == nullptr)                                \
    FUNCTION(allocator_allocate_buffer, _ZN2tt8tt_metal9Allocator15allocate_bufferEPNS0_6BufferE, uint64_t,                             \
             (void* self, void* buffer), (self, buffer), false)                                                                         \
    FUNCTION(deallocate_buffers, _ZN2tt8tt_metal13AllocatorImpl18deallocate_buffersEv, void, (void* self),                              \
             (self), originals.allocate_buffer != nullptr)                                                                              \
    FUNCTION(allocator_deallocate_buffers, _ZN2tt8tt_metal9Allocator18deallocate_buffersEv, void,                                       \
             (void* self), (self), originals.allocate_buffer == nullptr)                                                                \
    FUNCTION(override_state, _ZN2tt8tt_metal13AllocatorImpl14override_stateERKNS0_14AllocatorStateE, void,                              \
             (void* self, void* state), (self, state), false)                                                                           \
    FUNCTION(open_chip, _ZN2tt8tt_metal6Device10initializeEhmmmSt4spanIKjLm18446744073709551615EEb, bool,                               \
             (void* self, uint8_t queues, uint64_t l1_small, uint64_t trace, uint64_t l1,                                               \
              ttmem::observer::PassedSpan remap, bool minimal),                                                                         \
             (self, queues, l1_small, trace, l1, remap, minimal), false)                                                                \
    FUNCTION(open_chip_with_own_span,                                                                                                   \
             _ZN2tt8tt_metal6Device10initializeEhmmmN4ttsl4SpanIKjLm18446744073709551615EEEb, bool,                                     \
             (void* self, uint8_t queues, uint64_t l1_small, uint64_t trace, uint64_t l1,                                               \
              ttmem::observer::PassedSpan remap, bool minimal),                                                                         \
             (self, queues, l1_small, trace, l1, remap, minimal), false)                                                                \
    FUNCTION(close_chip, _ZN2tt8tt_metal6Device5closeEv, bool, (void* self), (self), true)                                              \
    FUNCTION(close_mesh, _ZN2tt8tt_metal11distributed10MeshDevice5closeEv, bool, (void* self), (self), true)                            \
    FUNCTION(delete_mesh, _ZN2tt8tt_metal11distributed10MeshDeviceD0Ev, void, (void* self), (self), true)                               \
    FUNCTION(destroy_mesh, _ZN2tt8tt_metal11distributed10MeshDeviceD1Ev, void, (void* self), (self), true)                              \
    FUNCTION(                                                                                                                           \
        end_trace,                                                                                                                      \
        _ZN2tt8tt_metal11distributed10MeshDevice14end_mesh_traceEhRKN4ttsl10StrongTypeIjNS1_14MeshTraceIdTagEEE,                        \
        void, (void* self, uint8_t queue, void* trace), (self, queue, trace), false)                                                    \
    FUNCTION(                                                                                                                           \
        end_trace_on_queue,                                                                                                             \
        _ZN2tt8tt_metal11distributed10MeshDevice14end_mesh_traceERNS1_16MeshCommandQueueERKN4ttsl10StrongTypeIjNS1_14MeshTraceIdTagEEE, \
        void, (void* self, void* queue, void* trace), (self, queue, trace), false)                                                      \
    FUNCTION(compile_and_allocate,                                                                                                      \
             _ZN2tt8tt_metal6detail11ProgramImpl20compile_and_allocateEPNS0_7IDeviceEb, void,                                           \
             (void* self, void* device, bool slow), (self, device, slow), false)                                                        \
    FUNCTION(allocate_circular_buffers,                                                                                                 \
             _ZN2tt8tt_metal6detail11ProgramImpl25allocate_circular_buffersEPKNS0_7IDeviceE, void,                                      \
             (void* self, void* device), (self, device), true)                                                                          \
    FUNCTION(validate_circular_buffer_region,                                                                                           \
             _ZN2tt8tt_metal6detail11ProgramImpl31validate_circular_buffer_regionEPKNS0_7IDeviceE, void,                                \
             (void* self, void* device), (self, device), originals.compile_and_allocate == nullptr)                                     \
    FUNCTION(allocate_dataflow_buffers,                                                                                                 \
             _ZN2tt8tt_metal6detail11ProgramImpl25allocate_dataflow_buffersEPKNS0_7IDeviceE, void,                                      \
             (void* self, void* device), (self, device), false)                                                                         \
    FUNCTION(allocate_scratchpads,                                                                                                      \
             _ZN2tt8tt_metal6detail11ProgramImpl20allocate_scratchpadsEPKNS0_7IDeviceE, void,                                           \
             (void* self, void* device), (self, device), false)                                                                         \
    FUNCTION(mark_address, _ZN2tt8tt_metal6detail11ProgramImpl23CircularBufferAllocator12mark_addressEmmm,                              \
             void, (void* self, uint64_t address, uint64_t size, uint64_t base),                                                        \
             (self, address, size, base), false)                                                                                        \
    FUNCTION(kernel_arguments, _ZN2tt8tt_metal6Kernel19common_runtime_argsEv, void*, (void* self), (self),                              \
             false)                                                                                                                     \
    FUNCTION(validate_dataflow_buffer_region,                                                                                           \
             _ZN2tt8tt_metal6detail11ProgramImpl31validate_dataflow_buffer_regionEPKNS0_7IDeviceE, void,                                \
             (void* self, void* device), (self, device), false)                                                                         \
    FUNCTION(deallocate_circular_buffers,                                                                                               \
             _ZN2tt8tt_metal6detail11ProgramImpl27deallocate_circular_buffersEv, void, (void* self), (self),                            \
             false)                                                                                                                     \
    FUNCTION(destroy_program, _ZN2tt8tt_metal6detail11ProgramImplD1Ev, void, (void* self), (self), true)                                \
    FUNCTION(configure_device,                                                                                                          \
             _ZN2tt8tt_metal6detail26ConfigureDeviceWithProgramEPNS0_7IDeviceERNS0_7ProgramEb, bool,                                    \
             (void* device, void* program, bool slow), (device, program, slow), false)                                                  \
    FUNCTION(                                                                                                                           \
        enqueue_workload,                                                                                                               \
        _ZN2tt8tt_metal11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_12MeshWorkloadEb,                                \
        void, (void* queue, void* workload, bool blocking), (queue, workload, blocking), false)

namespace ttmem::observer {

// As a std::span is passed.
struct PassedSpan {
    const void* start;
    uint64_t size;
};

#define TTMEM_TYPE(name, symbol, result, parameters, arguments, needed) \
    using name##_function = result parameters;
TTMEM_INTERPOSED(TTMEM_TYPE)
#undef TTMEM_TYPE

// The originals (null if the runtime lacks one), or their replacements.
struct Functions {
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration has no room for them.
#define TTMEM_MEMBER(name, symbol, result, parameters, arguments, needed) name##_function* name;
    // NOLINTEND(bugprone-macro-parentheses)
    TTMEM_INTERPOSED(TTMEM_MEMBER)
#undef TTMEM_MEMBER
};

struct Runtime {
    void* (*find)(const char* symbol);  // in the runtime's library; the observer is not linked with it
    Functions originals;
    const char* places = nullptr;  // the file of places to use; null: they are searched
};

// What an observer does for the library that loads it. A scope names what this thread allocates until it leaves it.
struct Observation {
    Functions functions;
    void (*enter_scope)(const char* name);
    void (*leave_scope)();
    void* (*find_client_function)(
        const char* name);  // of ttmem.h; null if it is not among those that are given out
};

// The answer of the observer.
struct Attachment {
    Observation observing;
    bool fits;
    char problem[400];        // why it does not fit
    char missing_facts[400];  // if it fits: what this runtime does not give, or nothing
};

// The only function of ttmem-observer/any.so.
using Attach = void(const Runtime& runtime, Attachment& answer);
constexpr char kAttach[] = "ttmem_observer_attach";

}  // namespace ttmem::observer
