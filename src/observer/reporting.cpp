// SPDX-License-Identifier: Apache-2.0
#include <ttmem/ttmem.h>

#include <algorithm>
#include <charconv>
#include <optional>
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

// The numbers of the text that follow each other after the words, whatever is between them.
CorePosition core_after(std::string_view text, std::string_view words) {
    CorePosition core;
    size_t place = text.find(words);
    if (place == std::string_view::npos) {
        return core;
    }
    for (size_t* const axis : {&core.x, &core.y}) {
        place = text.find_first_of("0123456789", place);
        if (place == std::string_view::npos) {
            return {};
        }
        const auto read = std::from_chars(text.data() + place, text.data() + text.size(), *axis);
        place = static_cast<size_t>(read.ptr - text.data());
    }
    return core;
}

// A clash as the runtime describes it, on the first core of its range: "[0-0 - 7-7]", or "[(x=0,y=0) - (x=7,y=7)]" in older releases.
std::optional<Clash> clash_in(std::string_view text) {
    constexpr std::string_view kCores = " on core range ";
    if (const uint64_t end = number_after(text, " region ends at "); end != 0) {
        const uint64_t lowest = number_after(text, "L1 buffer allocated at ");
        return lowest != 0 ? std::optional(Clash{core_after(text, kCores), end, lowest, false})
                           : std::nullopt;
    }
    const uint64_t end = number_after(text, " grow to ");
    const uint64_t l1_end = number_after(text, "beyond max L1 size of ");
    return end != 0 && l1_end != 0 ? std::optional(Clash{core_after(text, kCores), end, l1_end, true})
                                   : std::nullopt;
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
    std::optional<size_t> banks = set.banks[kind];
    if (kind == TTMEM_L1 && metal.has_core_addresses(buffer)) {
        banks = metal.per_core_count_of(buffer);
    } else if (kind != TTMEM_SYSTEM_MEMORY && data.allocated == buffer) {
        banks = metal.banks_of_allocating(data.allocator, metal.device_of(buffer), kind);
    }
    return banks ? bytes_per_bank(set.rounding, buffer) * *banks : TTMEM_UNKNOWN;
}

// No buffer of the kind is freed before the first one has been allocated, so with the lock nothing disturbs the
// comparison.
void Observer::start_measurement(Measurement& measurement, const void* allocator,
                                 const metal::Buffer* buffer) {
    expect(buffer);
    ThreadData& data = thread_data();
    const uint32_t kind = metal.kind_of(buffer);
    if (kind >= kBufferKinds || kind == TTMEM_SYSTEM_MEMORY || data.is_kind_measured[kind] ||
        data.is_measuring || metal.has_core_addresses(buffer)) {
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
    const bool is_per_core = kind == TTMEM_L1 && metal.has_core_addresses(buffer);
    const uint32_t flags = (is_planned ? TTMEM_PLANNED : 0u) | (is_per_core ? TTMEM_PER_CORE : 0u);
    record.handle = ttmem_allocate(set->set, kind | flags, address, metal.size_of(buffer),
                                   reserved_bytes(*set, buffer), ids_.of(buffer));
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

// Where no address was marked: whether the program has buffers of this class, or may have some. A compiler may mark the
// addresses without a call in one function although it calls in others.
bool Observer::has_unseen(const void* program, BufferClass of, const NotedLayout& layout) const {
    if (of == BufferClass::scratchpad) {
        return layout.has_asked_kernels || !metal.are_kernel_arguments_seen;
    }
    if (metal.dataflow_buffers_of == nullptr) {
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
    const CorePosition grid = metal.grid_of(device);
    const auto is_in_grid = [&](const MarkedAddress& mark) {
        const auto& [first, last] = mark.cores;
        return first.x <= last.x && last.x < grid.x && first.y <= last.y && last.y < grid.y;
    };
    if (!layout.marks.empty() && std::all_of(layout.marks.begin(), layout.marks.end(), is_in_grid)) {
        programs.lay_out(program, of, buffers_of(layout.marks));
    } else if (!layout.marks.empty() ||
               (!programs.is_laid_out(program, of) && has_unseen(program, of, layout))) {
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
    const uint32_t banks = metal.banks_of_allocating(allocator, metal.device_of(buffer), kind).value_or(0);
    const bool is_per_core = metal.has_core_addresses(buffer);
    if (page_size == 0 || banks == 0 || is_per_core) {
        return reported;
    }
    const uint64_t pages = metal.size_of(buffer) / page_size;
    if (!metal.is_interleaved(buffer)) {
        const uint64_t in_bank = metal.buffer_size_per_bank(buffer) /
                                 std::max(metal.buffer_aligned_page_size(buffer), uint64_t{1});
        const uint64_t shards = in_bank == 0 ? 0 : (pages + in_bank - 1) / in_bank;
        return {reported.per_bank, shards <= banks ? static_cast<uint32_t>(shards) : 0};
    }
    const uint64_t bytes =
        round_up(round_up(pages, banks) / banks * metal.buffer_aligned_page_size(buffer), set.rounding);
    return bytes == reported.per_bank || pages > UINT32_MAX ? Need{bytes, banks} : reported;
}

void Observer::out_of_memory(const void* allocator, const metal::Buffer* buffer, std::string_view text) {
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
    // A text without such figures is a refusal that they do not explain: an address below a limit, or taken on other cores.
    if (failure.needed_per_bank > failure.largest_free_per_bank ||
        text.find("Out of Memory:") != std::string_view::npos) {
        report_scopes();
        ttmem_request_failed(&request);
    }
}

void Observer::trace_refused(const metal::IDevice* mesh, std::string_view all) {
    constexpr std::string_view kBeforeSize = "Creating trace buffers of size ";
    constexpr std::string_view kBeforeRegion = ", but only ";
    constexpr std::string_view kAfter = "is allocated for trace region";
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

void Observer::clashed(const void* program, const metal::IDevice* device, std::string_view text) {
    ThreadData& data = thread_data();
    if (data.failed_frame == data.frame.number) {
        return;  // the exception passed through an inner function of the program before
    }
    const auto set = sets.of(device);
    const auto clash_of_text = clash_in(text);
    const auto found = clash_of_text ? clash_of_text : clash_of_figures(program, device);
    if (!set || !found) {
        return;  // it failed for another reason
    }
    data.failed_frame = data.frame.number;
    const auto describe = [&](auto& clash) {
        clash.set = set->set;
        clash.core_x = static_cast<uint16_t>(found->core.x);
        clash.core_y = static_cast<uint16_t>(found->core.y);
        clash.program = programs.id_of(program);
        clash.requested = programs.bytes_on(program, found->core);
        clash.cb_end = found->end;
        clash.free_per_bank = metal.statistics_of(metal.allocator_of(device), TTMEM_L1).free;
    };
    report_scopes();
    if (found->is_beyond_l1) {
        ttmem_cb_overflow overflow{};
        describe(overflow);
        overflow.l1_end = found->lowest;
        return ttmem_cb_overflowed(&overflow);
    }
    ttmem_cb_clash clash{};
    describe(clash);
    clash.lowest_buffer = found->lowest;
    clash.blocker = buffers.handle_at(set->set, TTMEM_L1, found->lowest);
    ttmem_cb_clashed(&clash);
}

// The lowest address is that of the device's own allocator.
std::optional<Clash> Observer::clash_of_figures(const void* program, const metal::IDevice* device) const {
    const auto highest = programs.highest_end_of(program);
    if (!highest) {
        return std::nullopt;
    }
    const uint64_t l1_end = metal.l1_size_of(device);
    if (highest->end > l1_end) {
        return Clash{highest->core, highest->end, l1_end, true};
    }
    const std::optional<uint64_t> lowest = metal.lowest_l1_address_of(device);
    return lowest && highest->end > *lowest
               ? std::optional(Clash{highest->core, highest->end, *lowest, false})
               : std::nullopt;
}

}  // namespace ttmem::observer
