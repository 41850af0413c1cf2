// SPDX-License-Identifier: Apache-2.0
#include "client/state.hpp"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/standard_error.hpp"
#include "client/clock.hpp"
#include "client/segment_file.hpp"

extern "C" {
int ttmem_maybe_enabled = 1;
#ifdef TTMEM_TEST_POINTS
void (*ttmem_test_point)(const char* name) = nullptr;
#endif
}

namespace ttmem::client {

using segment::Inexact;

namespace {

pthread_once_t g_state_once = PTHREAD_ONCE_INIT;
pthread_key_t g_thread_key;
std::atomic<bool> g_thread_key_exists{false};
std::atomic<uint64_t> g_refused_early{0};  // calls refused while the segment, or the line, was created

void give_back_line(void* line);

// The State is never unmapped. A forked child finds it wiped, at the same address.
void make_state() {
    void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return turn_off("no memory for its state", errno);
    }
    if (madvise(memory, sizeof(State), MADV_WIPEONFORK) != 0) {
        const int error = errno;
        munmap(memory, sizeof(State));
        return turn_off("this kernel can't wipe memory on fork", error);
    }
    // SYNC POINT: with ttmem_is_reporting(), which other threads may call at any time.
    __atomic_store_n(&g_state, static_cast<State*>(memory), __ATOMIC_RELEASE);
    if (pthread_key_create(&g_thread_key, give_back_line) == 0) {
        g_thread_key_exists.store(true, std::memory_order_release);
    }
}

// Cuts the next array off a block of memory; with a null block it only adds up what is needed.
template <class T>
T* cut_array(unsigned char* block, size_t& used, size_t count) {
    T* array = block == nullptr ? nullptr : reinterpret_cast<T*>(block + used);
    used += (sizeof(T) * count + 63) / 64 * 64;
    return array;
}

uint32_t power_of_two_from(uint32_t value) {
    uint32_t power = 1;
    while (power < value) {
        power <<= 1;
    }
    return power;
}

bool make_arrays(State& state, const segment::Sizes& sizes) {
    state.slots = sizes.slots;
    state.ring_records = sizes.ring_records;
    state.writers = sizes.writers;
    const uint32_t buckets = power_of_two_from(sizes.slots);
    const uint32_t name_places = 2 * power_of_two_from(sizes.names);
    state.bucket_mask = buckets - 1;
    state.name_index_mask = name_places - 1;
    const auto cut = [&](unsigned char* block) {
        size_t used = 0;
        state.recorders = cut_array<Recorder>(block, used, sizes.writers);
        state.free_slots = cut_array<uint32_t>(block, used, sizes.slots);
        state.links = cut_array<ChainLink>(block, used, sizes.slots);
        state.buckets = cut_array<std::atomic<uint32_t>>(block, used, buckets);
        state.name_index = cut_array<std::atomic<uint32_t>>(block, used, name_places);
        return used;
    };
    const size_t bytes = cut(nullptr);
    // One map for all: either there is room for everything, or nothing is kept.
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    madvise(memory, bytes, MADV_DONTFORK);
    cut(static_cast<unsigned char*>(memory));
    return true;
}

// The segment of this process, once. The session is random, so that a handle from before a fork means nothing here,
// and even, so that a handle (whose generation is odd) is never 0.
bool make_segment(State& state) {
    Lock lock(state.lock);
    if (state.phase.load(std::memory_order_relaxed) != Phase::none) {
        return state.phase.load(std::memory_order_relaxed) == Phase::ready;
    }
    SegmentFile file = create_segment_file(state);
    if (file.error_text == nullptr && !make_arrays(state, file.sizes)) {
        file.error_text = "no memory for its tables";
        file.error = errno;
        remove_segment_file(state);  // to a reader it would be that of a process with nothing live
    }
    if (file.error_text != nullptr) {
        state.phase.store(Phase::off, std::memory_order_relaxed);
        turn_off(file.error_text, file.error);
        return false;
    }
    for (uint32_t i = 0; i < segment::kMaxSets; ++i) {
        state.set_token[i].store(kNoSet, std::memory_order_relaxed);
    }
    if (state.clock_is_tsc) {
        note_moment(state);
    }
    state.phase.store(Phase::ready, std::memory_order_relaxed);
    state.id.store(file.salt & ~uint64_t{1}, std::memory_order_release);
    announce(state);
    return true;
}

bool thread_is_gone(uint32_t id) {
    return tgkill(getpid(), static_cast<pid_t>(id), 0) != 0 && errno == ESRCH;
}

// Takes back the lines of threads that ended without giving theirs back (their destructor ran before their last event).
// Done when no other line is left.
void collect_dead_lines(State& state) {
    const uint32_t shared = state.writers - 1;
    for (uint32_t line = 0; line < state.writers_taken && line < shared; ++line) {
        Recorder& recorder = state.recorders[line];
        segment::Word& thread = recorder.events.line->thread;
        const auto id = static_cast<uint32_t>(thread.load(std::memory_order_relaxed));
        if (id != 0 && thread_is_gone(id)) {
            thread.store(0, std::memory_order_relaxed);
            recorder.next_free = state.free_writers;
            state.free_writers = line + 1;
        }
    }
}

// A line for this thread: one given back, a fresh one, or the last one, which all further threads share.
Recorder* take_line(State& state) {
    const uint32_t last = state.writers - 1;
    if (state.free_writers == 0 && state.writers_taken >= last) {
        collect_dead_lines(state);
    }
    uint32_t line = last;
    if (state.free_writers != 0) {
        line = state.free_writers - 1;
        state.free_writers = state.recorders[line].next_free;
    } else if (state.writers_taken < last) {
        line = state.writers_taken;
    }
    Recorder& recorder = state.recorders[line];
    if (!recorder.ready) {
        recorder.shared = line == last;  // once: later its other threads read it, and its gate
        recorder.gate = kLongWay;
        if (!prepare_line(state, line)) {
            return nullptr;
        }
    }
    if (!recorder.shared) {  // for each thread that takes it over
        recorder.gate =
            tls.clock == ThreadClock::counter ? state.id.load(std::memory_order_relaxed) : kLongWay;
    }
    if (line >= state.writers_taken) {
        state.writers_taken = line + 1;
        state.header->writers_used.store(line + 1, std::memory_order_release);
    }
    return &recorder;
}

// Runs when a thread ends. Another destructor may still allocate after it: that takes a line again.
void give_back_line(void* line) {
    auto* recorder = static_cast<Recorder*>(line);
    if (tls.session != current_session() || tls.recorder != recorder ||
        tls.gate.load(std::memory_order_relaxed) == kInCall) {
        return;
    }
    State& state = *g_state;
    tls.gate.store(kLongWay, std::memory_order_relaxed);
    {
        Lock lock(state.slot_lock);
        while (recorder->magazine_count != 0) {
            state.free_slots[state.free_slot_count++] = recorder->magazine[--recorder->magazine_count];
        }
    }
    Lock lock(state.lock);
    recorder->events.line->thread.store(0, std::memory_order_relaxed);
    recorder->next_free = state.free_writers;
    state.free_writers = static_cast<uint32_t>(recorder - state.recorders) + 1;
    tls.session = 0;
    tls.recorder = nullptr;
}

// A static copy of this library inside a plug-in may be unmapped, and no thread may call into it after that.
__attribute__((destructor)) void forget_thread_key() {
    if (g_thread_key_exists.exchange(false)) {
        pthread_key_delete(g_thread_key);
    }
}

Recorder* enter() {
    if (ttmem_decide_enabled() == 0) {
        return nullptr;
    }
    pthread_once(&g_state_once, make_state);
    if (is_off() || g_state == nullptr) {
        return nullptr;
    }
    State& state = *g_state;
    if (state.id.load(std::memory_order_acquire) == 0 && !make_segment(state)) {
        return nullptr;
    }
    choose_clock(state);
    Lock lock(state.lock);
    Recorder* recorder = take_line(state);
    if (recorder == nullptr) {
        count(state, Inexact::no_host_memory);
        return nullptr;
    }
    tls.id = static_cast<uint32_t>(gettid());
    tls.name = tls.depth = tls.too_deep = 0;
    tls.named = 0;
    tls.recorder = recorder;
    tls.session = state.id.load(std::memory_order_relaxed);
    tls.session_word = &state;
    if (tls.clock == ThreadClock::counter) {
        note_moment(state);
    }
    count(state, Inexact::reentered, g_refused_early.exchange(0, std::memory_order_relaxed));
    if (recorder->shared) {
        count(state, Inexact::threads_share_ring);
    } else {
        recorder->events.line->thread.store(tls.id, std::memory_order_relaxed);
        if (g_thread_key_exists.load(std::memory_order_acquire)) {
            pthread_setspecific(g_thread_key, recorder);
        }
    }
    return recorder;
}

// A call inside another one, from a signal handler.
void refuse() {
    if (tls.session != 0 && tls.session == current_session()) {
        count(*g_state, Inexact::reentered);
    } else {
        g_refused_early.fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace

constinit Session g_no_session{0};
__thread ThreadLocal tls __attribute__((tls_model("initial-exec")));
State* g_state = nullptr;

void turn_off(const char* what, int error) {
    __atomic_store_n(&ttmem_maybe_enabled, 0, __ATOMIC_RELAXED);
    char line[256];
    const int length = snprintf(line, sizeof line, "ttmem: tracking is off in process %d: %s (%s)\n",
                                static_cast<int>(getpid()), what, strerrordesc_np(error));
    if (length > 0) {
        base::write_to_standard_error(line, static_cast<size_t>(length));
    }
}

Recorder* enter_slow() {
    if (tls.gate.load(std::memory_order_relaxed) == kInCall) {
        refuse();
        return nullptr;
    }
    close_gate();
    const uint64_t session = current_session();
    Recorder* recorder = tls.recorder;
    if (session == 0 || tls.session != session) {
        const int saved = errno;
        recorder = enter();
        errno = saved;
        if (recorder == nullptr) {
            open_gate(kLongWay);
            return nullptr;
        }
    }
    if (recorder->shared) {
        pthread_mutex_lock(&g_state->share_lock);
    }
    return recorder;
}

void unlock_shared_line() { pthread_mutex_unlock(&g_state->share_lock); }

}  // namespace ttmem::client

extern "C" int ttmem_decide_enabled(void) {
    static std::atomic<int> decided{0};  // 0 not yet, 1 on, 2 off
    int answer = decided.load(std::memory_order_relaxed);
    if (answer == 0) {
        const char* value = ttmem::base::secure_environment("TT_ALLOC_TRACKING_ENABLED");
        answer = value != nullptr && strcmp(value, "1") == 0 ? 1 : 2;
        decided.store(answer, std::memory_order_relaxed);
        if (answer == 2) {
            __atomic_store_n(&ttmem_maybe_enabled, 0, __ATOMIC_RELAXED);
        }
    }
    return answer == 1 && !ttmem::client::is_off();
}

extern "C" int ttmem_is_reporting(void) {
    using namespace ttmem::client;
    const State* state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
    return !is_off() && state != nullptr && state->id.load(std::memory_order_acquire) != 0 ? 1 : 0;
}
