// SPDX-License-Identifier: Apache-2.0
#include "census/failure_card.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "census/arithmetic.hpp"
#include "census/circular_buffers.hpp"
#include "census/device_facts.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

namespace {

constexpr size_t kListed = 5;  // holders and youngest
constexpr size_t kAround = 3;  // blocks on each side

using segment::Allocation;

bool is_circular(const Allocation& a) { return a.kind == segment::AllocationKind::cb; }

std::optional<PlacementDirection> direction_of(uint32_t number) {
    switch (number) {
        case TTMEM_BOTTOM_UP:
            return PlacementDirection::bottom_up;
        case TTMEM_TOP_DOWN:
            return PlacementDirection::top_down;
        default:
            return std::nullopt;
    }
}

std::optional<uint64_t> unless_zero(uint64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
}

uint64_t end_of(const MapBlock& block) { return saturating_add(block.address, block.bytes); }

MapBlock free_space(uint64_t address, uint64_t bytes) {
    MapBlock block;
    block.address = address;
    block.bytes = bytes;
    block.is_free = true;
    return block;
}

class CardDescriber {
public:
    CardDescriber(const segment::CardContents& card, const SelectedLedger& ledger, const OtherPools& others)
        : card_(card),
          head_(card.head),
          ledger_(ledger),
          others_(others),
          masks_(ledger.reader()),
          failed_ns_(ledger.clock.monotonic_ns(card.head.failure.ticks)),
          is_clash_(card.head.failure.type == static_cast<uint8_t>(segment::FailureType::cb_clash)) {}

    FailureCard describe(uint64_t most_blocks) {
        FailureCard result;
        result.number = head_.number;
        result.is_complete = head_.is_complete();
        result.request = request();
        result.bank = bank();
        result.holders = holders();
        result.youngest = youngest();
        result.events = events();
        if (is_clash_) {
            result.program = program();
        }
        if (auto ways = ways_out_of(card_, ledger_, masks_, others_)) {
            result.fix = *std::move(ways);
        } else {
            result.no_fix = std::move(ways.error().text);
        }
        std::vector<MapBlock> blocks = all_blocks();
        if (const auto centre = centre_of(blocks, result.program)) {
            const size_t from = *centre - std::min(*centre, kAround);
            const size_t to = std::min(blocks.size(), *centre + kAround + 1);
            result.around.assign(blocks.begin() + static_cast<ptrdiff_t>(from),
                                 blocks.begin() + static_cast<ptrdiff_t>(to));
        }
        if (blocks.size() > most_blocks) {
            result.blocks_left_out = blocks.size() - most_blocks;
            blocks.resize(most_blocks);
        }
        result.blocks = std::move(blocks);
        return result;
    }

private:
    Bank bank_of_card() const { return {head_.bank_base, head_.bank_size, head_.banks}; }

    const std::string& name_of_id(uint32_t id) {
        const auto [at, is_new] = names_.try_emplace(id);
        if (is_new) {
            at->second = ledger_.reader().name(id);
        }
        return at->second;
    }

    uint64_t age_of(uint64_t ticks) const {
        const uint64_t then = ledger_.clock.monotonic_ns(ticks);
        return failed_ns_ > then ? failed_ns_ - then : 0;
    }

    MapBlock describe_block(const Allocation& a) {
        MapBlock block;
        block.address = a.address;
        block.bytes = is_circular(a) ? a.requested : in_one_bank(a.reserved, bank_of_card());
        block.requested = a.requested;
        block.used = a.used();
        block.owner = a.owner;
        block.age_ns = age_of(a.ticks);
        block.circular_buffers = is_circular(a) ? 1 : 0;
        if (const std::string& name = name_of_id(a.name); !name.empty()) {
            block.name = name;
        }
        return block;
    }

    CardRequest request() const {
        const segment::Failure& failure = head_.failure;
        CardRequest request;
        request.requested = failure.requested;
        request.needed = is_clash_ ? std::nullopt : std::optional(failure.needed_per_bank);
        request.page = unless_zero(head_.page_bytes);
        request.banks = unless_zero(head_.request_banks);
        request.alignment = is_clash_ ? std::nullopt : unless_zero(head_.alignment);
        request.direction = is_clash_ ? std::nullopt : direction_of(head_.request_direction);
        return request;
    }

    CardBank bank() const {
        const segment::Failure& failure = head_.failure;
        CardBank bank;
        bank.kind = is_clash_
                        ? Kind::l1
                        : kind_of(static_cast<segment::AllocationKind>(failure.kind)).value_or(Kind::dram);
        bank.bank = bank_of_card();
        bank.used = head_.used_per_bank;
        bank.free = failure.free_per_bank;
        bank.allocations = head_.live;
        if (!is_clash_) {
            bank.largest_free = failure.largest_free_per_bank;
        }
        return bank;
    }

    std::vector<CardHolder> holders() {
        std::vector<CardHolder> result;
        for (const segment::CardSum& sum : card_.sums) {
            if (result.size() < kListed) {
                result.push_back({name_of_id(sum.name), sum.used, sum.count});
            }
        }
        return result;
    }

    std::vector<MapBlock> youngest() {
        std::vector<const Allocation*> all;
        for (const segment::CardBlock& block : card_.blocks) {
            if (!is_circular(block.allocation)) {
                all.push_back(&block.allocation);
            }
        }
        const auto last = all.begin() + static_cast<ptrdiff_t>(std::min(kListed, all.size()));
        std::partial_sort(all.begin(), last, all.end(),
                          [](const Allocation* a, const Allocation* b) { return a->ticks > b->ticks; });
        std::vector<MapBlock> result;
        for (auto each = all.begin(); each != last; ++each) {
            result.push_back(describe_block(**each));
        }
        return result;
    }

    std::vector<CardEvent> events() {
        std::vector<CardEvent> result;
        for (const segment::Event& from : card_.events) {
            const auto number = static_cast<uint32_t>(from.type);
            if (number < static_cast<uint32_t>(segment::EventType::allocate) ||
                number > static_cast<uint32_t>(segment::EventType::failure)) {
                continue;  // of a later version
            }
            CardEvent event;
            event.type = static_cast<CardEventType>(number - 1);
            event.age_ns = age_of(from.ticks);
            event.name = name_of_id(from.name);
            if (event.type == CardEventType::allocation || event.type == CardEventType::free) {
                event.address = from.address;
            }
            if (event.type != CardEventType::set_opened && event.type != CardEventType::set_closed) {
                event.kind = kind_of(from.kind);
                event.requested = from.requested;
            }
            result.push_back(std::move(event));
        }
        return result;
    }

    // On an unknown core, all circular buffers of the program may be.
    bool is_on_core(const Allocation& a, const std::optional<Core>& core) {
        const auto& mask = masks_.of(a.core_set);
        return !mask || !core ||
               (core->y < mask->size() && core->x < 16 && ((*mask)[core->y] >> core->x & 1) != 0);
    }

    // The reporter of an unknown program gives 0, which is also the first program.
    bool is_of_program(const Allocation& a) const {
        const bool has_first = std::any_of(card_.blocks.begin(), card_.blocks.end(), [](const auto& block) {
            return is_circular(block.allocation) && block.allocation.owner == 0;
        });
        return is_circular(a) && (a.owner == head_.failure.program || !has_first);
    }

    CardProgram program() {
        const segment::Failure& failure = head_.failure;
        CardProgram result;
        result.core = core_of(failure);
        segment::CoreMask reaching{};
        uint64_t highest = 0;
        for (const segment::CardBlock& block : card_.blocks) {
            const Allocation& a = block.allocation;
            if (a.kind == segment::AllocationKind::l1 && a.address == failure.blocker_address &&
                failure.has_blocker != 0) {
                result.blocker = describe_block(a);
            }
            if (!is_of_program(a)) {
                continue;
            }
            if (is_on_core(a, result.core)) {
                result.circular_buffers.push_back(describe_block(a));
                if (end_of_buffer(a) >= highest) {
                    highest = end_of_buffer(a);
                    result.name = name_of_id(a.name);
                }
            }
            if (const auto& mask = masks_.of(a.core_set); mask && end_of_buffer(a) > failure.cb_limit()) {
                for (size_t y = 0; y < reaching.size(); ++y) {
                    reaching[y] = static_cast<uint16_t>(reaching[y] | (*mask)[y]);
                }
            }
        }
        for (uint32_t y = 0; y < reaching.size(); ++y) {
            for (uint32_t x = 0; x < 16; ++x) {
                if ((reaching[y] >> x & 1) != 0) {
                    result.cores.push_back({x, y});
                }
            }
        }
        return result;
    }

    // By address, with the free blocks: all of them in a complete card, else the largest.
    std::vector<MapBlock> all_blocks() {
        std::vector<MapBlock> blocks;
        for (const segment::CardBlock& block : card_.blocks) {
            const Allocation& a = block.allocation;
            if (!is_clash_ || !is_circular(a) || is_on_core(a, core_of(head_.failure))) {
                blocks.push_back(describe_block(a));
            }
        }
        const auto by_address = [](const MapBlock& a, const MapBlock& b) { return a.address < b.address; };
        std::stable_sort(blocks.begin(), blocks.end(), by_address);
        if (!bank_of_card().is_known()) {
            return blocks;
        }
        std::vector<MapBlock> free;
        if (head_.is_complete()) {
            free = free_between(blocks);
        } else {
            for (const segment::CardGap& gap : card_.gaps) {
                free.push_back(free_space(gap.address, gap.bytes));
            }
        }
        blocks.insert(blocks.end(), free.begin(), free.end());
        std::stable_sort(blocks.begin(), blocks.end(), by_address);
        return blocks;
    }

    std::vector<MapBlock> free_between(const std::vector<MapBlock>& by_address) const {
        std::vector<MapBlock> free;
        uint64_t from = head_.bank_base;
        const uint64_t end = saturating_add(head_.bank_base, head_.bank_size);
        for (const MapBlock& block : by_address) {
            if (block.address > from && from < end) {
                free.push_back(free_space(from, std::min(block.address, end) - from));
            }
            from = std::max(from, end_of(block));
        }
        if (from < end) {
            free.push_back(free_space(from, end - from));
        }
        return free;
    }

    // The buffer in the way, else the largest free block.
    static std::optional<size_t> centre_of(const std::vector<MapBlock>& blocks,
                                           const std::optional<CardProgram>& program) {
        std::optional<size_t> largest;
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (program && program->blocker && blocks[i] == *program->blocker) {
                return i;
            }
            if (blocks[i].is_free && (!largest || blocks[i].bytes > blocks[*largest].bytes)) {
                largest = i;
            }
        }
        return largest;
    }

    const segment::CardContents& card_;
    const segment::CardHead& head_;
    const SelectedLedger& ledger_;
    const OtherPools& others_;
    CoreMasks masks_;
    std::map<uint32_t, std::string> names_;
    uint64_t failed_ns_;
    bool is_clash_;
};

}  // namespace

std::optional<Core> core_of(const segment::Failure& failure) {
    const bool is_known = failure.core_x != segment::kUnknownCore && failure.core_y != segment::kUnknownCore;
    return is_known ? std::optional(Core{failure.core_x, failure.core_y}) : std::nullopt;
}

FailureCard describe_card(const segment::CardContents& card, const SelectedLedger& ledger,
                          const OtherPools& others, uint64_t most_blocks) {
    return CardDescriber(card, ledger, others).describe(most_blocks);
}

}  // namespace ttmem::census
