// SPDX-License-Identifier: Apache-2.0
#pragma once

// The private state of a tracked process. The segment holds what others may read; free lists, hash chains and locks are
// here, in private memory, so that no crash can break what a reader sees and no lock is shared between processes.
//
// The kernel wipes the State page in a forked child (MADV_WIPEONFORK), and the child does not inherit the segment and the
// arrays at all (MADV_DONTFORK): it finds session 0, which is not the session of its thread, and starts anew. All zero is
// therefore a valid State: nothing made yet, no lock held.

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "client/test_points.hpp"
#include "segment/clock.hpp"
#include "segment/layout.hpp"
#include "segment/writer.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

constexpr uint32_t kMagazine = 64;      // free slots that a thread keeps
constexpr uint32_t kMagazineHalf = 32;  // how many are fetched or returned at a time
constexpr uint32_t kIndexLocks = 64;
constexpr uint32_t kCoreIndex = 2 * segment::kMaxCoreSets;
constexpr uint32_t kNoSlot = UINT32_MAX;

// The low byte of a ttmem_set is an index of State::set_token, which has an entry for every value of a byte. An entry
// without an open set holds a value that is not a set: 0 for indexes that are never used, else this.
constexpr uint32_t kSetTokens = 256;
constexpr ttmem_set kNoSet = 0xff;
static_assert(segment::kMaxSets < kSetTokens);

// Values of ThreadLocal::gate that are no session: sessions are even.
constexpr uint64_t kInCall = 1;
constexpr uint64_t kLongWay = 3;  // every call enters through enter_slow()

// The steps of an event with the points at which the crash tests stop a process.
struct ClientTraits : segment::EventTraits {
    static void passed(segment::EventType type, segment::Step step) {
        using segment::Step;
        if (type == segment::EventType::allocate) {
            if (step == Step::intent) {
                TTMEM_TEST_POINT("allocate: intent set");
            } else if (step == Step::ledger) {
                TTMEM_TEST_POINT("allocate: slot published");
            } else if (step == Step::ring) {
                TTMEM_TEST_POINT("allocate: event written");
            } else {
                TTMEM_TEST_POINT("allocate: counted");
            }
        } else {
            if (step == Step::intent) {
                TTMEM_TEST_POINT("free: intent set");
            } else if (step == Step::ledger) {
                TTMEM_TEST_POINT("free: slot retired");
            } else if (step == Step::ring) {
                TTMEM_TEST_POINT("free: event written");
            } else {
                TTMEM_TEST_POINT("free: counted");
            }
        }
    }

    static void resume(uint32_t pool, uint64_t level) __attribute__((noinline, cold));  // peaks.cpp
};

// Records the events of one writer line. There is one per line, not one per thread: when a thread ends, the next one
// takes its line over.
struct alignas(64) Recorder {
    segment::BasicEventWriter<ClientTraits> events;
    uint64_t gate;  // the gate of its present thread outside calls: the session, or kLongWay
    uint32_t magazine_count;
    // The last line is shared by all threads that came when no other was free: every event under `share_lock`.
    bool shared;
    bool ready;          // ring and tallies are backed with memory
    uint32_t next_free;  // the next line given back: line + 1; 0 = end
    uint32_t magazine[kMagazine];
};

// The place of a slot in the private index (index.hpp).
struct ChainLink {
    uint32_t next;  // slot + 1; 0 = end
    uint32_t previous;
    uint32_t references;
};

// How many entries of a region are backed with memory. Memory is taken in steps, outside the hot path, so that a host
// without memory is an error there and not a signal in the hot path.
struct Backing {
    uint32_t entries;
};

struct KeyedDevice {
    int32_t id;
    std::atomic<ttmem_set> set;  // stored after the id; 0: the entry is free
};

// Where a thread has the time of its events from.
enum class ThreadClock : uint8_t {
    kernel,       // clock_gettime(): the segment's ticks are nanoseconds
    system_call,  // the same, for a thread that may not read the counter
    counter,      // the time-stamp counter: the segment's ticks
    converted,    // nanoseconds of the system call, converted to ticks of the counter
};

enum class Phase : uint32_t { none = 0, ready, off };

// The part of State that a thread may read before there is one.
struct Session {
    std::atomic<uint64_t> id;  // 0: no segment yet. Also the salt of handles and sets
};

struct State : Session {
    std::atomic<Phase> phase;
    pthread_mutex_t lock;  // creation, writer lines, devices, sets, failures: everything outside the hot path

    // The segment, and pointers into it.
    unsigned char* base;
    uint64_t bytes;
    int descriptor;
    segment::Header* header;
    segment::LedgerSlot* ledger;
    segment::Pool* pools;
    segment::Name* names;
    uint32_t slots;
    uint32_t ring_records;
    bool clock_is_tsc;

    Recorder* recorders;  // one per writer line
    uint32_t writers;
    uint32_t writers_taken;  // lines ever handed out
    uint32_t free_writers;   // lines given back, as a list through Recorder::next_free (line + 1)
    pthread_mutex_t share_lock;

    pthread_mutex_t slot_lock;
    uint32_t* free_slots;
    uint32_t free_slot_count;
    std::atomic<uint32_t> slots_used;  // as in the header
    Backing ledger_backing;

    std::atomic<ttmem_set> set_token[kSetTokens];  // the open set with this index

    pthread_mutex_t name_lock;
    std::atomic<uint32_t>* name_index;  // hash table of name ids; 0 = empty
    uint32_t name_index_mask;
    Backing names_backing;
    uint16_t core_index[kCoreIndex];  // hash table of core set ids; 0 = empty
    Backing core_sets_backing;

    ChainLink* links;                // one per slot
    std::atomic<uint32_t>* buckets;  // slot + 1; 0 = empty
    uint32_t bucket_mask;
    pthread_mutex_t index_locks[kIndexLocks];

    pthread_mutex_t keyed_lock;
    KeyedDevice keyed_devices[segment::kMaxDevices];

    pthread_mutex_t peak_lock;                // no other lock is taken under it
    uint64_t set_members[segment::kMaxSets];  // as in the table of sets; 0: never used. Under peak_lock

    pthread_mutex_t mark_lock;

    pthread_mutex_t card_lock;  // only tried, never waited for
    uint64_t last_card_ns;      // when the last card was begun; 0: none

    // For threads that may not read the counter (clock.hpp).
    pthread_mutex_t clock_lock;  // no other lock is taken under it
    segment::Moment newest_moment;
    double ticks_per_ns;
};

extern Session g_no_session;  // of a process without a State: id 0
extern State* g_state;

// The state of the running thread. Small, and in the static TLS block: no call and no heap to reach it.
struct ThreadLocal {
    // The session while a call may take the short way: the thread has a line of its own, its clock is the counter and no
    // call is running. Else kInCall or kLongWay. A signal handler finds kInCall.
    std::atomic<uint64_t> gate{kLongWay};
    const Session* session_word = &g_no_session;  // that of g_state, once the thread has a line
    Recorder* recorder = nullptr;
    uint64_t session = 0;   // whose line it is
    uint32_t id = 0;        // the kernel's thread id
    uint32_t name = 0;      // the innermost scope
    uint32_t depth = 0;     // open scopes, kMaxScopeDepth at most
    uint32_t too_deep = 0;  // scopes opened inside these
    uint64_t named = 0;     // bit i: the scope at depth i has a name of its own
    ThreadClock clock = ThreadClock::kernel;
};

extern __thread ThreadLocal tls __attribute__((tls_model("initial-exec")));

// The session of this process; 0: none. SYNC POINT: with make_segment().
inline uint64_t current_session() { return tls.session_word->id.load(std::memory_order_acquire); }

inline bool is_off() {
    return __builtin_expect(__atomic_load_n(&ttmem_maybe_enabled, __ATOMIC_RELAXED) == 0, 0);
}

template <class T>
T* region(const State& state, segment::RegionId id) {
    return reinterpret_cast<T*>(state.base + state.header->region[static_cast<uint32_t>(id)].offset);
}

// The members of a set, as a mask over the device table.
inline uint64_t members_of(const State& state, uint8_t set) {
    const auto* sets = region<segment::SetSlot>(state, segment::RegionId::sets);
    return sets[set].word[segment::kMembersWord].load(std::memory_order_relaxed);
}

// Raises a counter of the header: something was not recorded as it happened.
inline void count(State& state, segment::Inexact what, uint64_t times = 1) {
    state.header->inexact[static_cast<uint32_t>(what)].fetch_add(times, std::memory_order_relaxed);
}

class Lock {
public:
    explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    ~Lock() { pthread_mutex_unlock(&mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    pthread_mutex_t& mutex_;
};

// Writes one line to standard error and turns tracking off for good.
void turn_off(const char* what, int error);

// Backs the entries [0, wanted) of a region with memory, in steps; false if there is none.
bool back(State& state, segment::RegionId region, Backing& backing, uint32_t wanted);

// Connects to a daemon, if there is one, and gives it the segment. Never waits.
void announce(const State& state);

// ---- entering and leaving a call -----------------------------------------------------------------------------------

// The long way in: makes State, segment and this thread's line as needed, and locks a shared line. Null: tracking is
// off, or this is a signal handler inside another call (counted). Keeps errno.
Recorder* enter_slow();
void unlock_shared_line();

// Whether this thread may take the short way. If so it must go on with close_gate().
inline bool gate_is_open() {
    return __builtin_expect(tls.gate.load(std::memory_order_relaxed) == current_session(), 1);
}

// Between these two a signal handler's call is refused.
inline void close_gate() {
    tls.gate.store(kInCall, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void open_gate(uint64_t gate) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    tls.gate.store(gate, std::memory_order_relaxed);
}

// One call of the API on this thread. False: do nothing.
class ApiCall {
public:
    ApiCall() {
        if (gate_is_open()) {
            close_gate();
            recorder_ = tls.recorder;
        } else {
            recorder_ = enter_slow();
        }
    }
    ~ApiCall() {
        if (recorder_ == nullptr) {
            return;
        }
        if (__builtin_expect(recorder_->shared, 0)) {
            unlock_shared_line();
        }
        open_gate(recorder_->gate);
    }
    ApiCall(const ApiCall&) = delete;
    ApiCall& operator=(const ApiCall&) = delete;

    explicit operator bool() const { return __builtin_expect(recorder_ != nullptr, 1); }
    Recorder& recorder() const { return *recorder_; }
    State& state() const { return *g_state; }

private:
    Recorder* recorder_ = nullptr;
};

// The other threads that share the line do not wait for the scan of the ledger.
class ReleasedLine {
public:
    explicit ReleasedLine(const Recorder& recorder) : is_shared_(recorder.shared) {
        if (is_shared_) {
            unlock_shared_line();
        }
    }
    ~ReleasedLine() {
        if (is_shared_) {
            pthread_mutex_lock(&g_state->share_lock);
        }
    }
    ReleasedLine(const ReleasedLine&) = delete;
    ReleasedLine& operator=(const ReleasedLine&) = delete;

private:
    const bool is_shared_;
};

}  // namespace ttmem::client
