// SPDX-License-Identifier: Apache-2.0
#pragma once

// The view as JSON: sizes in bytes, absent values null, ASIC ids as "0x..." strings.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "view/view.hpp"

namespace ttmem::view {

std::string to_json(const View& view);
std::string to_json(const AllocationView& view);
std::string to_json(const GroupView& view);
std::string to_json(const ProgramView& view);
std::string to_json(const MapView& view);
std::string to_json(const CoreView& view);
std::string to_json(const FailureView& view);
std::string to_json(const WhyView& view);
std::string to_json(const PostMortemListView& view);
std::string to_json(const PostMortemView& view);

// The text of to_json(), in pieces of about 64 KiB: a long list need not be there as text at once.
class AllocationPieces {
public:
    explicit AllocationPieces(std::shared_ptr<const AllocationView> view) : view_(std::move(view)) {}

    // Nothing after the last one.
    std::optional<std::string> next();

private:
    std::shared_ptr<const AllocationView> view_;
    size_t at_ = 0;
    bool is_begun_ = false;
    bool is_ended_ = false;
};

// Fields that are not there keep their standard value, and fields that this version does not know are passed over.
base::Expected<View> view_from_json(std::string_view text);
base::Expected<AllocationView> allocations_from_json(std::string_view text);
base::Expected<GroupView> groups_from_json(std::string_view text);
base::Expected<ProgramView> programs_from_json(std::string_view text);
base::Expected<MapView> map_from_json(std::string_view text);
base::Expected<CoreView> cores_from_json(std::string_view text);
base::Expected<FailureView> failures_from_json(std::string_view text);
base::Expected<PostMortemListView> post_mortems_from_json(std::string_view text);
base::Expected<PostMortemView> post_mortem_from_json(std::string_view text);

}  // namespace ttmem::view
