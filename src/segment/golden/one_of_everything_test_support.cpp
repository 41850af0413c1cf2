// SPDX-License-Identifier: Apache-2.0

// Makes a segment with one of everything through the real client, and writes its bytes to the file that is named.
// golden.py starts it, with an environment for a small segment. Every addition to the format is added here.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/own_segment.hpp"
#include "ttmem/allocation_client.hpp"
#include "ttmem/ttmem.h"

namespace {

using Client = tt::tt_metal::AllocationClient;

ttmem_device register_n300(uint32_t logical_id, uint64_t asic_id) {
    ttmem_device_info info{};
    info.asic_id = asic_id;
    info.logical_id = logical_id;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    info.grid_x = 8;
    info.grid_y = 7;
    std::memcpy(info.board, "n300", 4);
    info.memory[TTMEM_DRAM] = {1'048'640, 1'072'693'184, 12'872'318'208, 12, 32, TTMEM_BOTTOM_UP, 0};
    info.memory[TTMEM_L1] = {105'664, 1'393'472, 78'034'432, 56, 16, TTMEM_TOP_DOWN, 0};
    info.memory[TTMEM_L1_SMALL] = {1'000'000, 32'768, 1'835'008, 56, 16, TTMEM_TOP_DOWN, 0};
    info.memory[TTMEM_TRACE] = {2'000'000, 65'536, 786'432, 12, 32, TTMEM_BOTTOM_UP, 0};
    return ttmem_register_device(&info);
}

void fail(ttmem_set set, ttmem_handle blocker) {
    ttmem_out_of_memory failure{};
    failure.set = set;
    failure.kind = TTMEM_DRAM;
    failure.requested = 1'000'001;
    failure.needed_per_bank = 1'000'002;
    failure.free_per_bank = 1'000'003;
    failure.largest_free_per_bank = 1'000'004;
    ttmem_allocation_failed(&failure);
    ttmem_cb_clash clash{};
    clash.set = set;
    clash.core_x = 3;
    clash.core_y = 6;
    clash.program = 5;
    clash.requested = 1'000'005;
    clash.cb_end = 1'000'006;
    clash.lowest_buffer = 1'000'007;
    clash.free_per_bank = 1'000'008;
    clash.blocker = blocker;
    ttmem_cb_clashed(&clash);
}

// What runs on the main thread, in three sets; returns what another thread is to free.
ttmem_handle use_the_native_api(ttmem_device first, ttmem_device second) {
    const ttmem_device both[] = {second, first};
    const ttmem_set mesh = ttmem_open_set(both, 2, "mesh 1x2");
    ttmem_describe_mesh(mesh, 1, 2);
    const ttmem_set single = ttmem_open_set(&first, 1, nullptr);
    const ttmem_set closed = ttmem_open_set(&second, 1, "closed");
    ttmem_allocate(closed, TTMEM_DRAM, 0x100, 77, 96, 9);
    ttmem_close_set(closed);

    ttmem_scope_push("decoder.3");
    ttmem_scope_push("ttnn::matmul");
    const ttmem_handle buffer = ttmem_allocate(mesh, TTMEM_DRAM, 0x10'0040, 4'194'304, 4'202'496, 11);
    ttmem_scope_pop();
    ttmem_tag(buffer, "kv_cache");
    const ttmem_handle for_other_thread = ttmem_allocate(mesh, TTMEM_L1, 0x15'0000, 2'048, TTMEM_UNKNOWN, 12);
    ttmem_scope_pop();
    ttmem_allocate(mesh, TTMEM_L1 | TTMEM_PLANNED, 0, 512, 1'024, 13);
    ttmem_allocate(mesh, TTMEM_L1 | TTMEM_VIEW, 0x15'0100, 256, 256, 14);
    ttmem_allocate(single, TTMEM_SYSTEM_MEMORY, 0x7000'0000'0000, 65'536, 65'536, 15);
    ttmem_allocate(single, TTMEM_L1_SMALL, 0x16'0000, 32, 64, 16);
    ttmem_allocate(single, TTMEM_TRACE, 0x3000'0000, 8'192, 98'304, 17);

    ttmem_cores cores{};
    ttmem_cores_add(&cores, 0, 0, 7, 3);
    ttmem_allocate_cb(single, 21, 0x1'9cc0, 4'096, &cores, 0);
    ttmem_allocate_cb(single, 21, 0x1'acc0, 4'096, nullptr, TTMEM_VIEW);
    ttmem_load_kernel(single, 21, TTMEM_KERNEL_APPLICATION, 10'000);
    ttmem_load_kernel(single, 21, TTMEM_KERNEL_FABRIC, 20'000);
    ttmem_load_kernel(single, 21, TTMEM_KERNEL_DISPATCH, 30'000);
    fail(mesh, buffer);

    const ttmem_handle brief = ttmem_allocate(single, TTMEM_DRAM, 0x20'0000, 1'000, 1'024, 18);
    ttmem_free(brief);
    ttmem_free(brief);
    ttmem_allocate(single, TTMEM_DRAM, 0x20'0000, 3'000, 3'072, 19);
    ttmem_allocate(single, 99, 0, 1, 1, 1);
    ttmem_allocate(closed, TTMEM_DRAM, 0, 1, 1, 1);
    ttmem_reset_peak(0);
    ttmem_mark("step");
    return for_other_thread;
}

void use_the_keyed_api() {
    Client::report_allocation(1, 4'096, TTMEM_DRAM, 0x40'0000);
    Client::report_allocation(1, 4'096, TTMEM_DRAM, 0x40'0000);
    Client::report_allocation(7, 1'500, TTMEM_L1, 0);
    Client::report_cb_allocation(7, 2'500, 0x2'0000);
    Client::report_kernel_load(7, 3'500, 0xabc, 1);
    Client::report_deallocation(7, 0xdead);
    Client::report_deallocation(0xbeef);
}

bool write_segment(const char* path) {
    const ttmem::base::Descriptor from = ttmem::test::open_segment_of(getpid());
    struct stat info {};
    if (!from || fstat(from.get(), &info) != 0) {
        return false;
    }
    std::vector<char> bytes(static_cast<size_t>(info.st_size));
    const ttmem::base::Descriptor to(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const auto all = static_cast<ssize_t>(bytes.size());
    return pread(from.get(), bytes.data(), bytes.size(), 0) == all &&
           write(to.get(), bytes.data(), bytes.size()) == all;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 || !Client::is_enabled()) {
        fprintf(stderr, "usage: TT_ALLOC_TRACKING_ENABLED=1 %s <file to write>\n", argv[0]);
        return 2;
    }
    const ttmem_device first = register_n300(0, 0x0123'4567'89ab'cdef);
    const ttmem_device second = register_n300(1, 0x0123'4567'89ab'cdf0);
    const ttmem_handle handle = use_the_native_api(first, second);
    use_the_keyed_api();
    const ttmem_set set = ttmem_open_set(&second, 1, "of a thread");
    std::thread([&] {
        ttmem_free(handle);
        ttmem_allocate(set, TTMEM_DRAM, 0x50'0000, 10, 32, 20);
    }).join();
    return write_segment(argv[1]) ? 0 : 1;
}
