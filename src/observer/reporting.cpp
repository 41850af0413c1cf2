// SPDX-License-Identifier: Apache-2.0
#include <ttmem/ttmem.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "observer/kernels.hpp"
#include "observer/observer.hpp"

namespace ttmem::observer {

namespace {

// Another reporter in the process may create its segment only with its first buffers.
constexpr unsigned kMostScans = 4;

// 0 where there is none.
uint64_t number_after(std::string_view text, std::string_view words) {
    uint64_t number = 0;
    if (const size_t place = text.find(words); place != std::string_view::npos) {
        std::from_chars(text.data() + place + words.size(), text.data() + text.size(), number);
    }
    return number;
}

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

// Contexts that say more than the op around them.
bool is_special_context(std::string_view context) {
    return context.starts_with("program_cache:") || context == "trace_storage";
}

// The name that the runtime gives to what it allocates now. It keeps one only if it tracks allocations of traces.
class ContextScope {
public:
    explicit ContextScope(const Metal& metal) {
        if (metal.allocation_context == nullptr) {
            return;
        }
        const std::string& context = metal.allocation_context();
        if (!context.empty() && (is_special_context(context) || !has_scope())) {
            ttmem_scope_push(context.c_str());
            is_open_ = true;
        }
    }
    ~ContextScope() {
        if (is_open_) {
            ttmem_scope_pop();
        }
    }
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

private:
    bool is_open_ = false;
};

}  // namespace

// Checks the first buffer of each kind, and of each that its kind is possible: where another value is read, each could pass
// for the kind of the first. If one differs, nothing is recorded from then on.
void Observer::expect(const metal::Buffer* buffer) {
    const uint32_t kind = metal.kind_of(buffer);
    ThreadData& data = thread_data();
    if ((kind < kBufferKinds && data.is_kind_checked[kind] &&
         metal.buffer_is_l1(buffer) == is_kind_in_l1(kind)) ||
        sets.is_disabled()) {
        return;
    }
    const auto check = [&] {
        if (const char* difference = difference_in(metal, buffer)) {
            sets.disable(difference);
        }
    };
    if (kind >= kBufferKinds || data.is_kind_checked[kind]) {
        check();
        return;
    }
    std::call_once(first_of_kind_[kind], check);
    data.is_kind_checked[kind] = true;
}

uint64_t Observer::bytes_per_bank(uint32_t rounding, const metal::Buffer* buffer) const {
    return round_up(metal.buffer_size_per_bank(buffer), rounding);
}

// The bytes reserved for it on one device, in all banks of the allocator that gave them: a sub-device has fewer.
uint64_t Observer::reserved_bytes(const ObservedSet& set, const metal::Buffer* buffer) const {
    const ThreadData& data = thread_data();
    const uint32_t kind = metal.kind_of(buffer);
    if (const size_t cores = kind == TTMEM_L1 ? metal.per_core_count_of(buffer) : 0) {
        return bytes_per_bank(set.rounding, buffer) * cores;
    }
    const bool has_allocator = kind != TTMEM_SYSTEM_MEMORY && data.allocated == buffer;
    return bytes_per_bank(set.rounding, buffer) *
           (has_allocator ? metal.banks_of_allocating(data.allocator, kind, set.banks[kind])
                          : set.banks[kind]);
}

// No buffer of the kind is freed before the first one has been allocated, so with the lock nothing disturbs the
// comparison.
void Observer::start_measurement(Measurement& measurement, const void* allocator,
                                 const metal::Buffer* buffer) {
    expect(buffer);
    ThreadData& data = thread_data();
    const uint32_t kind = metal.kind_of(buffer);
    if (kind >= kBufferKinds || kind == TTMEM_SYSTEM_MEMORY || data.is_kind_measured[kind] ||
        data.is_measuring || (metal.is_per_core != nullptr && metal.is_per_core(buffer))) {
        return;
    }
    // No set is opened here: the first record opens one, after another reporter of the process had its turn.
    const metal::IDevice* device = metal.device_of(buffer);
    const metal::Allocator* main = sets.is_disabled() ? nullptr : metal.allocator_of(device);
    if (main == nullptr) {
        return;
    }
    const uint64_t expected = bytes_per_bank(metal.allocator_alignment(main, TTMEM_DRAM), buffer);
    if (expected == 0) {
        return;  // an empty buffer is not compared
    }
    std::unique_lock lock(measured_[kind].mutex);
    data.is_kind_measured[kind] = measured_[kind].is_done;
    if (measured_[kind].is_done) {
        return;
    }
    const auto before = metal.statistics_of_allocating(allocator, device, kind);
    if (before) {
        measurement.lock = std::move(lock);
        measurement.allocated_before = before->allocated;
        measurement.expected = expected;
        data.is_measuring = true;
    }
}

void Observer::end_measurement(const Measurement& measurement, const void* allocator,
                               const metal::Buffer* buffer) {
    if (!measurement.lock.owns_lock()) {
        return;
    }
    const uint32_t kind = metal.kind_of(buffer);
    const auto after = metal.statistics_of_allocating(allocator, metal.device_of(buffer), kind);
    measured_[kind].is_done = true;
    if (after && after->allocated != measurement.allocated_before + measurement.expected) {
        throw std::runtime_error("a buffer of kind " + std::to_string(kind) + " takes " +
                                 std::to_string(after->allocated - measurement.allocated_before) +
                                 " bytes in a bank, not " + std::to_string(measurement.expected));
    }
}

void Observer::allocated(const metal::Buffer* buffer) {
    ThreadData& data = thread_data();
    if (data.allocated != buffer) {
        expect(buffer);  // else it was checked when it was given memory
    }
    if (data.scans < kMostScans) {
        ++data.scans;
        sets.find_other_reporter();
    }
    const auto set = sets.of(metal.device_of(buffer));
    if (!set) {
        return;
    }
    report_scopes();
    const ContextScope context(metal);
    const bool is_planned = std::exchange(data.hooked, nullptr) == buffer;
    const uint32_t kind = metal.kind_of(buffer);
    const uint64_t address = metal.buffer_address(buffer);
    BufferRecord record{
        .set = set->set, .kind = kind, .address = address, .requested = metal.size_of(buffer)};
    record.allocator = !is_planned && data.allocated == buffer ? data.allocator : nullptr;
    record.handle = ttmem_allocate(set->set, kind | (is_planned ? TTMEM_PLANNED : 0u), address,
                                   metal.size_of(buffer), reserved_bytes(*set, buffer), ids_.of(buffer));
    if (const auto before = buffers.put(buffer, record)) {
        ttmem_free(before->handle);
    }
}

void Observer::freed(const metal::Buffer* buffer) {
    if (const auto record = buffers.take(buffer)) {
        report_scopes();
        ttmem_free(record->handle);
    }
}

void Observer::closed(const metal::IDevice* device) {
    for (const Sets::ClosedSet& closed : sets.close(device)) {
        buffers.forget_set(closed.set);
        programs.forget_device(closed.device);
    }
}

// Newer releases report a circular buffer on each chip, older ones once on the mesh.
void Observer::circular_buffer(const metal::IDevice* device, const LaidOutBuffer& buffer) {
    const Frame& frame = thread_data().frame;
    if (frame.program == nullptr || sets.is_disabled()) {
        return;  // a capture reports programs that never run
    }
    for (const metal::IDevice* chip : metal.chips_of(device)) {
        if (const auto set = sets.of(chip)) {
            report_scopes();
            programs.add(frame, chip, set->set, buffer);
        }
    }
}

// Where no address was marked: whether the program has buffers of this class nevertheless.
bool Observer::has_unseen(const void* program, BufferClass of, const NotedLayout& layout) const {
    if (of == BufferClass::scratchpad) {
        return layout.has_asked_kernels;
    }
    if (of != BufferClass::dataflow || metal.are_marks_seen || metal.dataflow_buffers_of == nullptr) {
        return false;
    }
    const ReturnedVector& all = metal.dataflow_buffers_of(program);
    return all.begin != all.end;
}

// The runtime lays a program out once, for whatever device comes first; on other devices it uses the same layout.
void Observer::laid_out(const void* program, BufferClass of, const metal::IDevice* device,
                        const NotedLayout& layout) {
    if (sets.is_disabled()) {
        return;
    }
    if (!layout.marks.empty()) {
        programs.lay_out(program, of, buffers_of(layout.marks));
    } else if (has_unseen(program, of, layout) && !programs.is_laid_out(program, of)) {
        // It has some, of unknown sizes: one of 0 bytes on unknown cores makes the figures inexact.
        programs.lay_out(program, of, {{.has_known_cores = false}});
    }
    for (const metal::IDevice* chip : metal.chips_of(device)) {
        if (const auto set = sets.of(chip)) {
            report_scopes();
            programs.place(program, of, chip, set->set);
        }
    }
}

void Observer::load_on_chip(const void* program, metal::IDevice* chip) {
    const auto set = sets.of(chip);
    if (!set || !programs.is_first_load(program, chip)) {
        return;
    }
    const auto bytes = kernel_bytes_of(metal, program, chip);
    if (!bytes) {
        return;
    }
    report_scopes();
    for (size_t type = 0; type < bytes->size(); ++type) {
        if ((*bytes)[type] != 0) {
            ttmem_load_kernel(set->set, programs.id_of(program),
                              static_cast<ttmem_kind>(TTMEM_KERNEL_APPLICATION + type), (*bytes)[type]);
        }
    }
}

// A Program holds a pointer to what identifies it.
void Observer::loaded(const metal::Program* program, const metal::IDevice* device) {
    const auto* const impl = value_at<const void*>(program, 0);
    if (sets.is_disabled() || !programs.is_known(impl)) {
        return;
    }
    for (metal::IDevice* chip : metal.chips_of(device)) {
        load_on_chip(impl, chip);
    }
}

void Observer::loaded(const metal::MeshCommandQueue* queue, metal::MeshWorkload* workload) {
    if (metal.kernels_of == nullptr || metal.mesh_view == nullptr || metal.view_devices == nullptr ||
        sets.is_disabled()) {
        return;
    }
    const metal::IDevice* mesh = workloads_.mesh_of(queue);
    if (mesh == nullptr || !sets.of(mesh)) {
        return;
    }
    const auto is_program = [this](const void* program) { return programs.is_known(program); };
    for (const auto& [range, program] : workloads_.programs_of(workload, is_program)) {
        // Once per mesh, so that launching a workload again costs one lookup.
        if (programs.is_first_load(program, mesh)) {
            for (metal::IDevice* chip : metal.view_devices(metal.mesh_view(mesh), range)) {
                load_on_chip(program, chip);
            }
        }
    }
}

// A buffer counts its pages in 32 bits, too few for some sizes that must be refused. Below that the bytes in a bank must be
// those that the runtime reports, or the layout is not where other releases have it: then the report counts.
Observer::Need Observer::need_of(const ObservedSet& set, const void* allocator,
                                 const metal::Buffer* buffer) const {
    const Need reported = {bytes_per_bank(set.rounding, buffer), 0};
    const uint64_t page_size = metal.buffer_page_size(buffer);
    const uint32_t kind = metal.kind_of(buffer);
    const uint32_t banks = metal.banks_of_allocating(allocator, kind, set.banks[kind]);
    if (!metal.is_interleaved(buffer) || page_size == 0 || banks == 0) {
        return reported;
    }
    const uint64_t pages = metal.size_of(buffer) / page_size;
    const uint64_t bytes =
        round_up(round_up(pages, banks) / banks * metal.buffer_aligned_page_size(buffer), set.rounding);
    return bytes == reported.per_bank || pages > UINT32_MAX ? Need{bytes, banks} : reported;
}

void Observer::out_of_memory(const void* allocator, const metal::Buffer* buffer) {
    const metal::IDevice* device = metal.device_of(buffer);
    const auto set = sets.of(device);
    const auto now =
        set ? metal.statistics_of_allocating(allocator, device, metal.kind_of(buffer)) : std::nullopt;
    if (!now) {
        return;
    }
    ttmem_failed_request request{};
    ttmem_out_of_memory& failure = request.failure;
    failure.set = set->set;
    failure.kind = metal.kind_of(buffer);
    failure.requested = metal.size_of(buffer);
    const Need need = need_of(*set, allocator, buffer);
    failure.needed_per_bank = need.per_bank;
    failure.free_per_bank = now->free;
    failure.largest_free_per_bank = now->largest_free;
    request.page_bytes = metal.buffer_page_size(buffer);
    request.banks = need.banks;
    request.direction = TTMEM_UNKNOWN_DIRECTION;
    if (failure.needed_per_bank > failure.largest_free_per_bank) {  // else it failed for another reason
        report_scopes();
        ttmem_request_failed(&request);
    }
}

void Observer::trace_refused(const metal::IDevice* mesh, const char* text) {
    constexpr std::string_view kBeforeSize = "Creating trace buffers of size ";
    constexpr std::string_view kBeforeRegion = ", but only ";
    constexpr std::string_view kAfter = "is allocated for trace region";
    const std::string_view all(text);
    const uint64_t together = number_after(all, kBeforeSize);  // of all traces
    const auto set = sets.of(mesh);
    if (!set || together == 0 || all.find(kAfter) == std::string_view::npos) {
        return;
    }
    const BankStatistics now = metal.statistics_of(metal.allocator_of(mesh), TTMEM_TRACE);
    const uint64_t live = buffers.requested_in(set->set, TTMEM_TRACE);
    const uint64_t banks = std::max(set->banks[TTMEM_TRACE], 1u);
    ttmem_out_of_memory failure{};
    failure.set = set->set;
    failure.kind = TTMEM_TRACE;
    failure.requested = together > live ? together - live : together;
    failure.needed_per_bank = round_up((failure.requested + banks - 1) / banks, set->rounding);
    // The limit is the size of the region as requested. The banks are larger: it is rounded up in each.
    const uint64_t region = number_after(all, kBeforeRegion);
    const uint64_t before = together - failure.requested;
    const uint64_t left = region > before ? (region - before) / banks : 0;
    failure.free_per_bank = std::min(now.free, left);
    failure.largest_free_per_bank = std::min(now.largest_free, left);
    report_scopes();
    ttmem_allocation_failed(&failure);
}

void Observer::clashed(const void* program, const metal::IDevice* device) {
    ThreadData& data = thread_data();
    if (data.failed_frame == data.frame.number) {
        return;  // the exception passed through an inner function of the program before
    }
    const auto highest = programs.highest_end_of(program);
    const auto set = highest ? sets.of(device) : std::nullopt;
    if (!set) {
        return;
    }
    const std::optional<uint64_t> lowest = metal.lowest_l1_address_of(device);
    const uint64_t l1_end = metal.l1_size_of(device);
    const bool is_beyond_l1 = highest->end > l1_end;
    if (!is_beyond_l1 && (!lowest || highest->end <= *lowest)) {
        return;  // it failed for another reason
    }
    data.failed_frame = data.frame.number;
    ttmem_cb_clash clash{};
    clash.set = set->set;
    clash.core_x = static_cast<uint16_t>(highest->core.x);
    clash.core_y = static_cast<uint16_t>(highest->core.y);
    clash.program = highest->program;
    clash.requested = highest->bytes;
    clash.cb_end = highest->end;
    // Beyond the end of L1 no buffer is in the way.
    clash.lowest_buffer = is_beyond_l1 ? l1_end : *lowest;
    clash.free_per_bank = metal.statistics_of(metal.allocator_of(device), TTMEM_L1).free;
    clash.blocker = is_beyond_l1 ? 0 : buffers.handle_at(set->set, TTMEM_L1, *lowest);
    report_scopes();
    ttmem_cb_clashed(&clash);
}

}  // namespace ttmem::observer
