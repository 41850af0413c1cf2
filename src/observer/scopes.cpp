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

// Looks like an IGraphProcessor to its callers: a pointer to a vtable. A derived class would need symbols of the runtime.
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
    using EndFunction = void (IGraphProcessor::*)();
    using EndFunctionWithResult = void (IGraphProcessor::*)(const std::any&);
    if (metal.processor_vtable.empty()) {
        return nullptr;
    }
    // Never destroyed: threads may end after static destructors.
    auto* const vtable = new std::vector<void*>(metal.processor_vtable);
    void** const slots = vtable->data() + 2;
    slots[vtable_slot(&IGraphProcessor::is_capture_processor)] = reinterpret_cast<void*>(is_no_capture);
    slots[vtable_slot(&IGraphProcessor::track_function_start)] = reinterpret_cast<void*>(on_start);
    slots[vtable_slot(static_cast<EndFunction>(&IGraphProcessor::track_function_end))] =
        reinterpret_cast<void*>(on_end);
    slots[vtable_slot(static_cast<EndFunctionWithResult>(&IGraphProcessor::track_function_end))] =
        reinterpret_cast<void*>(on_end_with_result);
    auto* const processor = new Processor{slots};
    return {reinterpret_cast<IGraphProcessor*>(processor), [](IGraphProcessor*) {}};
}

void enter_scope(std::string_view name) { thread_data().unreported_scopes.emplace_back(name); }

void leave_scope() {
    ThreadData& data = thread_data();
    if (!data.unreported_scopes.empty()) {
        data.unreported_scopes.pop_back();
    } else if (data.reported_scopes != 0) {
        --data.reported_scopes;
        ttmem_scope_pop();
    }
}

void report_scopes() {
    ThreadData& data = thread_data();
    for (const std::string& name : data.unreported_scopes) {
        ttmem_scope_push(name.c_str());
    }
    data.reported_scopes += data.unreported_scopes.size();
    data.unreported_scopes.clear();
}

}  // namespace ttmem::observer
