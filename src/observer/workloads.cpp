// SPDX-License-Identifier: Apache-2.0
#include "observer/workloads.hpp"

#include <algorithm>

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

void Workloads::begin(const metal::MeshCommandQueue* queue, metal::MeshWorkload* workload) {
    if (metal_.workload_programs == nullptr || metal_.mesh_view == nullptr ||
        metal_.view_devices == nullptr) {
        return;
    }
    const metal::IDevice* const mesh = mesh_of(queue);
    if (mesh != nullptr) {
        const std::lock_guard lock(launches_mutex_);
        launches_.push_back({mesh, workload});
    }
}

void Workloads::end(metal::MeshWorkload* workload) {
    const std::lock_guard lock(launches_mutex_);
    const auto launch = std::find_if(launches_.begin(), launches_.end(),
                                     [&](const Launch& candidate) { return candidate.workload == workload; });
    if (launch != launches_.end()) {
        launches_.erase(launch);
    }
}

std::vector<metal::IDevice*> Workloads::chips_of(const void* program) {
    std::vector<Launch> launches;
    {
        const std::lock_guard lock(launches_mutex_);
        launches = launches_;
    }
    for (const Launch& launch : launches) {
        if (const void* range = range_of(launch.workload, program)) {
            return metal_.view_devices(metal_.mesh_view(launch.mesh), range);
        }
    }
    return {};
}

// Another thread may launch another workload: only the one that has the program tells where programs are in a node.
const void* Workloads::range_of(metal::MeshWorkload* workload, const void* program) {
    const void* map = metal_.workload_programs(workload);
    const auto count = value_at<size_t>(map, kNodeCount);
    const std::lock_guard lock(mutex_);
    const void* node = value_at<const void*>(map, kFirstNode);
    for (size_t read = 0; node != nullptr && read < std::min(count, kMostNodes); ++read) {
        const size_t place =
            place_ != 0 ? place_ : learn_from(node, [&](const void* word) { return word == program; });
        if (place != 0 && value_at<const void*>(node, place) == program) {
            place_ = place;
            return static_cast<const char*>(node) + kRange;
        }
        node = value_at<const void*>(node, 0);
    }
    return nullptr;
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
