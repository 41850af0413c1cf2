// SPDX-License-Identifier: Apache-2.0
#include "observer/workloads.hpp"

#include "observer/memory.hpp"

namespace ttmem::observer {

namespace {

// libstdc++'s map: the first node and the number of nodes; in a node the next one, then the range.
constexpr size_t kFirstNode = 16;
constexpr size_t kNodeCount = 24;
constexpr size_t kRange = 8;
constexpr size_t kNodeWords = 64;  // the program was at word 31 at most
constexpr size_t kMostNodes = 4096;
constexpr unsigned kMostAttempts = 16;

}  // namespace

size_t Workloads::learn_from(const void* node, const IsProgram& is_program) const {
    const void* words[kNodeWords] = {};
    const size_t count = read_memory(node, words, sizeof words) / sizeof words[0];
    for (size_t word = kRange / sizeof words[0] + 1; word < count; ++word) {
        if (words[word] != nullptr && is_program(words[word])) {
            return word * sizeof words[0];
        }
    }
    return 0;
}

std::vector<PlacedProgram> Workloads::programs_of(metal::MeshWorkload* workload,
                                                  const IsProgram& is_program) {
    if (metal_.workload_programs == nullptr) {
        return {};
    }
    const void* map = metal_.workload_programs(workload);
    const auto count = value_at<size_t>(map, kNodeCount);
    const void* node = value_at<const void*>(map, kFirstNode);
    const std::lock_guard lock(mutex_);
    if (place_ == 0 && node != nullptr && attempts_ < kMostAttempts) {
        ++attempts_;
        place_ = learn_from(node, is_program);
    }
    if (place_ == 0 || count > kMostNodes) {
        return {};
    }
    std::vector<PlacedProgram> programs;
    for (; node != nullptr && programs.size() < count; node = value_at<const void*>(node, 0)) {
        const auto* const program = value_at<const void*>(node, place_);
        if (!is_program(program)) {
            return {};
        }
        programs.push_back({static_cast<const char*>(node) + kRange, program});
    }
    return programs;
}

const metal::IDevice* Workloads::mesh_of(const metal::MeshCommandQueue* queue) {
    const std::lock_guard lock(mutex_);
    const auto* const mesh = value_at<const metal::IDevice*>(queue, metal_.places.queue_mesh);
    if (!is_queue_checked_) {
        is_queue_checked_ = true;
        is_queue_known_ = first_word(mesh) == metal_.mesh_vtable;
    }
    return is_queue_known_ && metal_.is_mesh(mesh) ? mesh : nullptr;
}

}  // namespace ttmem::observer
