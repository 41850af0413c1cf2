// SPDX-License-Identifier: Apache-2.0
#pragma once

// The programs of a workload: a std::unordered_map from a range of the mesh to a program. The size of a range differs
// between releases, so the place of the program in a node is learned: it is the word that is the address of a program
// that was laid out. Thread-safe.

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "observer/metal.hpp"

namespace ttmem::observer {

struct PlacedProgram {
    const void* range = nullptr;
    const void* program = nullptr;
};

class Workloads {
public:
    explicit Workloads(const Metal& metal) : metal_(metal), place_(metal.places.workload_program) {}

    using IsProgram = std::function<bool(const void*)>;
    // Empty if the programs can't be found.
    std::vector<PlacedProgram> programs_of(metal::MeshWorkload* workload, const IsProgram& is_program);

    // The mesh of a queue, null if it is not found.
    const metal::IDevice* mesh_of(const metal::MeshCommandQueue* queue);

private:
    size_t learn_from(const void* node, const IsProgram& is_program) const;

    const Metal& metal_;
    std::mutex mutex_;
    size_t place_;  // 0: not known yet
    unsigned attempts_ = 0;
    bool is_queue_checked_ = false;
    bool is_queue_known_ = false;
};

}  // namespace ttmem::observer
