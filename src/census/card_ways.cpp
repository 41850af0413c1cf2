// SPDX-License-Identifier: Apache-2.0
#include "census/card_ways.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "allocator/circular_layout.hpp"
#include "census/arithmetic.hpp"
#include "census/free_space.hpp"

namespace ttmem::census {

namespace {

using allocator::BankSnapshot;
using allocator::CircularBuffer;
using allocator::LiveBlock;
using allocator::PoolGeometry;
using segment::Allocation;

constexpr uint32_t kMostBanks = 4096;       // more are not plausible
constexpr size_t kMostToShrink = 3;         // circular buffers that are named
constexpr size_t kMostInProgram = 256;      // circular buffers that are laid out
constexpr size_t kUnknownBlock = SIZE_MAX;  // a range that the card knows nothing about

tl::unexpected<base::Error> unknown(std::string why) {
    return base::error(base::Error::Code::refused, std::move(why));
}

class CardWays {
public:
    CardWays(const segment::CardContents& card, const SelectedLedger& ledger, CoreMasks& masks,
             const OtherPools& others)
        : card_(card), head_(card.head), ledger_(ledger), masks_(masks), others_(others) {}

    base::Expected<WaysOut> find() {
        if (head_.banks == 0 || head_.banks > kMostBanks) {
            return unknown("the banks of the device are not reported");
        }
        return head_.failure.type == static_cast<uint8_t>(segment::FailureType::cb_clash) ? of_clash()
                                                                                          : of_refusal();
    }

private:
    uint32_t alignment() const { return std::max(head_.alignment, 1u); }
    Bank bank() const { return {head_.bank_base, head_.bank_size, head_.banks}; }

    FitBlock describe(const Allocation& a) const {
        const uint64_t failed = ledger_.clock.monotonic_ns(head_.failure.ticks);
        const uint64_t made = ledger_.clock.monotonic_ns(a.ticks);
        return {a.address, in_one_bank(a.reserved, bank()), a.owner, failed > made ? failed - made : 0,
                ledger_.reader().name(a.name)};
    }

    // Then a block has its address on some cores only.
    bool has_addresses_per_core() const {
        return std::any_of(card_.blocks.begin(), card_.blocks.end(), [](const segment::CardBlock& block) {
            return block.allocation.flags.has(segment::AllocationFlag::per_core);
        });
    }

    // The buffers of the bank. The id of a block is its index in the card.
    std::vector<LiveBlock> live_blocks() const {
        std::vector<LiveBlock> blocks;
        for (size_t i = 0; i < card_.blocks.size(); ++i) {
            const Allocation& a = card_.blocks[i].allocation;
            if (a.kind != segment::AllocationKind::cb) {
                blocks.push_back({a.address, in_one_bank(a.reserved, bank()), i, a.name});
            }
        }
        return blocks;
    }

    // Pins whatever lies between the blocks and the free blocks that the card has.
    void pin_unknown(std::vector<LiveBlock>& blocks) const {
        std::vector<std::pair<uint64_t, uint64_t>> known;  // address and end
        known.reserve(blocks.size() + card_.gaps.size());
        for (const LiveBlock& block : blocks) {
            known.emplace_back(block.address, saturating_add(block.address, block.size));
        }
        for (const segment::CardGap& gap : card_.gaps) {
            known.emplace_back(gap.address, saturating_add(gap.address, gap.bytes));
        }
        std::sort(known.begin(), known.end());
        uint64_t from = head_.bank_base;
        const auto pin_until = [&](uint64_t address) {
            if (address > from) {
                blocks.push_back({from, address - from, kUnknownBlock, 0, true});
            }
        };
        for (const auto& [address, end] : known) {
            pin_until(address);
            from = std::max(from, end);
        }
        pin_until(saturating_add(head_.bank_base, head_.bank_size));
    }

    base::Expected<BankSnapshot> snapshot() const {
        std::vector<LiveBlock> blocks = live_blocks();
        if (!head_.is_complete()) {
            pin_unknown(blocks);
        }
        auto bank = BankSnapshot::of(head_.bank_base, head_.bank_size, std::move(blocks));
        if (!bank || has_addresses_per_core()) {
            return unknown(
                "cannot be decided: addresses per core (its allocations do not lie in lockstep banks)");
        }
        return *std::move(bank);
    }

    // The request, if the rules of the allocator give what it needed.
    std::optional<FitRequest> request(Kind kind, const PoolGeometry& pool, bool bottom_up) const {
        if (head_.page_bytes == 0 || head_.request_banks == 0 || head_.request_banks > head_.banks) {
            return std::nullopt;
        }
        const bool is_spread = head_.request_banks == head_.banks;
        const FitRequest request{
            .kind = kind,
            .tensor = allocator::pages_of_bytes(head_.failure.requested, head_.page_bytes),
            .size = head_.failure.requested,
            .cores = is_spread ? 0 : head_.request_banks,
            .bottom_up = bottom_up};
        const uint64_t needed = footprint(pool, request.in_pool()).reserved_per_bank;
        return needed == head_.failure.needed_per_bank ? std::optional(request) : std::nullopt;
    }

    base::Expected<WaysOut> of_refusal() {
        const segment::Failure& failure = head_.failure;
        const auto kind = kind_of(static_cast<segment::AllocationKind>(failure.kind));
        if (!kind || index_of(*kind) >= kPoolKinds) {
            return unknown("this kind of memory has no allocator");
        }
        const auto bank = snapshot();
        if (!bank) {
            return tl::unexpected(bank.error());
        }
        const allocator::PoolStatistics& has = bank->statistics();
        const bool agrees = has.largest_free == failure.largest_free_per_bank &&
                            (has.free == failure.free_per_bank || !head_.is_complete());
        // The limit of a trace region is its size as requested. In each bank it is rounded up, so the map may have more.
        const bool is_below_the_limit = *kind == Kind::trace && failure.free_per_bank <= has.free &&
                                        failure.largest_free_per_bank <= has.largest_free;
        if (!agrees && !is_below_the_limit) {
            return unknown("the allocator said " + std::to_string(failure.free_per_bank) + " B free, " +
                           std::to_string(failure.largest_free_per_bank) +
                           " B in one block, and the map has " + std::to_string(has.free) + " B, " +
                           std::to_string(has.largest_free) + " B in one block");
        }
        const uint32_t direction =
            head_.request_direction == segment::kUnknownDirection ? head_.direction : head_.request_direction;
        const bool bottom_up = direction == TTMEM_BOTTOM_UP;
        const bool is_l1 = allocator::is_in_l1(pool_of(*kind));
        const PoolGeometry pool{.base = head_.bank_base,
                                .size = head_.bank_size,
                                .banks = head_.banks,
                                .page_alignment = is_l1 ? allocator::kL1PageAlignment : alignment(),
                                .bank_alignment = alignment(),
                                .bottom_up = head_.direction == TTMEM_BOTTOM_UP};
        WaysOut ways;
        ways.fits_after_compaction = failure.needed_per_bank <= failure.free_per_bank;
        if (agrees) {
            add_releases(ways, *bank, failure.needed_per_bank, bottom_up,
                         [&](const LiveBlock& block) { return describe(card_.blocks[block.id].allocation); });
        }
        if (const auto asked = request(*kind, pool, bottom_up)) {
            add_other_requests(ways, *asked, pool, *bank);
            if (is_l1 && others_.dram) {
                ways.dram_address = place(others_.dram->first, others_.dram->second, asked->in_dram());
            }
        }
        ways.region_size =
            agrees || failure.needed_per_bank > has.largest_free
                ? region_size_for(*kind, pool, *bank, {.pool = pool_of(*kind), .bottom_up = bottom_up},
                                  failure.needed_per_bank, others_.room_below)
                : std::optional(trace_limit_for(*bank, pool, failure.needed_per_bank));
        return ways;
    }

    // The circular buffers of the program, by address: that is the order in which they were made, on each core.
    std::vector<const Allocation*> circular_buffers() const {
        std::vector<const Allocation*> buffers;
        for (const segment::CardBlock& block : card_.blocks) {
            if (block.allocation.kind == segment::AllocationKind::cb) {
                buffers.push_back(&block.allocation);
            }
        }
        std::stable_sort(buffers.begin(), buffers.end(),
                         [](const Allocation* a, const Allocation* b) { return a->address < b->address; });
        return buffers;
    }

    bool is_on_core(const allocator::CoreBits& cores) const {
        const segment::Failure& failure = head_.failure;
        return failure.core_y < cores.size() && failure.core_x < 16 &&
               (cores[failure.core_y] >> failure.core_x & 1) != 0;
    }

    // Each alone: the program is laid out again with a smaller one, and must then end below the floor on every core.
    std::vector<BufferToShrink> to_shrink() {
        const std::vector<const Allocation*> made = circular_buffers();
        if (made.empty() || made.size() > kMostInProgram) {
            return {};
        }
        std::vector<CircularBuffer> layout;
        for (const Allocation* a : made) {
            const auto& cores = masks_.of(a->core_set);
            if (!cores) {
                return {};
            }
            layout.push_back({a->requested, *cores});
        }
        const uint64_t base = made.front()->address;
        const std::vector<uint64_t> addresses = allocator::lay_out(layout, base, alignment());
        for (size_t i = 0; i < made.size(); ++i) {
            if (addresses[i] != made[i]->address) {
                return {};  // it follows other rules
            }
        }
        const uint64_t floor = head_.failure.cb_limit();
        const uint64_t end = allocator::end_of_layout(layout, base, alignment());
        const uint64_t by = allocator::round_up_or_most(end > floor ? end - floor : 0, alignment());
        std::vector<BufferToShrink> result;
        for (size_t i = 0; i < made.size(); ++i) {
            std::vector<CircularBuffer> smaller = layout;
            if (by == 0 || smaller[i].size <= by || !is_on_core(layout[i].cores)) {
                continue;
            }
            smaller[i].size -= by;
            if (allocator::end_of_layout(smaller, base, alignment()) <= floor) {
                result.push_back(
                    {ledger_.reader().name(made[i]->name), made[i]->address, made[i]->requested, by});
            }
        }
        std::stable_sort(result.begin(), result.end(),
                         [](const BufferToShrink& a, const BufferToShrink& b) { return a.bytes > b.bytes; });
        result.resize(std::min(result.size(), kMostToShrink));
        return result;
    }

    // The L1 buffers below the end of the circular buffers, all together.
    FitRelease in_the_way(const BankSnapshot& bank) const {
        FitRelease release;
        std::set<size_t> names;
        release.address = saturating_add(head_.bank_base, head_.bank_size);
        for (const LiveBlock& block : bank.blocks()) {
            if (block.address >= head_.failure.cb_end) {
                release.address = block.address;
                break;
            }
            ++release.count;
            release.bytes += block.size;
            names.insert(block.owner);
            if (release.blocks.size() < kMostReleaseBlocks) {
                release.blocks.push_back(describe(card_.blocks[block.id].allocation));
            }
        }
        release.names = names.size();
        release.can_move = bank.can_move_above(head_.failure.cb_end);
        return release;
    }

    base::Expected<WaysOut> of_clash() {
        const segment::Failure& failure = head_.failure;
        WaysOut ways;
        ways.to_shrink = to_shrink();
        if (failure.has_blocker == 0) {
            return ways;  // no buffer is known to be in the way
        }
        const auto bank = head_.is_complete() && !has_addresses_per_core()
                              ? BankSnapshot::of(head_.bank_base, head_.bank_size, live_blocks())
                              : std::nullopt;
        const uint64_t bank_end = saturating_add(head_.bank_base, head_.bank_size);
        if (bank && failure.cb_end <= bank_end) {
            ways.to_free.push_back(in_the_way(*bank));
        }
        // L1 buffers lie higher by as much as the region above them is smaller.
        const uint64_t overlap = failure.cb_end - std::min(failure.cb_end, failure.lowest_buffer);
        const uint64_t less = allocator::round_up_or_most(overlap, alignment());
        if (less != 0 && less <= others_.l1_small_size &&
            others_.l1_small_size - less >= others_.l1_small_peak) {
            ways.region_size = others_.l1_small_size - less;
        }
        return ways;
    }

    const segment::CardContents& card_;
    const segment::CardHead& head_;
    const SelectedLedger& ledger_;
    CoreMasks& masks_;
    const OtherPools& others_;
};

}  // namespace

base::Expected<WaysOut> ways_out_of(const segment::CardContents& card, const SelectedLedger& ledger,
                                    CoreMasks& masks, const OtherPools& others) {
    return CardWays(card, ledger, masks, others).find();
}

}  // namespace ttmem::census
