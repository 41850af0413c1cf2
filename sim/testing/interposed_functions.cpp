// SPDX-License-Identifier: Apache-2.0
//
// A library to preload: it interposes the runtime functions that an observer needs, counts the calls and forwards them.
// It knows only their names, so it can be loaded into any program.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>

namespace {

template <typename Function>
Function* original(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Counter {
    const char* name;
    std::atomic<unsigned long> calls = 0;
};

}  // namespace

// Methods take their object as the first argument; only pointers and numbers are passed on.
#define INTERPOSE(number, symbol, result, parameters, arguments)        \
    static Counter counter_##number{#symbol};                           \
    extern "C" __attribute__((visibility("default")))                   \
    result interposed_##number parameters __asm__(#symbol);             \
    extern "C" result interposed_##number parameters {                  \
        static auto* const next = original<result parameters>(#symbol); \
        ++counter_##number.calls;                                       \
        return next arguments;                                          \
    }

#define SELF (void* self)
#define SELF_AND_POINTER (void* self, void* a)

INTERPOSE(0, _ZN2tt8tt_metal12GraphTracker14track_allocateEPKNS0_6BufferE, void, SELF_AND_POINTER, (self, a))
INTERPOSE(1, _ZN2tt8tt_metal12GraphTracker16track_deallocateEPNS0_6BufferE, void, SELF_AND_POINTER, (self, a))
INTERPOSE(2, _ZN2tt8tt_metal12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE, void,
          (void* self, void* cores, unsigned long address, unsigned long size, bool global, void* device),
          (self, cores, address, size, global, device))
INTERPOSE(3, _ZN2tt8tt_metal12GraphTracker19track_deallocate_cbEPKNS0_7IDeviceE, void, SELF_AND_POINTER,
          (self, a))
INTERPOSE(4, _ZN2tt8tt_metal13AllocatorImpl15allocate_bufferEPNS0_6BufferE, unsigned long, SELF_AND_POINTER,
          (self, a))
INTERPOSE(5, _ZN2tt8tt_metal13AllocatorImpl18deallocate_buffersEv, void, SELF, (self))
INTERPOSE(6, _ZN2tt8tt_metal6Device5closeEv, bool, SELF, (self))
INTERPOSE(7, _ZN2tt8tt_metal11distributed10MeshDevice5closeEv, bool, SELF, (self))
INTERPOSE(8, _ZN2tt8tt_metal6detail11ProgramImpl20compile_and_allocateEPNS0_7IDeviceEb, void,
          (void* self, void* device, bool slow), (self, device, slow))
INTERPOSE(9, _ZN2tt8tt_metal6detail11ProgramImpl25allocate_circular_buffersEPKNS0_7IDeviceE, void,
          SELF_AND_POINTER, (self, a))
INTERPOSE(10, _ZN2tt8tt_metal6detail11ProgramImpl27deallocate_circular_buffersEv, void, SELF, (self))
INTERPOSE(11, _ZN2tt8tt_metal6detail11ProgramImplD1Ev, void, SELF, (self))
INTERPOSE(12, _ZN2tt8tt_metal11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_12MeshWorkloadEb,
          void, (void* queue, void* workload, bool blocking), (queue, workload, blocking))

namespace {

__attribute__((destructor)) void print_counters() {
    for (const Counter* counter :
         {&counter_0, &counter_1, &counter_2, &counter_3, &counter_4, &counter_5, &counter_6, &counter_7,
          &counter_8, &counter_9, &counter_10, &counter_11, &counter_12}) {
        std::fprintf(stderr, "%lu %s\n", counter->calls.load(), counter->name);
    }
}

}  // namespace
