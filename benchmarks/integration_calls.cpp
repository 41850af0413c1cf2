// SPDX-License-Identifier: Apache-2.0
//
// The calls of the integration for an allocation and its free, on the stand-in tree of the tests: without the stand-in's own
// allocator, which costs more. Prints the lowest CPU time of some rounds, in ns per event.
//   integration_calls <pairs> <rounds>
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "impl/stand_in.hpp"
#include "impl/ttmem/ttmem_reporter.hpp"

namespace {

double cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int count, char** arguments) {
    using namespace tt::tt_metal;
    const long pairs = count > 1 ? std::atol(arguments[1]) : 200'000;
    const long rounds = count > 2 ? std::atol(arguments[2]) : 9;
    distributed::MeshDevice mesh(2);
    const auto buffer = Buffer::create(&mesh, 4096, 1024, BufferType::DRAM);
    ttmem_reporter::freed(buffer.get());
    double lowest = 1e18;
    for (long round = 0; round < rounds; ++round) {
        const double start = cpu_ns();
        for (long pair = 0; pair < pairs; ++pair) {
            { const ttmem_reporter::AllocationGuard guard(mesh.allocator_impl().get(), buffer.get()); }
            ttmem_reporter::allocated(buffer.get());
            ttmem_reporter::freed(buffer.get());
        }
        lowest = std::min(lowest, cpu_ns() - start);
    }
    std::printf("%.2f\n", lowest / static_cast<double>(2 * pairs));
}
