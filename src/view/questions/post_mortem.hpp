// SPDX-License-Identifier: Apache-2.0
#pragma once

// All about one process that died: what it held by kind and name, its largest allocations, failures, events in flight.

#include "census/post_mortem.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct PostMortemQuery {
    uint32_t pid = 0;
    uint64_t limit = 0;  // rows of each list; 0: all

    bool operator==(const PostMortemQuery&) const = default;
};

struct PostMortemView {
    Origin origin;
    census::PostMortem post_mortem;

    bool operator==(const PostMortemView&) const = default;
};

struct SinglePostMortem {
    using Query = PostMortemQuery;
    using View = PostMortemView;
    static constexpr const char* kName = "post-mortem";
    static constexpr const char* kCommand = "post-mortem PID";
    static constexpr const char* kPath = "/v1/post-mortems";
    static constexpr const char* kSelector = "pid";
    static constexpr const char* kSummary = "details of one process that died";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<PostMortemQuery>;
extern template struct JsonForm<PostMortemView>;

}  // namespace ttmem::view
