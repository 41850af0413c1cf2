// SPDX-License-Identifier: Apache-2.0
#pragma once

// The peak of a device over all sets that it is in, at no cost to a set that allocates alone.
//
// Of the pools of one kind on a device, at most one changes without notice: it runs, and the others are paused. While it runs,
// the highest sum on the device is what the paused pools hold plus the highest level of the running one, which each event of
// it keeps in `since`. The first event of a paused pool resumes it: the sums up to then go into the peaks of the devices, and
// the pools that ran on its devices are paused. So only an event that follows one of another set has work to do.
//
// `since` of a paused pool equals `used`, so the sum of `since` over all pools on a device is the highest sum since its peak
// was brought up to date. Of two events that overlap in time either may count first.
//
// The caller holds a lock during each call. The events of a running pool do not take it.

#include <cstdint>

#include "segment/layout.hpp"
#include "segment/writer.hpp"

namespace ttmem::segment {

struct ChipPeakOrders {
    // SYNC POINT: with BasicEventWriter::count(), which adds first and then looks whether its pool is paused. An exchange has a
    // place in the order of the additions: those before it are seen here, those after it see the pause.
    static constexpr auto since_exchange = std::memory_order_acq_rel;
    static constexpr auto used_exchange = std::memory_order_acq_rel;
};

template <class PoolType, class ChipType, class Orders = ChipPeakOrders>
struct BasicChipPeaks {
    PoolType* pools;
    ChipType* chips;
    const uint64_t* members;  // by set: a mask over the device table; 0: never used
    uint32_t sets;

    // An event has changed this pool to `level` while it was paused.
    void resume(uint32_t pool, uint64_t level) {
        PoolType& own = pools[pool];
        raise_to(own.peak, level);
        if (own.is_paused.load(std::memory_order_relaxed) == 0) {  // another thread was faster
            raise_to(own.since, level);
            return;
        }
        RunSums sums(*this, chip_kind(pool % kKindsPerSet));
        sums.end_runs(members[pool / kKindsPerSet], &own, true);
        sums.write();
        sums.begin_runs();
        own.since.store(higher(used_now(own), level), std::memory_order_relaxed);
        own.is_paused.store(0, std::memory_order_release);
    }

    // Brings the peaks of these devices up to date, and begins anew with what they hold now.
    void reset(uint64_t devices) {
        for (uint32_t kind = 0; kind < kChipKinds; ++kind) {
            RunSums sums(*this, kind);
            sums.end_runs(devices, nullptr, false);
            sums.write();
            sums.begin_runs();
            for_each_bit(devices, [&](uint32_t chip) {
                chips[chip].kind[kind].since_reset.store(used(chip, kind), std::memory_order_relaxed);
            });
        }
    }

    // Before a set is opened in this place: the peaks of the set that was there are kept, and its pools start at 0.
    void open(uint32_t set, uint64_t new_members) {
        for (uint32_t kind = 0; kind < kChipKinds; ++kind) {
            RunSums sums(*this, kind);
            sums.end_runs(members[set], nullptr, false);
            sums.write();
            sums.begin_runs();
        }
        for (uint32_t kind = 0; kind < kKindsPerSet; ++kind) {
            PoolType& pool = pools[set * kKindsPerSet + kind];
            pool.peak.store(0, std::memory_order_relaxed);
            pool.since.store(0, std::memory_order_relaxed);
            const bool has_company = chip_kind(kind) == kChipKinds - 1 || is_shared(set, new_members);
            pool.is_paused.store(has_company ? 1 : 0, std::memory_order_relaxed);
        }
        for_each_bit(new_members,
                     [&](uint32_t chip) { chips[chip].is_kept.store(1, std::memory_order_relaxed); });
    }

    uint64_t used(uint32_t chip, uint32_t kind) const {
        return sum(chip, kind,
                   [](const PoolType& pool) { return pool.used.load(std::memory_order_relaxed); });
    }
    uint64_t peak(uint32_t chip, uint32_t kind) const {
        return higher(chips[chip].kind[kind].peak.load(std::memory_order_relaxed), since(chip, kind));
    }
    uint64_t peak_since_reset(uint32_t chip, uint32_t kind) const {
        return higher(chips[chip].kind[kind].since_reset.load(std::memory_order_relaxed), since(chip, kind));
    }

private:
    static constexpr uint32_t kKernelKinds = kKinds - (kChipKinds - 1);
    static uint64_t used_now(PoolType& pool) { return pool.used.fetch_add(0, Orders::used_exchange); }
    static constexpr uint64_t higher(uint64_t a, uint64_t b) { return a > b ? a : b; }

    template <class Take>
    static void for_each_bit(uint64_t mask, const Take& take) {
        for (; mask != 0; mask &= mask - 1) {
            take(static_cast<uint32_t>(__builtin_ctzll(mask)));
        }
    }

    // The pools of one kind of a chip: one per set, or three of kernels.
    template <class Take>
    void for_each_pool(uint32_t kind, uint64_t on_devices, const Take& take) const {
        const uint32_t count = kind == kChipKinds - 1 ? kKernelKinds : 1;
        for (uint32_t set = 0; set < sets; ++set) {
            for (uint32_t i = 0; i < count && (members[set] & on_devices) != 0; ++i) {
                take(pools[set * kKindsPerSet + kind + i], set, i);
            }
        }
    }

    template <class Value>
    uint64_t sum(uint32_t chip, uint32_t kind, const Value& value) const {
        uint64_t result = 0;
        for_each_pool(kind, uint64_t{1} << chip,
                      [&](const PoolType& pool, uint32_t, uint32_t) { result += value(pool); });
        return result;
    }
    uint64_t since(uint32_t chip, uint32_t kind) const {
        return sum(chip, kind,
                   [](const PoolType& pool) { return pool.since.load(std::memory_order_relaxed); });
    }

    bool is_shared(uint32_t set, uint64_t devices) const {
        for (uint32_t other = 0; other < sets; ++other) {
            if (other != set && (members[other] & devices) != 0) {
                return true;
            }
        }
        return false;
    }

    // The highest sums of one kind, up to now.
    class RunSums {
    public:
        RunSums(const BasicChipPeaks& peaks, uint32_t kind) : peaks_(peaks), kind_(kind) {}

        // Takes the highest level of each running pool on these devices but one.
        void end_runs(uint64_t devices, const PoolType* but, bool pause) {
            peaks_.for_each_pool(kind_, devices, [&](PoolType& pool, uint32_t set, uint32_t i) {
                if (&pool == but || pool.is_paused.load(std::memory_order_relaxed) != 0) {
                    return;
                }
                if (pause) {
                    pool.is_paused.store(1, std::memory_order_relaxed);
                }
                ended_[i][set / 64] |= uint64_t{1} << set % 64;
                high_[ends_++] = pool.since.exchange(0, Orders::since_exchange);
                chips_ |= peaks_.members[set];
            });
        }

        void write() {
            if (chips_ == 0) {
                return;
            }
            uint64_t sum[kMaxDevices] = {};
            uint32_t ended = 0;
            peaks_.for_each_pool(kind_, chips_, [&](PoolType& pool, uint32_t set, uint32_t i) {
                const uint64_t level =
                    has_ended(set, i) ? high_[ended++] : pool.since.load(std::memory_order_relaxed);
                if (level != 0) {
                    for_each_bit(peaks_.members[set] & chips_, [&](uint32_t chip) { sum[chip] += level; });
                }
            });
            for_each_bit(chips_, [&](uint32_t chip) {
                raise_to(peaks_.chips[chip].kind[kind_].peak, sum[chip]);
                raise_to(peaks_.chips[chip].kind[kind_].since_reset, sum[chip]);
            });
        }

        // The runs that have ended begin anew. A pool that was paused meanwhile holds what it used then.
        void begin_runs() {
            peaks_.for_each_pool(kind_, chips_, [&](PoolType& pool, uint32_t set, uint32_t i) {
                if (has_ended(set, i)) {
                    raise_to(pool.since, used_now(pool));
                }
            });
        }

    private:
        bool has_ended(uint32_t set, uint32_t i) const { return (ended_[i][set / 64] >> set % 64 & 1) != 0; }

        const BasicChipPeaks& peaks_;
        uint32_t kind_;
        uint64_t chips_ = 0;
        uint64_t ended_[kKernelKinds][(kMaxSets + 63) / 64] = {};
        uint64_t high_[kMaxSets * kKernelKinds];  // in the order of for_each_pool()
        uint32_t ends_ = 0;
    };
};

using ChipPeaks = BasicChipPeaks<Pool, ChipCounters>;

}  // namespace ttmem::segment
