// SPDX-License-Identifier: Apache-2.0
#include "observer/scopes.hpp"

#include <ttmem/ttmem.h>

#include <any>
#include <span>
#include <string>
#include <vector>

#include "observer/thread_data.hpp"

namespace ttmem::observer {

namespace {

// An object of IGraphProcessor as far as its callers can see: a pointer to a vtable. A class derived from it would need
// symbols of the runtime.
struct Processor {
    void** vtable = nullptr;
};

bool is_no_capture(const metal::IGraphProcessor*) { return false; }

void on_start(metal::IGraphProcessor*, std::string_view name, std::span<metal::TrackedArgument>) {
    enter_scope(name);
}

void on_end(metal::IGraphProcessor*) { leave_scope(); }

void on_end_with_result(metal::IGraphProcessor*, const std::any&) { leave_scope(); }

}  // namespace

std::shared_ptr<metal::IGraphProcessor> make_processor(const Metal& metal) {
    using metal::IGraphProcessor;
    using End = void (IGraphProcessor::*)();
    using EndWithResult = void (IGraphProcessor::*)(const std::any&);
    if (metal.processor_vtable.empty()) {
        return nullptr;
    }
    // Both live for ever: threads end after everything else.
    auto* const vtable = new std::vector<void*>(metal.processor_vtable);
    void** const slots = vtable->data() + 2;
    slots[vtable_slot(&IGraphProcessor::is_capture_processor)] = reinterpret_cast<void*>(is_no_capture);
    slots[vtable_slot(&IGraphProcessor::track_function_start)] = reinterpret_cast<void*>(on_start);
    slots[vtable_slot(static_cast<End>(&IGraphProcessor::track_function_end))] =
        reinterpret_cast<void*>(on_end);
    slots[vtable_slot(static_cast<EndWithResult>(&IGraphProcessor::track_function_end))] =
        reinterpret_cast<void*>(on_end_with_result);
    auto* const processor = new Processor{slots};
    return {reinterpret_cast<IGraphProcessor*>(processor), [](IGraphProcessor*) {}};
}

void enter_scope(std::string_view name) { thread_data().untold.emplace_back(name); }

void leave_scope() {
    ThreadData& data = thread_data();
    if (!data.untold.empty()) {
        data.untold.pop_back();
    } else if (data.told != 0) {
        --data.told;
        ttmem_scope_pop();
    }
}

void tell_scopes() {
    ThreadData& data = thread_data();
    for (const std::string& name : data.untold) {
        ttmem_scope_push(name.c_str());
    }
    data.told += data.untold.size();
    data.untold.clear();
}

}  // namespace ttmem::observer
