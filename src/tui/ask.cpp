// SPDX-License-Identifier: Apache-2.0
#include "tui/ask.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::tui {

namespace {

constexpr uint64_t kMostEventsAtOnce = 500;
constexpr uint64_t kAfterAll = uint64_t{1} << 62;  // a number that no event has yet

template <class View>
void take(base::Expected<access::Answer<View>> got, Answer& answer) {
    if (got) {
        answer.view = std::move(got->view);
    } else {
        answer.problem = std::move(got.error().text);
    }
}

// The blocks of one pool are asked for; of the others, that they are there. A host may have hundreds of them.
base::Expected<access::Answer<view::MapView>> map_of(const Question& question, access::Way way) {
    census::MapQuery query = question.map;
    query.limit = 1;
    auto pools = access::map(query, way);
    if (!pools || pools->view.maps.empty()) {
        return pools;
    }
    std::vector<census::AddressMap>& maps = pools->view.maps;
    census::AddressMap& chosen = maps[chosen_pool(maps, question.pool)];
    query.pid = chosen.pid;
    query.kind = chosen.kind;
    query.limit = question.map.limit;
    auto whole = access::map(query, way);
    if (!whole) {
        return whole;
    }
    for (census::AddressMap& map : whole->view.maps) {
        if (map.set == chosen.set && map.devices == chosen.devices) {
            chosen = std::move(map);
            break;
        }
    }
    return pools;
}

Past past_of(const Question& question, access::Way way, std::string& problem) {
    Past past;
    auto history = access::history(question.id, census::Kind::dram, question.since);
    auto why = access::why({}, way);
    auto post_mortems = access::post_mortems();
    if (!history) {
        problem = history.error().text;
    }
    past.history = history ? std::move(history->view) : view::HistoryView{};
    past.why = why ? std::move(why->view) : view::WhyView{};
    past.post_mortems = post_mortems ? std::move(post_mortems->view) : view::PostMortemListView{};
    return past;
}

}  // namespace

base::Expected<view::EventsView> EventReader::read() {
    // Where the newest is, an answer without events tells.
    auto end = access::events(kAfterAll, 1);
    if (!end) {
        next_.reset();
        return tl::unexpected(end.error());
    }
    const uint64_t newest = end->view.next;
    const uint64_t first = newest - std::min(newest, kMostEventsAtOnce);
    const bool is_first = !next_ || *next_ > newest;  // or another daemon counts anew
    const uint64_t from = is_first ? first : std::max(*next_, first);
    const uint64_t passed_over = is_first ? 0 : from - *next_;
    auto page = access::events(from, kMostEventsAtOnce);
    if (!page) {
        next_.reset();
        return tl::unexpected(page.error());
    }
    page->view.missed = (is_first ? 0 : page->view.missed) + passed_over;
    next_ = page->view.next;
    return std::move(page->view);
}

Answer ask(const Question& question, access::Way way, EventReader& events) {
    using About = Question::About;
    Answer answer{question.key(), {}, {}};
    switch (question.about) {
        case About::nothing:
            break;
        case About::allocations:
            take(access::allocations(question.allocations, way), answer);
            break;
        case About::groups:
            take(access::groups(question.allocations, way), answer);
            break;
        case About::map:
            take(map_of(question, way), answer);
            break;
        case About::cores:
            take(access::cores(std::to_string(question.id), way), answer);
            break;
        case About::events:
            if (auto page = events.read()) {
                answer.view = std::move(*page);
            } else {
                answer.problem = std::move(page.error().text);
            }
            break;
        case About::failures:
            take(
                access::why({.device = question.device, .pid = {}, .type = {}, .limit = question.limit}, way),
                answer);
            break;
        case About::post_mortems:
            take(access::post_mortems(), answer);
            break;
        case About::post_mortem:
            take(access::post_mortem(question.id, question.limit), answer);
            break;
        case About::past:
            answer.view = past_of(question, way, answer.problem);
            break;
    }
    return answer;
}

}  // namespace ttmem::tui
