// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random work with the native API, by one or more threads, that keeps a list of what should be live. No lock is held
// around a call of the client: each worker owns the allocations that it made, and passes some of them to other workers
// to free.

#include <array>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tests/support/oracle.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::test {

// A reported allocation, and how to free it.
struct Item {
    ttmem_handle handle = 0;
    Live live;
};

// Holds allocations that one worker leaves for another to free.
class Exchange {
public:
    void put(Item item);
    bool take(Item& item);
    std::vector<Item> take_all();

private:
    std::mutex mutex_;
    std::vector<Item> items_;
};

class Worker {
public:
    // `number` makes owners unique among the workers of a process. All workers use `shared_set`.
    Worker(uint64_t seed, uint32_t number, ttmem_set shared_set, ttmem_device own_device, Exchange& exchange);

    void work(uint64_t operations);

    // All allocations that this worker still owns. Those in the exchange have no owner.
    std::vector<Live> live() const;

    // The expected counts.
    uint64_t events = 0;
    std::array<uint64_t, segment::kInexactCounters> inexact{};

private:
    uint64_t random(uint64_t below) { return rng_() % below; }
    std::string name() const;
    Live random_buffer();
    void allocate_buffer();
    void allocate_cb();
    void load_kernel();
    void free_one(std::vector<Item>& from);
    void exchange_one();
    void end_program();
    void scopes();
    void tag();
    void free_wrongly();
    void recycle_own_set();

    std::mt19937_64 rng_;
    uint64_t number_;
    uint64_t next_owner_ = 0;
    ttmem_set shared_set_;
    ttmem_device own_device_;
    ttmem_set own_set_ = 0;
    Exchange& exchange_;
    std::vector<std::string> scopes_;
    std::vector<Item> buffers_;
    std::vector<Item> own_set_items_;
    uint64_t program_;
    std::vector<Item> program_items_;
    std::vector<ttmem_handle> freed_;
};

}  // namespace ttmem::test
