// SPDX-License-Identifier: Apache-2.0
#include "client/segment_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>
#endif

#include "base/environment.hpp"
#include "base/proc_stat.hpp"
#include "client/clock.hpp"

namespace ttmem::client {

using segment::Header;
using segment::Region;
using segment::RegionId;
using segment::Sizes;

namespace {

constexpr int kFirstDescriptor = 512;  // out of the way of programs that count on low numbers
constexpr uint64_t kBackingStep = uint64_t{256} << 10;

uint32_t size_from_environment(const char* variable, uint32_t standard, uint32_t least, uint32_t most) {
    const char* text = base::secure_environment(variable);
    if (text == nullptr) {
        return standard;
    }
    char* end = nullptr;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || value < least || value > most) {
        return standard;
    }
    return static_cast<uint32_t>(value);
}

uint32_t round_down_to_power_of_two(uint32_t value) {
    while ((value & (value - 1)) != 0) {
        value &= value - 1;
    }
    return value;
}

Sizes sizes_from_environment() {
    using namespace segment;
    Sizes sizes;
    sizes.names = size_from_environment("TTMEM_NAMES", kDefaultNames, kMinNames, kMaxNames);
    sizes.writers = size_from_environment("TTMEM_WRITERS", kDefaultWriters, kMinWriters, kMaxWriters);
    sizes.ring_records = round_down_to_power_of_two(
        size_from_environment("TTMEM_RING_RECORDS", kDefaultRingRecords, kMinRingRecords, kMaxRingRecords));
    sizes.slots = size_from_environment("TTMEM_SLOTS", kDefaultSlots, kMinSlots, kMaxSlots);
    return sizes;
}

// Reads a small file of /proc; the number of bytes, or 0.
size_t read_small_file(const char* path, char* buffer, size_t size) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    const ssize_t got = read(file, buffer, size);
    close(file);
    return got > 0 ? static_cast<size_t>(got) : 0;
}

uint64_t own_start_time() {
    char text[1024];
    return base::parse_start_time(text, read_small_file("/proc/self/stat", text, sizeof text));
}

void read_boot_id(uint64_t (&id)[2]) {
    char text[64];
    const size_t length = read_small_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    unsigned digits = 0;
    for (size_t i = 0; i < length && digits < 32; ++i) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit >= 0) {
            id[digits / 16] = id[digits / 16] << 4 | static_cast<uint64_t>(digit);
            ++digits;
        }
    }
}

// The time-stamp counter is used only where it runs at a constant rate.
bool tsc_is_steady() {
#if defined(__x86_64__)
    if (syscall(SYS_arch_prctl, ARCH_GET_CPUID, 0) == 0) {
        return false;  // the process forbids the instruction that answers
    }
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
    return false;
#endif
}

uint64_t random_salt(uint64_t start_time) {
    uint64_t salt = 0;
    if (getrandom(&salt, sizeof salt, GRND_NONBLOCK) != sizeof salt) {
        salt = (system_call_ns() ^ start_time << 20 ^ static_cast<uint64_t>(getpid()) << 40) *
               0x9e3779b97f4a7c15;
    }
    return salt | 2;  // never 0, also with the last bit cleared
}

void fill_header(State& state, const Region* table, uint64_t start_time) {
    Header& header = *state.header;
    header.version = segment::kSegmentVersion;
    header.header_bytes = sizeof(Header);
    header.segment_bytes = state.bytes;
    header.pid = static_cast<uint32_t>(getpid());
    header.start_time = start_time;
    read_boot_id(header.boot_id);
    memcpy(header.region, table, sizeof header.region);
    header.names_used.store(1, std::memory_order_relaxed);      // id 0 is the empty name
    header.core_sets_used.store(1, std::memory_order_relaxed);  // id 0 is no core set
    state.clock_is_tsc = may_read_counter() && tsc_is_steady();
    header.clock_kind = static_cast<uint32_t>(state.clock_is_tsc ? segment::ClockKind::tsc
                                                                 : segment::ClockKind::monotonic_ns);
    segment::Moment now;
    if (state.clock_is_tsc) {
        now = read_moment();
    } else {
        now.ticks = now.monotonic_ns = system_call_ns();
    }
    header.clock_ticks = now.ticks;
    header.clock_monotonic_ns = now.monotonic_ns;
}

// A process that exceeds its limit on files gets a signal that ends it.
bool files_may_have(uint64_t bytes) {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes;
}

// Memory that was taken by the file counts as a hole until something is written there, and readers pass holes over.
// The page may hold entries that are in use: what is there is stored again, or somebody else just stored something.
void touch_pages(const State& state, uint64_t from, uint64_t to) {
    for (uint64_t page = from; page < to; page += segment::kPage) {
        auto& word = *reinterpret_cast<segment::Word*>(state.base + page);
        uint64_t value = word.load(std::memory_order_relaxed);
        word.compare_exchange_strong(value, value, std::memory_order_relaxed);
    }
}

}  // namespace

// Kernels before 5.14 can do that by the file, not by the map.
bool populate(const State& state, uint64_t offset, uint64_t length) {
    const uint64_t from = offset / segment::kPage * segment::kPage;
    const uint64_t to = segment::round_to_page(offset + length);
    if (madvise(state.base + from, to - from, MADV_POPULATE_WRITE) == 0) {
        return true;
    }
    if (errno != EINVAL || !owns_descriptor(state) || !files_may_have(state.bytes) ||
        fallocate(state.descriptor, 0, static_cast<off_t>(from), static_cast<off_t>(to - from)) != 0) {
        return false;
    }
    touch_pages(state, from, to);
    return true;
}

namespace {

bool populate_region(const State& state, RegionId id) {
    const Region& all = state.header->region[static_cast<uint32_t>(id)];
    return populate(state, all.offset, all.bytes());
}

// Hosts may demand that such files can't be executed; kernels before 6.3 do not know the flag.
int make_memfd() {
    constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    constexpr unsigned kNotExecutable = 8;  // MFD_NOEXEC_SEAL
    const int file = memfd_create(segment::kMemfdName, kFlags | kNotExecutable);
    return file < 0 && errno == EINVAL ? memfd_create(segment::kMemfdName, kFlags) : file;
}

// Returns what failed, or null.
const char* build(State& state, SegmentFile& file) {
    Region table[segment::kRegionTableEntries] = {};
    file.sizes = sizes_from_environment();
    state.bytes = segment::lay_out(file.sizes, table);

    const uint64_t start_time = own_start_time();
    if (start_time == 0) {
        errno = ENOENT;
        return "its start time can't be read from /proc/self/stat";
    }
    const int low = make_memfd();
    if (low < 0) {
        return "memfd_create failed";
    }
    const int high = fcntl(low, F_DUPFD_CLOEXEC, kFirstDescriptor);
    if (high >= 0) {
        close(low);
    }
    state.descriptor = high >= 0 ? high : low;
    if (!files_may_have(state.bytes)) {
        errno = EFBIG;
        return "its segment is larger than files may be (ulimit -f)";
    }
    if (ftruncate(state.descriptor, static_cast<off_t>(state.bytes)) != 0) {
        return "its segment can't be sized";
    }
    void* map = mmap(nullptr, state.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, state.descriptor, 0);
    if (map == MAP_FAILED) {
        return "its segment can't be mapped";
    }
    state.base = static_cast<unsigned char*>(map);
    madvise(map, state.bytes, MADV_DONTFORK);
    madvise(map, state.bytes, MADV_DONTDUMP);
    // From here on no process can shrink the file or map it for writing, this one included.
    if (fcntl(state.descriptor, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
        return "its segment can't be sealed";
    }
    if (!populate(state, 0, sizeof(Header))) {
        return "no memory for its segment";
    }
    state.header = reinterpret_cast<Header*>(state.base);
    fill_header(state, table, start_time);
    for (const RegionId id : {RegionId::devices, RegionId::sets, RegionId::pools, RegionId::failures,
                              RegionId::writers, RegionId::chips}) {
        if (!populate_region(state, id)) {
            return "no memory for its segment";
        }
    }
    state.ledger = region<segment::LedgerSlot>(state, RegionId::ledger);
    state.pools = region<segment::Pool>(state, RegionId::pools);
    state.names = region<segment::Name>(state, RegionId::names);
    file.salt = random_salt(start_time);
    // SYNC POINT: with segment::Reader, which takes a segment without the magic for an unfinished one.
    state.header->magic.store(segment::kMagic, std::memory_order_release);
    return nullptr;
}

}  // namespace

SegmentFile create_segment_file(State& state) {
    SegmentFile file;
    state.descriptor = -1;
    file.error_text = build(state, file);
    if (file.error_text != nullptr) {
        file.error = errno;
        remove_segment_file(state);
    }
    return file;
}

bool owns_descriptor(const State& state) {
    struct stat now {};
    return fstat(state.descriptor, &now) == 0 && S_ISREG(now.st_mode) &&
           static_cast<uint64_t>(now.st_size) == state.bytes && now.st_nlink == 0;
}

void remove_segment_file(State& state) {
    if (state.base != nullptr) {
        munmap(state.base, state.bytes);
        state.base = nullptr;
    }
    if (state.descriptor >= 0) {
        close(state.descriptor);
        state.descriptor = -1;
    }
}

bool prepare_line(State& state, uint32_t line) {
    const Region& rings = state.header->region[static_cast<uint32_t>(RegionId::rings)];
    const Region& tallies = state.header->region[static_cast<uint32_t>(RegionId::tallies)];
    const uint64_t ring = rings.offset + uint64_t{line} * rings.stride;
    const uint64_t tally = tallies.offset + uint64_t{line} * tallies.stride;
    if (!populate(state, ring, rings.stride) || !populate(state, tally, tallies.stride)) {
        return false;
    }
    Recorder& recorder = state.recorders[line];
    recorder.events = {region<segment::WriterLine>(state, RegionId::writers) + line,
                       reinterpret_cast<segment::RingRecord*>(state.base + ring),
                       uint64_t{state.ring_records} - 1,
                       state.ledger,
                       state.pools,
                       reinterpret_cast<segment::Tally*>(state.base + tally)};
    recorder.ready = true;
    return true;
}

bool back(State& state, RegionId id, Backing& backing, uint32_t wanted) {
    if (wanted <= backing.entries) {
        return true;
    }
    const int saved = errno;
    const Region& region = state.header->region[static_cast<uint32_t>(id)];
    const uint64_t step = kBackingStep / region.stride;
    uint64_t entries = backing.entries + step;
    if (entries < wanted) {
        entries = wanted;
    }
    if (entries > region.count) {
        entries = region.count;
    }
    const bool done = populate(state, region.offset + uint64_t{backing.entries} * region.stride,
                               (entries - backing.entries) * region.stride);
    if (done) {
        backing.entries = static_cast<uint32_t>(entries);
    }
    errno = saved;
    return done;
}

}  // namespace ttmem::client
