// SPDX-License-Identifier: Apache-2.0

// Allocates and frees N buffers through the runtime's API, for counting instructions.

#include <cstdlib>
#include <tt-metalium/distributed.hpp>

int main(int argument_count, char** arguments) {
    using namespace tt::tt_metal;
    const long count = argument_count == 2 ? std::atol(arguments[1]) : 0;
    const auto mesh = distributed::MeshDevice::create_unit_mesh(0);
    for (long i = 0; i < count; ++i) {
        Buffer::create(mesh.get(), 65'536, 2048, BufferType::DRAM);
    }
    mesh->close();
    return 0;
}
