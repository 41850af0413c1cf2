// SPDX-License-Identifier: Apache-2.0

// Allocates and frees N buffers through the runtime's API, for counting instructions.
//     count_runtime_calls N [OP]    each in an op of this name

#include <cstdlib>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>

int main(int argument_count, char** arguments) {
    using namespace tt::tt_metal;
    const long count = argument_count >= 2 ? std::atol(arguments[1]) : 0;
    const char* const op = argument_count >= 3 ? arguments[2] : nullptr;
    const auto mesh = distributed::MeshDevice::create_unit_mesh(0);
    for (long i = 0; i < count; ++i) {
        if (op != nullptr) {
            GraphTracker::instance().track_function_start(op);
        }
        Buffer::create(mesh.get(), 65'536, 2048, BufferType::DRAM);
        if (op != nullptr) {
            GraphTracker::instance().track_function_end();
        }
    }
    mesh->close();
    return 0;
}
