// SPDX-License-Identifier: Apache-2.0
#include "census/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using allocator::DataType;
using allocator::FitVerdict;
using allocator::TensorLayout;
using allocator::TensorPages;
using segment::AllocationKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// DRAM: 4 banks of 16,384 from 4,096. L1: 8 cores of 2,048 from 1,024, with L1_SMALL of 256 above it.
ttmem_device_info chip(uint64_t asic_id, uint32_t logical_id) {
    ttmem_device_info info{};
    info.asic_id = asic_id;
    info.logical_id = logical_id;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    info.memory[TTMEM_DRAM] = {4096, 16384, 0, 4, 32, TTMEM_BOTTOM_UP, 0};
    info.memory[TTMEM_TRACE] = {20480, 0, 0, 4, 32, TTMEM_BOTTOM_UP, 0};
    info.memory[TTMEM_L1] = {1024, 2048, 0, 8, 32, TTMEM_TOP_DOWN, 0};
    info.memory[TTMEM_L1_SMALL] = {3072, 256, 0, 8, 32, TTMEM_TOP_DOWN, 0};
    return info;
}

class FitOfOneProcess : public testing::Test {
protected:
    FitOfOneProcess() {
        segment.add_device(chip(0x10, 0));
        segment.add_set(1);
    }

    void add(AllocationKind kind, uint64_t address, uint64_t per_bank, uint64_t banks,
             const char* name = nullptr) {
        segment::Allocation a = allocation(0, kind, address, per_bank * banks, per_bank * banks);
        a.name = name == nullptr ? 0 : segment.add_name(name);
        a.owner = address;
        segment.add(a);
    }

    base::Expected<std::vector<AllocatorFit>> ask(const FitQuery& query,
                                                  const std::vector<Inexactness>& doubts = {}) {
        return fit_request(census_of(segment.process(7)), query, doubts);
    }

    AllocatorFit one(const FitQuery& query, const std::vector<Inexactness>& doubts = {}) {
        auto answers = ask(query, doubts);
        EXPECT_TRUE(answers) << answers.error().text;
        EXPECT_THAT(*answers, SizeIs(1));
        return answers->at(0);
    }

    TestSegment segment;
};

TEST_F(FitOfOneProcess, GetsTheAddressThatTheAllocatorGives) {
    add(AllocationKind::dram, 4096, 1024, 4);
    const AllocatorFit dram = one({.device = "0", .size = 4096, .page_size = 1000});
    EXPECT_EQ(dram.answer, FitAnswer::fits);
    EXPECT_EQ(dram.verdict, FitVerdict::fits);
    EXPECT_EQ(dram.address, 5120u);
    EXPECT_EQ(dram.needed, 2048u) << "5 pages of 1,024 over 4 banks";
    EXPECT_EQ(dram.reserved(), 8192u);
    EXPECT_EQ(dram.bank, (Bank{4096, 16384, 4}));
    EXPECT_EQ(dram.used, 1024u);
    EXPECT_EQ(dram.free, 15360u);
    EXPECT_FALSE(dram.is_top_down);
    EXPECT_EQ(dram.pid, 7u);
    EXPECT_THAT(dram.devices, ElementsAre(0));
    EXPECT_EQ(
        one({.device = "0", .size = 4096, .page_size = 1000, .direction = FitDirection::top_down}).address,
        20480u - 2048);
    const AllocatorFit l1 = one({.device = "0", .kind = Kind::l1, .size = 100, .page_size = 100});
    EXPECT_TRUE(l1.is_top_down);
    EXPECT_EQ(l1.needed, 128u) << "112 rounded up to the alignment of DRAM";
    EXPECT_EQ(l1.address, 3072u - 128);
}

TEST_F(FitOfOneProcess, SaysWhatIsMissingAndWhatToFree) {
    add(AllocationKind::l1, 1536, 512, 8, "decoder.0");
    add(AllocationKind::l1, 2560, 256, 8, "decoder.1");
    const AllocatorFit fit = one({.device = "0", .kind = Kind::l1, .size = 8 * 1024, .page_size = 1024});
    EXPECT_EQ(fit.answer, FitAnswer::does_not_fit);
    EXPECT_EQ(fit.verdict, FitVerdict::fragmented);
    EXPECT_EQ(fit.short_by, 512u);
    EXPECT_EQ(fit.largest_free, 512u);
    EXPECT_TRUE(fit.ways.fits_after_compaction);
    ASSERT_THAT(fit.ways.to_free, SizeIs(2));
    EXPECT_EQ(fit.ways.to_free[0].bytes, 256u);
    EXPECT_EQ(fit.ways.to_free[0].address, 3072u - 1024);
    ASSERT_THAT(fit.ways.to_free[0].blocks, SizeIs(1));
    EXPECT_EQ(fit.ways.to_free[0].blocks[0].name, "decoder.1");
    EXPECT_EQ(fit.ways.to_free[0].blocks[0].address, 2560u);
    EXPECT_EQ(fit.ways.to_free[1].blocks[0].name, "decoder.0");
    EXPECT_EQ(fit.ways.dram_address, 4096u);
    EXPECT_EQ(fit.ways.region_size, std::nullopt);
    EXPECT_EQ(one({.device = "0", .kind = Kind::l1, .size = 8 * 1300, .page_size = 1300}).verdict,
              FitVerdict::not_enough);
    const AllocatorFit big = one({.device = "0", .kind = Kind::l1, .size = 8 * 2100, .page_size = 2100});
    EXPECT_EQ(big.verdict, FitVerdict::too_big);
    EXPECT_THAT(big.ways.to_free, IsEmpty());
}

TEST_F(FitOfOneProcess, NamesOtherRequestsThatWouldFit) {
    add(AllocationKind::l1, 1536, 1536, 8);
    const AllocatorFit sharded =
        one({.device = "0", .kind = Kind::l1, .size = 2048, .page_size = 256, .cores = 2});
    EXPECT_EQ(sharded.needed, 1024u);
    EXPECT_EQ(sharded.ways.with_cores, 4u) << "two pages of 256 on each";
    EXPECT_EQ(sharded.ways.with_page, std::nullopt);
    const AllocatorFit pages = one({.device = "0", .kind = Kind::l1, .size = 4096, .page_size = 2048});
    EXPECT_EQ(pages.ways.with_page, 512u);
    EXPECT_EQ(pages.ways.with_cores, std::nullopt);
    EXPECT_EQ(one({.device = "0", .kind = Kind::l1, .size = 900, .page_size = 100, .cores = 9}).verdict,
              FitVerdict::too_many_cores);
    const AllocatorFit small =
        one({.device = "0", .kind = Kind::l1_small, .size = 300, .page_size = 300, .cores = 1});
    EXPECT_EQ(small.verdict, FitVerdict::too_big);
    EXPECT_EQ(small.ways.region_size, 320u);
    EXPECT_EQ(one({.device = "0", .kind = Kind::l1_small, .size = 2304, .page_size = 2304, .cores = 1})
                  .ways.region_size,
              std::nullopt)
        << "nothing of L1 would be left";
    EXPECT_EQ(one({.device = "0", .kind = Kind::trace, .size = 60'000, .page_size = 60'000}).ways.region_size,
              std::nullopt)
        << "nothing of DRAM would be left";
    const AllocatorFit trace = one({.device = "0", .kind = Kind::trace, .size = 100, .page_size = 64});
    EXPECT_EQ(trace.verdict, FitVerdict::too_big) << "there is no trace region";
    EXPECT_EQ(trace.ways.region_size, 4u * 8192) << "of all banks together";
}

// 256 from 3,072, of which 64 are free at each end of the block.
TEST_F(FitOfOneProcess, ProposesNoRegionThatFragmentationDefeats) {
    add(AllocationKind::l1_small, 3136, 128, 8);
    FitQuery query{.device = "0", .kind = Kind::l1_small, .size = 96, .page_size = 96, .cores = 1};
    const AllocatorFit small = one(query);
    EXPECT_EQ(small.verdict, FitVerdict::fragmented);
    EXPECT_EQ(small.ways.region_size, 288u) << "used and needed are 224, less than the region has";
    query.direction = FitDirection::bottom_up;
    EXPECT_EQ(one(query).ways.region_size, std::nullopt) << "others may have been made bottom-up too";
    query.kind = Kind::trace;
    query.direction = FitDirection::top_down;
    query.cores = std::nullopt;
    EXPECT_EQ(one(query).ways.region_size, 4u * 8192) << "nothing is live there";
}

TEST_F(FitOfOneProcess, WarnsOfCircularBuffersAboveTheAddress) {
    add(AllocationKind::cb, 1024, 1900, 1);
    EXPECT_EQ(one({.device = "0", .kind = Kind::l1, .size = 8 * 128, .page_size = 128}).clash_with_cb,
              std::nullopt);
    EXPECT_EQ(one({.device = "0", .kind = Kind::l1, .size = 8 * 256, .page_size = 256}).clash_with_cb, 2924u);
}

TEST_F(FitOfOneProcess, IsUndecidedWhereTheLedgerDoesNotSayEnough) {
    const FitQuery query{.device = "0", .size = 64, .page_size = 64};
    EXPECT_EQ(one(query).answer, FitAnswer::fits);
    EXPECT_EQ(one(query, {{7, Reason::names_full, 1}, {8, Reason::ledger_full, 1}}).answer, FitAnswer::fits);
    const AllocatorFit full = one(query, {{7, Reason::ledger_full, 3}});
    EXPECT_EQ(full.answer, FitAnswer::undecided);
    EXPECT_EQ(full.verdict, std::nullopt);
    EXPECT_THAT(full.undecided, HasSubstr("ledger full"));

    segment.add(allocation(0, AllocationKind::l1, 2048, 64, 64, segment::AllocationFlag::reserved_unknown));
    EXPECT_EQ(one(query).answer, FitAnswer::fits) << "another pool";
    EXPECT_THAT(one({.device = "0", .kind = Kind::l1, .size = 64}).undecided,
                HasSubstr("reserved size unknown"));
    segment.add(allocation(0, AllocationKind::dram, 4096, 100, 4 * 32));
    segment.add(allocation(0, AllocationKind::dram, 4096, 100, 4 * 32));
    EXPECT_THAT(one(query).undecided, HasSubstr("addresses per core")) << "two at one address";
}

TEST_F(FitOfOneProcess, IsUndecidedWithoutTheBanksOrTheRulesOfADevice) {
    ttmem_device_info other = chip(0x20, 1);
    other.arch = TTMEM_ARCH_GRAYSKULL;
    segment.add_device(other);
    segment.add_set(2);
    ttmem_device_info bare{};
    bare.asic_id = 0x30;
    bare.logical_id = 2;
    bare.arch = TTMEM_ARCH_BLACKHOLE;
    segment.add_device(bare);
    segment.add_set(4);
    ttmem_device_info smaller = chip(0x40, 3);
    smaller.memory[TTMEM_DRAM].size_per_bank = 2048;
    segment.add_device(smaller);
    segment.add_set(1 | 8);
    EXPECT_THAT(one({.device = "1", .size = 64}).undecided, HasSubstr("architecture"));
    EXPECT_THAT(one({.device = "2", .size = 64}).undecided, HasSubstr("does not report the banks"));
    EXPECT_THAT(one({.device = "3", .size = 64}).undecided, HasSubstr("different banks"));
    const auto both = ask({.device = "0", .size = 64});
    ASSERT_TRUE(both);
    ASSERT_THAT(*both, SizeIs(2)) << "its own allocator and that of the mesh";
    EXPECT_EQ(both->at(0).answer, FitAnswer::fits);
    EXPECT_EQ(both->at(1).answer, FitAnswer::undecided);
}

TEST_F(FitOfOneProcess, ViewsAndPlannedAllocationsTakeNothing) {
    segment.add(allocation(0, AllocationKind::dram, 4096, 4 * 64, 4 * 64, segment::AllocationFlag::view));
    EXPECT_EQ(one({.device = "0", .size = 64, .page_size = 64}).address, 4096u);
}

TEST_F(FitOfOneProcess, OneBufferWithAddressesPerCoreMakesItUndecided) {
    segment.add(
        allocation(0, AllocationKind::l1, 0x10'0000, 8 * 64, 8 * 64, segment::AllocationFlag::per_core));
    EXPECT_THAT(one({.device = "0", .kind = Kind::l1, .size = 64}).undecided,
                HasSubstr("addresses per core"));
    EXPECT_EQ(one({.device = "0", .size = 64, .page_size = 64}).answer, FitAnswer::fits) << "not in DRAM";
}

TEST_F(FitOfOneProcess, AnUnknownDeviceProcessOrSetIsAnError) {
    EXPECT_FALSE(ask({.device = "9", .size = 64}));
    EXPECT_FALSE(ask({.device = "0", .size = 64, .pid = 9}));
    EXPECT_THAT(ask({.device = "0", .size = 64, .set = "mesh 9"}).error().text, HasSubstr("'mesh 9'"));
}

TEST(FitRequest, IsASizeOrATensor) {
    EXPECT_EQ(*pages_of({.size = 4096}), (TensorPages{2, 1, 2048}));
    EXPECT_EQ(*pages_of({.shape = "64,64"}), (TensorPages{2, 2, 2048}));
    EXPECT_EQ(*pages_of({.shape = "64,64", .dtype = DataType::float32, .layout = TensorLayout::row_major}),
              (TensorPages{64, 1, 256}));
    const auto expect_error = [](const FitQuery& query, const char* part) {
        const auto pages = pages_of(query);
        ASSERT_FALSE(pages) << part;
        EXPECT_THAT(pages.error().text, HasSubstr(part));
        EXPECT_EQ(pages.error().code, base::Error::Code::refused);
    };
    expect_error({}, "is missing");
    expect_error({.size = 64, .shape = "64,64"}, "one of them");
    expect_error({.size = 0}, "at least 1 byte");
    expect_error({.size = 64, .page_size = 0}, "page 0");
    expect_error({.kind = Kind::cb, .size = 64}, "must be dram, l1, l1_small or trace");
    expect_error({.kind = Kind::l1_small, .size = 64}, "--cores");
    expect_error({.size = 64, .cores = 0}, "at least 1");
    expect_error({.size = 64, .dtype = DataType::uint8}, "belong to a shape");
    expect_error({.page_size = 64, .shape = "64,64"}, "a page belongs to a size");
    expect_error({.shape = "64x64"}, "must be one to eight numbers");
    expect_error({.shape = "64", .dtype = DataType::bfloat4_b, .layout = TensorLayout::row_major},
                 "must be tile");
}

}  // namespace
}  // namespace ttmem::census
