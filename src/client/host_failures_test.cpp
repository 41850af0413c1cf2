// SPDX-License-Identifier: Apache-2.0

// What fails turns tracking off and nothing else: the host goes on, one line on standard error says why, and every call
// is harmless. The kernel itself refuses the calls here (seccomp, limits of the process).

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "client/state.hpp"
#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/seccomp.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::Inexact;
using testing::HasSubstr;
using testing::IsEmpty;

// Some of every call; what they return is the caller's to judge.
ttmem_handle call_some() {
    const ttmem_device device = make_device(0);
    const ttmem_set set = ttmem_open_set(&device, 1, "set");
    ttmem_scope_push("scope");
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 2, 3, 4);
    ttmem_tag(handle, "tag");
    ttmem_scope_pop();
    ttmem_allocate_cb(set, 1, 2, 3, nullptr, 0);
    ttmem_load_kernel(set, 1, TTMEM_KERNEL_APPLICATION, 3);
    ttmem_report_allocation(0, 1, 0, 2);
    ttmem_report_deallocation(0, 2);
    return handle;
}

// The host goes on untracked after `spoil`, and reports that in one line with `reason` in it.
void expect_off(const std::function<void()>& spoil, const std::string& reason) {
    const Outcome outcome = run_in_child([&] {
        spoil();
        for (int i = 0; i < 3; ++i) {
            errno = ENOTTY;
            EXPECT_EQ(call_some(), 0u);
            EXPECT_EQ(errno, ENOTTY);
        }
        EXPECT_EQ(ttmem_enabled(), 0);
        rlimit files{};
        getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max;  // a test may have taken all descriptors, and looking needs some
        setrlimit(RLIMIT_NOFILE, &files);
        EXPECT_FALSE(own_mapping().has_value());
        EXPECT_EQ(count_own_descriptors(), 0u);
    });
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, testing::StartsWith("ttmem: tracking is off in process "));
    EXPECT_THAT(outcome.err, HasSubstr(reason));
}

void refuse(long call, int error, std::initializer_list<Argument> arguments = {}) {
    ASSERT_TRUE(refuse_system_call(call, error, arguments)) << "this test needs seccomp filters";
}

TEST(HostFailure, NoMemfd) {
    expect_off([] { refuse(SYS_memfd_create, EMFILE); }, "memfd_create failed");
    expect_off([] { refuse(SYS_memfd_create, ENOSYS); }, "Function not implemented");
}

TEST(HostFailure, NoDescriptorLeft) {
    expect_off(
        [] {
            // One descriptor must be there to read /proc/self/stat, and then not for the memfd.
            rlimit limit{};
            getrlimit(RLIMIT_NOFILE, &limit);
            limit.rlim_cur = 3;
            setrlimit(RLIMIT_NOFILE, &limit);
        },
        "ttmem: tracking is off");
}

TEST(HostFailure, NoSizeForTheSegment) {
    expect_off([] { refuse(SYS_ftruncate, ENOSPC); }, "its segment can't be sized (No space left on device)");
}

TEST(HostFailure, ALimitOnFilesIsRespectedAndNotMetAsASignal) {
    expect_off(
        [] {
            const rlimit limit{1 << 20, 1 << 20};
            ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        },
        "larger than files may be");
}

TEST(HostFailure, NoMapOfTheSegment) {
    expect_off(
        [] {
            refuse(SYS_mmap, ENOMEM, {{2, PROT_READ | PROT_WRITE}, {3, MAP_SHARED}});
        },
        "its segment can't be mapped (Cannot allocate memory)");
}

TEST(HostFailure, NoSeals) {
    expect_off([] { refuse(SYS_fcntl, EPERM, {{1, F_ADD_SEALS}}); }, "its segment can't be sealed");
}

TEST(HostFailure, NoMemoryThatIsWipedOnFork) {
    expect_off([] { refuse(SYS_madvise, EINVAL, {{2, MADV_WIPEONFORK}}); }, "can't wipe memory on fork");
}

TEST(HostFailure, NoMapOfTheState) {
    expect_off([] { refuse(SYS_mmap, ENOMEM, {{1, sizeof(client::State)}}); }, "no memory for its state");
}

TEST(HostFailure, NoMapOfTheTables) {
    // The only map of the client that reserves no swap.
    expect_off(
        [] {
            refuse(SYS_mmap, ENOMEM, {{3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE}});
        },
        "no memory for its tables (Cannot allocate memory)");
}

TEST(HostFailure, NoMemoryForTheSegment) {
    expect_off([] { refuse(SYS_madvise, ENOMEM, {{2, MADV_POPULATE_WRITE}}); }, "no memory for its segment");
    expect_off([] { refuse(SYS_madvise, EFAULT, {{2, MADV_POPULATE_WRITE}}); }, "no memory for its segment");
}

TEST(HostFailure, NoMemoryForTheSegmentOnAnOldKernel) {
    expect_off(
        [] {
            refuse(SYS_madvise, EINVAL, {{2, MADV_POPULATE_WRITE}});
            refuse(SYS_fallocate, ENOSPC);
        },
        "no memory for its segment (No space left on device)");
}

TEST(HostFailure, NoProcFileSystem) {
    expect_off([] { refuse(SYS_openat, ENOENT, {{2, O_RDONLY | O_CLOEXEC}}); }, "/proc/self/stat");
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // which take more than this for themselves
TEST(HostFailure, ALimitOnAddressSpaceIsMetByTheSegmentAlone) {
    expect_off(
        [] {
            std::ifstream statm("/proc/self/statm");
            uint64_t pages = 0;
            statm >> pages;
            const rlimit limit{(pages << 12) + (64 << 20), RLIM_INFINITY};
            ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
        },
        "its segment can't be mapped");
}
#endif

TEST(HostFailure, AnErrorStreamThatNobodyReadsEndsNothing) {
    const Outcome outcome = run_in_child([] {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        close(ends[0]);
        dup2(ends[1], STDERR_FILENO);
        refuse(SYS_memfd_create, EMFILE);
        EXPECT_EQ(call_some(), 0u);
    });
    EXPECT_EQ(outcome.signal, 0) << "it died of the line that we wrote";
    EXPECT_EQ(outcome.code, 0);
}

TEST(HostFailure, AnErrorStreamThatIsFullStopsNothing) {
    const Outcome outcome = run_in_child([] {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        const std::string page(4096, 'x');
        while (write(ends[1], page.data(), page.size()) > 0) {
        }
        fcntl(ends[1], F_SETFL, 0);
        dup2(ends[1], STDERR_FILENO);
        refuse(SYS_memfd_create, EMFILE);
        EXPECT_EQ(call_some(), 0u);  // would block here
    });
    EXPECT_EQ(outcome.code, 0);
}

TEST(HostFailure, AFileThatHasTheNumberOfAClosedErrorStreamGetsNothing) {
    const Outcome outcome = run_in_child([] {
        refuse(SYS_memfd_create, EMFILE);
        close(STDERR_FILENO);
        char path[] = "/tmp/ttmem-test-XXXXXX";
        const int file = mkstemp(path);  // gets the number of the error stream, and is the host's
        unlink(path);
        EXPECT_EQ(file, STDERR_FILENO);
        EXPECT_EQ(call_some(), 0u);
        struct stat info {};
        EXPECT_EQ(fstat(file, &info), 0);
        EXPECT_EQ(info.st_size, 0);
    });
    EXPECT_EQ(outcome.code, 0);
}

// ---- what can be done without ------------------------------------------------------------------------------------

void expect_on(const std::function<void()>& spoil) {
    expect_passes_in_child([&] {
        spoil();
        EXPECT_NE(call_some(), 0u);
        EXPECT_EQ(ledger_of(own_reader()).size(), 3u);
    });
}

TEST(HostFailure, WithoutMemoryTakenThroughTheMapTheFileIsUsed) {
    expect_on([] { refuse(SYS_madvise, EINVAL, {{2, MADV_POPULATE_WRITE}}); });
}

TEST(HostFailure, WithoutRandomNumbersTracksAllTheSame) {
    expect_on([] { refuse(SYS_getrandom, ENOSYS); });
}

TEST(HostFailure, WithoutAHighDescriptorTracksWithALowOne) {
    expect_on([] { refuse(SYS_fcntl, EINVAL, {{1, F_DUPFD_CLOEXEC}}); });
}

TEST(HostFailure, WithoutNonExecutableMemfdsTracksWithAPlainOne) {
    expect_on([] {
        constexpr uint32_t kNotExecutable = 8;  // MFD_NOEXEC_SEAL
        refuse(SYS_memfd_create, EINVAL, {{1, MFD_CLOEXEC | MFD_ALLOW_SEALING | kNotExecutable}});
    });
}

TEST(HostFailure, WithoutSocketsTracksAllTheSame) {
    expect_on([] { refuse(SYS_socket, EACCES); });
}

// ---- memory that runs out later ----------------------------------------------------------------------------------

TRACKED_TEST(HostFailure, ALedgerThatCanNotGrowRefusesAndCountsAndTheRestIsExact) {
    const ttmem_set set = make_set();
    EXPECT_NE(ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0), 0u);
    refuse(SYS_madvise, ENOMEM, {{2, MADV_POPULATE_WRITE}});
    std::vector<Live> expected;
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 10'000; ++i) {
        errno = ENOTTY;
        if (ttmem_allocate(set, TTMEM_DRAM, i, 10, 20, i) == 0) {
            ++refused;
        }
        EXPECT_EQ(errno, ENOTTY);
    }
    const segment::Reader reader = own_reader();
    EXPECT_GT(refused, 0u);
    EXPECT_EQ(reader.inexact(Inexact::no_host_memory), refused);
    EXPECT_EQ(ledger_of(reader).size(), 10'001 - refused);
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty());
    ttmem_clear_set(set);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_NE(ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0), 0u) << "what was there before is there still";
    EXPECT_NE(ttmem_enabled(), 0);
}

TRACKED_TEST(HostFailure, AThreadWithoutMemoryForItsRingIsNotRecordedAndCounted) {
    const ttmem_set set = make_set();
    refuse(SYS_madvise, ENOMEM, {{2, MADV_POPULATE_WRITE}});
    std::thread([&] {
        EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0), 0u);
        EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0), 0u);
    }).join();
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::no_host_memory), 2u);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(HostFailure, NamesAndCoreMasksWithoutMemoryAreLeftOutAndCounted) {
    const ttmem_set set = make_set();
    EXPECT_NE(ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0), 0u);  // memory for a few slots is there
    refuse(SYS_madvise, ENOMEM, {{2, MADV_POPULATE_WRITE}});
    ttmem_scope_push("name");
    const ttmem_cores cores = rectangle(0, 0, 1, 1);
    EXPECT_NE(ttmem_allocate_cb(set, 1, 2, 10, &cores, 0), 0u);
    ttmem_scope_pop();
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::names_full), 1u);
    EXPECT_EQ(reader.inexact(Inexact::core_sets_full), 1u);
    EXPECT_EQ(pool(reader, set, segment::AllocationKind::cb).used, 40u) << "bytes are exact without the mask";
}

// ---- descriptors that the host closes ----------------------------------------------------------------------------

TRACKED_TEST(ClosedDescriptors, TrackingGoesOnWithoutItsDescriptor) {
    const ttmem_set set = make_set();
    const segment::Reader reader = own_reader();
    close_range(3, ~0u, 0);
    EXPECT_EQ(count_own_descriptors(), 0u);
    for (uint64_t i = 0; i < 20'000; ++i) {
        ASSERT_NE(ttmem_allocate(set, TTMEM_DRAM, i, 10, 20, i), 0u);
    }
    EXPECT_EQ(pool(reader, set, segment::AllocationKind::dram).used, 400'000u);
    std::thread([&] { EXPECT_NE(ttmem_allocate(set, TTMEM_L1, 0, 1, 1, 0), 0u); }).join();
    EXPECT_EQ(pool(reader, set, segment::AllocationKind::l1).used, 1u);
}

TRACKED_TEST(ClosedDescriptors, AFileThatGotTheNumberIsLeftAlone) {
    refuse(SYS_madvise, EINVAL, {{2, MADV_POPULATE_WRITE}});  // then memory is taken through the descriptor
    const ttmem_set set = make_set();
    close_range(3, ~0u, 0);
    char path[] = "/tmp/ttmem-test-XXXXXX";
    const int file = mkstemp(path);
    unlink(path);
    for (int number = 3; number < 1024; ++number) {
        if (number != file) {
            dup2(file, number);
        }
    }
    uint64_t recorded = 0;
    for (uint64_t i = 0; i < 20'000; ++i) {
        recorded += ttmem_allocate(set, TTMEM_DRAM, i, 10, 20, i) != 0 ? 1u : 0u;
    }
    struct stat info {};
    fstat(file, &info);
    EXPECT_EQ(info.st_size, 0) << "a file of the host has grown";
    EXPECT_EQ(info.st_blocks, 0);
    close_range(3, ~0u, 0);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::no_host_memory), 20'000 - recorded);
    EXPECT_EQ(ledger_of(reader).size(), recorded);
}

}  // namespace
