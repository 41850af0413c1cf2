// SPDX-License-Identifier: Apache-2.0
#pragma once

// Processes that died while the daemon ran.

#include <algorithm>
#include <vector>

#include "census/device_id_set.hpp"
#include "census/post_mortem.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct PostMortemListQuery {
    census::DeviceIdSet device = {};
    uint64_t limit = 0;  // 0: all

    bool operator==(const PostMortemListQuery&) const = default;
};

struct PostMortemListView {
    Origin origin;
    uint64_t dropped = 0;                                 // older ones that are no longer kept
    std::vector<census::PostMortemSummary> post_mortems;  // the last first
    uint64_t total = 0;                                   // that match; the view has the last of them
    uint64_t hidden_post_mortems = 0;                     // of other users' processes, on any device
    uint64_t processes_missed = 0;                        // that ended before they could be read
    std::vector<census::Inexactness> inexact = {};

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, post_mortems.size()); }
    bool operator==(const PostMortemListView&) const = default;
};

struct PostMortemList {
    using Query = PostMortemListQuery;
    using View = PostMortemListView;
    static constexpr const char* kName = "post-mortems";
    static constexpr const char* kCommand = "post-mortem";
    static constexpr const char* kPath = "/v1/post-mortems";
    static constexpr const char* kSummary = "processes that died while a daemon ran, the last first";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<PostMortemListQuery>;
extern template struct JsonForm<PostMortemListView>;

}  // namespace ttmem::view
