// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gets views in the background, so that no key ever waits: one thread follows the status, another asks what the visible
// screen wants to know. Both look no more often than the interval, and less often where a look is dear.

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "access/access.hpp"
#include "base/descriptor.hpp"
#include "tui/model.hpp"

namespace ttmem::tui {

struct StatusNews {
    view::View view;
    std::vector<std::string> notices;
    Link link = Link::none;
};
struct LostNews {
    std::string why;
    uint64_t time_ns = 0;  // since the epoch
};
using News = std::variant<StatusNews, LostNews, Answer>;

class Feed {
public:
    Feed(access::Way way, std::chrono::milliseconds interval);
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;
    ~Feed();

    // Readable when there is news.
    int descriptor() const;
    std::vector<News> take();

    // Answered at once, and again and again until another one is asked.
    void ask(Question question);
    void set_interval(std::chrono::milliseconds interval);

    // Ends both threads. False where one still waits for an answer after so long: it is left alone then, and the program should
    // end without further ado.
    bool stop(std::chrono::milliseconds patience);

private:
    struct Shared;

    std::shared_ptr<Shared> shared_;  // with the threads, which may outlive this
};

}  // namespace ttmem::tui
