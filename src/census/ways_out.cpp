// SPDX-License-Identifier: Apache-2.0
#include "census/ways_out.hpp"

#include <algorithm>
#include <utility>

#include "census/arithmetic.hpp"

namespace ttmem::census {

using allocator::BankSnapshot;
using allocator::BlocksToFree;
using allocator::BufferRequest;
using allocator::LiveBlock;
using allocator::PoolGeometry;
using allocator::PoolKind;

static_assert(pool_of(Kind::dram) == PoolKind::dram && pool_of(Kind::l1) == PoolKind::l1 &&
              pool_of(Kind::l1_small) == PoolKind::l1_small && pool_of(Kind::trace) == PoolKind::trace &&
              kPoolKinds == allocator::kPoolCount);

BufferRequest FitRequest::on_cores(uint32_t number) const {
    return allocator::request_of(tensor, pool_of(kind), number, bottom_up);
}

BufferRequest FitRequest::in_dram() const {
    return allocator::request_of(tensor, PoolKind::dram, 0, std::nullopt);
}

BufferRequest FitRequest::in_pages_of(uint64_t page_size) const {
    return allocator::request_of(allocator::pages_of_bytes(size.value_or(0), page_size), pool_of(kind), 0,
                                 bottom_up);
}

std::optional<uint64_t> place(const PoolGeometry& pool, const BankSnapshot& bank,
                              const BufferRequest& request) {
    return allocator::has_cores(pool, request) ? bank.find(footprint(pool, request).reserved_per_bank,
                                                           request.bottom_up.value_or(pool.bottom_up))
                                               : std::nullopt;
}

namespace {

FitRelease describe_release(const BlocksToFree& release, const BankSnapshot& bank,
                            const DescribeLiveBlock& describe) {
    FitRelease one;
    one.count = release.count;
    one.bytes = release.bytes;
    one.address = release.address;
    one.names = release.owners;
    one.can_move = release.can_move;
    for (size_t i = 0; i < std::min(release.count, kMostReleaseBlocks); ++i) {
        one.blocks.push_back(describe(bank.blocks()[release.first + i]));
    }
    return one;
}

}  // namespace

void add_releases(WaysOut& ways, const BankSnapshot& bank, uint64_t needed, bool bottom_up,
                  const DescribeLiveBlock& describe) {
    for (const BlocksToFree& release : bank.cheapest_to_free(needed, bottom_up, kMostReleases)) {
        ways.to_free.push_back(describe_release(release, bank, describe));
    }
    for (const BlocksToFree& release :
         bank.cheapest_to_free(needed, bottom_up, 1, allocator::FreeCost::owners)) {
        if (!ways.to_free.empty() && release.owners < ways.to_free.front().names) {
            ways.fewest_names = describe_release(release, bank, describe);
        }
    }
}

void add_other_requests(WaysOut& ways, const FitRequest& request, const PoolGeometry& pool,
                        const BankSnapshot& bank) {
    for (uint32_t more = request.cores + 1; request.cores != 0 && more <= pool.banks && !ways.with_cores;
         ++more) {
        if (place(pool, bank, request.on_cores(more))) {
            ways.with_cores = more;
        }
    }
    const bool has_pages = request.size && request.cores == 0;
    for (uint64_t page = request.tensor.page_size / 2;
         has_pages && page >= pool.page_alignment && page != 0 && !ways.with_page; page /= 2) {
        if (place(pool, bank, request.in_pages_of(page))) {
            ways.with_page = page;
        }
    }
}

std::optional<uint64_t> region_size_for(Kind kind, const PoolGeometry& pool, const BankSnapshot& bank,
                                        const BufferRequest& request, uint64_t needed,
                                        std::optional<uint64_t> room) {
    if (kind != Kind::l1_small && kind != Kind::trace) {
        return std::nullopt;
    }
    // Beside a request against the direction of the pool, others may have been made so, whose blocks then move differently.
    const bool is_usual = request.bottom_up.value_or(pool.bottom_up) == pool.bottom_up;
    if (!is_usual && !bank.blocks().empty()) {
        return std::nullopt;
    }
    const bool is_trace = kind == Kind::trace;
    const uint64_t unit = is_trace ? allocator::kTraceAlignment : std::max(pool.bank_alignment, 1u);
    const auto size = bank.size_that_fits(needed, pool.bottom_up, unit);
    // The region takes its bytes from the pool below it, of which the runtime wants something to be left.
    if (!size || (room && *size - pool.size >= *room)) {
        return std::nullopt;
    }
    return is_trace ? allocator::multiply_or_most(*size, pool.banks) : *size;
}

uint64_t trace_limit_for(const BankSnapshot& bank, const PoolGeometry& pool, uint64_t needed) {
    const uint64_t used = bank.statistics().allocated;
    const uint64_t size =
        allocator::round_up_or_most(saturating_add(used, needed), allocator::kTraceAlignment);
    // Blocks keep their distance from the end that the region allocates from.
    std::vector<LiveBlock> blocks(bank.blocks());
    for (LiveBlock& block : blocks) {
        block.address = block.address - pool.base + (pool.bottom_up ? 0 : size - pool.size);
    }
    const auto resized = BankSnapshot::of(0, size, std::move(blocks));
    const bool holds = resized && resized->find(needed, pool.bottom_up);
    return allocator::multiply_or_most(holds ? size : std::max(size, pool.size), pool.banks);
}

}  // namespace ttmem::census
