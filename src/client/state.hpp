// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a tracked process keeps for itself. The segment holds what others may read; free lists, hash chains and locks
// are here, in private memory, so that no crash can break what a reader sees and no lock is shared between processes.
//
// The State page is wiped by the kernel in a forked child (MADV_WIPEONFORK), and the segment and the arrays are not
// inherited at all (MADV_DONTFORK): a child finds session 0, which is not the session of its thread, and starts afresh.
// All zero is therefore a valid State: nothing made yet, no lock held.

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "segment/layout.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

constexpr uint32_t kMagazine = 64;      // slots a thread keeps at hand
constexpr uint32_t kMagazineHalf = 32;  // how many come and go at a time
constexpr uint32_t kIndexLocks = 64;
constexpr uint32_t kCoreIndex = 2 * segment::kMaxCoreSets;
constexpr uint32_t kNoSlot = UINT32_MAX;

// What a writer line needs at hand. One a line, not one a thread: a line goes to the next thread when one ends.
struct alignas(64) Thread {
    segment::Writer* writer;
    segment::RingRecord* ring;
    segment::Tally* tallies;
    uint32_t magazine_count;
    bool
        shared;  // the last line, of all threads that came when no other was free: every event under `share_lock`
    bool ready;          // ring and tallies are backed with memory
    uint32_t next_free;  // the next line given back: line + 1; 0 = end
    uint32_t magazine[kMagazine];
};

// A slot's place in the private index (index.hpp).
struct Link {
    uint32_t next;  // slot + 1; 0 = end
    uint32_t previous;
    uint32_t references;
};

// Entries of a region that are backed by memory already. Memory is taken in steps, at cold moments, so that a host
// without memory is an error here and not a signal in the hot path.
struct Backed {
    uint32_t entries;
};

struct KeyedDevice {
    int32_t id;
    std::atomic<ttmem_set> set;  // stored after the id; 0: the place is free
};

enum class Phase : uint32_t { none = 0, ready, off };

struct State {
    std::atomic<uint64_t> session;  // 0: no segment yet. Also the salt of the handles
    std::atomic<Phase> phase;
    pthread_mutex_t lock;  // creation, writer lines, devices, sets, failures: everything cold

    // The segment, and shortcuts into it.
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

    Thread* threads;  // one a writer line
    uint32_t writers;
    uint32_t writers_taken;  // lines ever handed out
    uint32_t free_writers;   // lines given back, as a list through Thread::next_free (line + 1)
    pthread_mutex_t share_lock;

    pthread_mutex_t slot_lock;
    uint32_t* free_slots;
    uint32_t free_slot_count;
    Backed ledger_backed;

    std::atomic<uint32_t> set_token[segment::kMaxSets];  // the open set with this index; 0 = none

    pthread_mutex_t name_lock;
    std::atomic<uint32_t>* name_index;  // hash table of name ids; 0 = empty
    uint32_t name_index_mask;
    Backed names_backed;
    uint16_t core_index[kCoreIndex];  // hash table of core set ids; 0 = empty
    Backed core_sets_backed;

    Link* links;                     // one a slot
    std::atomic<uint32_t>* buckets;  // slot + 1; 0 = empty
    uint32_t bucket_mask;
    pthread_mutex_t index_locks[kIndexLocks];

    pthread_mutex_t keyed_lock;
    KeyedDevice keyed_devices[segment::kMaxDevices];
};

// What the running thread is in the middle of. Small, and in the static TLS block: no call and no heap to reach it.
struct ThreadLocal {
    uint64_t session = 1;  // never a session: those are even
    Thread* thread = nullptr;
    uint32_t id = 0;        // the kernel's thread id
    uint32_t name = 0;      // the innermost scope
    uint32_t depth = 0;     // open scopes, kMaxScopeDepth at most
    uint32_t too_deep = 0;  // scopes opened inside these
    uint64_t named = 0;     // bit i: the scope at depth i has a name of its own
    std::atomic<uint32_t> busy{0};
};

extern __thread ThreadLocal tls __attribute__((tls_model("initial-exec")));
extern State* g_state;
extern std::atomic<const std::atomic<uint64_t>*>
    g_session;  // &g_state->session, or a zero until there is one

// The session of this process; 0: none. SYNC POINT: with make_state() for the pointer, with make_segment() for the word.
inline uint64_t current_session() {
    return g_session.load(std::memory_order_acquire)->load(std::memory_order_acquire);
}

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

// Raises a counter of the header: something was not recorded as it was.
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

// The one line that a process may see from us, then nothing more: tracking is off.
void turn_off(const char* what, int error);

// Makes State, segment and this thread's line as needed; null where tracking is off. Leaves errno alone.
Thread* enter_slow();

// Backs the entries [0, wanted) of a region with memory, in steps; false if there is none.
bool back(State& state, segment::RegionId region, Backed& backed, uint32_t wanted);

// Connects to a daemon, if there is one, and gives it the segment. Never waits.
void announce(const State& state);

// One call of the API on this thread: finds the thread's line and keeps a signal handler out. False: do nothing.
class Call {
public:
    Call() {
        if (__builtin_expect(tls.busy.load(std::memory_order_relaxed) != 0, 0)) {
            refuse();
            return;
        }
        tls.busy.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (__builtin_expect(tls.session != current_session(), 0)) {
            thread_ = enter_slow();
            if (thread_ == nullptr) {
                leave();
                return;
            }
        } else {
            thread_ = tls.thread;
        }
        if (__builtin_expect(thread_->shared, 0)) {
            pthread_mutex_lock(&g_state->share_lock);
        }
    }
    ~Call() {
        if (thread_ == nullptr) {
            return;
        }
        if (__builtin_expect(thread_->shared, 0)) {
            pthread_mutex_unlock(&g_state->share_lock);
        }
        leave();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    explicit operator bool() const { return __builtin_expect(thread_ != nullptr, 1); }
    Thread& thread() const { return *thread_; }
    State& state() const { return *g_state; }

private:
    static void leave() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        tls.busy.store(0, std::memory_order_relaxed);
    }
    static void refuse();

    Thread* thread_ = nullptr;
};

}  // namespace ttmem::client
