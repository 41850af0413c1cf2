// SPDX-License-Identifier: Apache-2.0
#include "access/direct.hpp"

#include "sources/host.hpp"
#include "sources/segments/discover.hpp"

namespace ttmem::access::direct {

namespace {

census::Census look() {
    census::Census census = sources::segments::census_of(sources::segments::discover(sources::Proc()));
    sources::add(sources::Host().look(), census);
    return census;
}

std::vector<std::string> notices_of(const census::Census& census) {
    std::vector<std::string> notices;
    for (const census::Skipped& skipped : census.skipped) {
        if (skipped.pid != 0) {  // else it is among the reasons for inexact figures
            notices.push_back("process " + std::to_string(skipped.pid) + "'s " + skipped.why);
        }
    }
    return notices;
}

}  // namespace

base::Expected<Answer<view::View>> status() {
    census::Census census = look();
    return Answer<view::View>{{view::read_here(), census::count(census)}, notices_of(census)};
}

base::Expected<Answer<view::AllocationView>> allocations(const census::AllocationQuery& query) {
    census::Census census = look();
    auto page = census::list_allocations(census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    return Answer<view::AllocationView>{
        {view::read_here(), census::count(census, census::Depth::pools).inexact, census.processes.size(),
         page->total, std::move(page->allocations), page->left_out, std::move(page->next), query.sort},
        notices_of(census)};
}

base::Expected<Answer<view::GroupView>> groups(const census::AllocationQuery& query) {
    census::Census census = look();
    auto page = census::list_groups(census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    return Answer<view::GroupView>{{view::read_here(), census::count(census, census::Depth::pools).inexact,
                                    census.processes.size(), query.group.value_or(census::GroupBy::name),
                                    page->total, page->allocations, page->ungrouped, std::move(page->groups)},
                                   notices_of(census)};
}

base::Expected<Answer<view::ProgramView>> programs(const census::ProgramQuery& query) {
    census::Census census = look();
    auto page = census::list_programs(census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    return Answer<view::ProgramView>{
        {view::read_here(), census::count(census, census::Depth::pools).inexact, census.processes.size(),
         page->total, page->left_aside, std::move(page->programs)},
        notices_of(census)};
}

base::Expected<Answer<view::MapView>> map(const census::MapQuery& query) {
    census::Census census = look();
    auto maps = census::map_addresses(census, query);
    if (!maps) {
        return tl::unexpected(std::move(maps.error()));
    }
    return Answer<view::MapView>{{view::read_here(), census::count(census, census::Depth::pools).inexact,
                                  census.processes.size(), query.device, std::move(*maps)},
                                 notices_of(census)};
}

base::Expected<Answer<view::CoreView>> cores(const std::string& device) {
    census::Census census = look();
    auto grid = census::map_cores(census, device);
    if (!grid) {
        return tl::unexpected(std::move(grid.error()));
    }
    return Answer<view::CoreView>{{view::read_here(), census::count(census, census::Depth::pools).inexact,
                                   census.processes.size(), device, std::move(*grid)},
                                  notices_of(census)};
}

base::Expected<Answer<view::FailureView>> failures(const census::FailureQuery& query) {
    census::Census census = look();
    auto page = census::list_failures(census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    return Answer<view::FailureView>{{view::read_here(), census.processes.size(), page->total,
                                      std::move(page->counts), std::move(page->failures)},
                                     notices_of(census)};
}

}  // namespace ttmem::access::direct
