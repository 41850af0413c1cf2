// SPDX-License-Identifier: Apache-2.0
#include "observer/processor.hpp"

#include <elf.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "observer/scopes.hpp"
#include "observer/thread_data.hpp"

namespace ttmem::observer {

namespace {

constexpr size_t kSlots = 32;  // the largest interface has 16 virtual functions
constexpr size_t kNone = kSlots;

using Slots = std::array<void*, kSlots>;

// To its callers a pointer to a vtable. A derived class would need symbols of the runtime.
struct ProcessorObject {
    void** vtable = nullptr;
};

size_t last_called = kNone;  // used by the probe only, on one thread

template <size_t kNumber>
uint64_t report_number() {
    last_called = kNumber;
    return 0;
}

template <size_t... kNumbers>
Slots numbered_slots(std::index_sequence<kNumbers...> /*numbers*/) {
    return {reinterpret_cast<void*>(report_number<kNumbers>)...};
}

uint64_t do_nothing() { return 0; }  // also for is_capture_processor(): false

void on_start(void* /*self*/, std::string_view name) { enter_scope(name); }
void on_end(void* /*self*/) { leave_scope(); }

// Returns an empty JSON value, which is two words, through the address that is passed first.
void* on_end_capture(void* result) {
    std::memset(result, 0, 16);
    return result;
}

// Never destroyed: threads may end after static destructors.
Slots* const slots = new Slots();
ProcessorPointer* const processor = new ProcessorPointer();  // empty until the probe succeeded

ProcessorPointer make_processor(Slots& functions) {
    auto* const object = new ProcessorObject{functions.data()};
    return {reinterpret_cast<metal::IGraphProcessor*>(object), [](metal::IGraphProcessor*) {}};
}

// The list may have gone when the last buffers are freed, so ours must leave it before, and never come back.
__thread bool has_left __attribute__((tls_model("initial-exec"))) = false;
ProcessorList* common_list = nullptr;

void leave(ProcessorList& list) {
    has_left = true;
    std::erase(list, *processor);
}

// A thread destroys its data in reverse order: this is made after the list.
struct ThreadLeaver {
    ProcessorList& list;
    ~ThreadLeaver() { leave(list); }
};

// Whether an address is in the thread-local storage of this thread.
bool is_thread_local(const void* address) {
    std::pair<const char*, bool> search(static_cast<const char*>(address), false);
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* target) {
            auto& [wanted, found] = *static_cast<std::pair<const char*, bool>*>(target);
            const auto* const start = static_cast<const char*>(info->dlpi_tls_data);
            for (int i = 0; start != nullptr && i < info->dlpi_phnum; ++i) {
                found = found || (info->dlpi_phdr[i].p_type == PT_TLS && wanted >= start &&
                                  wanted < start + info->dlpi_phdr[i].p_memsz);
            }
            return found ? 1 : 0;
        },
        &search);
    return search.second;
}

// The places of processor functions that the runtime's own functions call.
struct ProbedSlots {
    size_t allocate = kNone;
    size_t deallocate = kNone;
    size_t deallocate_cb = kNone;
    size_t program = kNone;
    bool enables_tracker = false;
};

class ProcessorProbe {
public:
    ProcessorProbe(const Metal& metal, metal::GraphTracker* tracker) : metal_(metal), tracker_(tracker) {
        metal_.push_processor(tracker_, probing_);
    }
    ~ProcessorProbe() { std::erase(metal_.processors(tracker_), probing_); }
    ProcessorProbe(const ProcessorProbe&) = delete;
    ProcessorProbe& operator=(const ProcessorProbe&) = delete;

    ProbedSlots find() const {
        // Objects of zeros, because some builds refuse null.
        alignas(16) static char nothing[1024];
        ProbedSlots found;
        const Functions& call = metal_.originals;
        found.allocate = number_of([&] { call.track_allocate(tracker_, nothing); });
        found.deallocate = number_of([&] { call.track_deallocate(tracker_, nothing); });
        found.deallocate_cb = number_of([&] { call.track_deallocate_cb(tracker_, nothing); });
        found.program = number_of([&] { metal_.track_program(tracker_, nothing, nothing); });
        found.enables_tracker = metal_.is_tracker_enabled(tracker_);
        return found;
    }

private:
    template <class Call>
    static size_t number_of(const Call& call) {
        last_called = kNone;
        call();
        return std::exchange(last_called, kNone);
    }

    const Metal& metal_;
    metal::GraphTracker* const tracker_;
    Slots numbered_ = numbered_slots(std::make_index_sequence<kSlots>());
    ProcessorObject object_{numbered_.data()};
    const ProcessorPointer probing_{reinterpret_cast<metal::IGraphProcessor*>(&object_),
                                    [](metal::IGraphProcessor*) {}};
};

// The order of the functions is the same in every release: allocate, deallocate, allocate_cb, others, deallocate_cb, program,
// start, end, end with a result, begin of a capture, end of a capture, destructors.
bool is_as_expected(const ProbedSlots& found) {
    return found.deallocate == found.allocate + 1 && found.deallocate_cb > found.deallocate + 1 &&
           found.program == found.deallocate_cb + 1 && found.program + 8 < kSlots;
}

}  // namespace

std::string Processor::probe(const Metal& metal) {
    if (metal.originals.tracker_instance == nullptr) {
        return "op names: the runtime hides its tracker";
    }
    auto* const tracker = static_cast<metal::GraphTracker*>(metal.originals.tracker_instance());
    if (!metal.processors(tracker).empty()) {
        return "op names: a graph capture is running";
    }
    ProbedSlots found;
    try {
        found = ProcessorProbe(metal, tracker).find();
    } catch (...) {
        return "op names: its tracker refused a probe";
    }
    if (!is_as_expected(found)) {
        return "op names: its graph processors differ";
    }
    if (found.enables_tracker) {
        return "op names: a processor would turn on its graph tracking";
    }
    slots->fill(reinterpret_cast<void*>(do_nothing));
    (*slots)[found.program + 1] = reinterpret_cast<void*>(on_start);
    (*slots)[found.program + 2] = reinterpret_cast<void*>(on_end);
    (*slots)[found.program + 3] = reinterpret_cast<void*>(on_end);
    (*slots)[found.program + 5] = reinterpret_cast<void*>(on_end_capture);
    *processor = make_processor(*slots);
    return "";
}

void Processor::watch_thread(const Metal& metal, metal::GraphTracker* tracker) {
    if (has_left || *processor == nullptr) {
        return;
    }
    ProcessorList& list = metal.processors(tracker);
    static const bool has_thread_lists = is_thread_local(&list);
    if (!has_thread_lists) {
        static std::once_flag once;
        std::call_once(once, [&] {
            if (list.empty()) {
                metal.push_processor(tracker, *processor);
                common_list = &list;
                // Runs before the tracker is destroyed, because the tracker was made before.
                std::atexit([] { leave(*common_list); });
            }
        });
        thread_data().is_watched = true;
        return;
    }
    // On top of another processor it would be popped in its place at the end of a capture.
    if (list.empty()) {
        metal.push_processor(tracker, *processor);
        thread_data().is_watched = true;
        thread_local const ThreadLeaver leaver{list};
        static_cast<void>(leaver);
    }
}

}  // namespace ttmem::observer
