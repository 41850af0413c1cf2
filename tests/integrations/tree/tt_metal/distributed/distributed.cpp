// SPDX-License-Identifier: Apache-2.0
#include "impl/stand_in.hpp"

namespace tt::tt_metal::distributed {

void EnqueueMeshWorkload(MeshCommandQueue& mesh_cq, MeshWorkload& mesh_workload, bool /*blocking*/) {
    for (auto& [range, program] : mesh_workload.get_programs()) {
        program.impl().launch_on(mesh_cq.device(), mesh_cq.device()->get_view().get_devices(range));
    }
}

}  // namespace tt::tt_metal::distributed
