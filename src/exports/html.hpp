// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page of web/ with its data inside: one moment of a host, and what led to it.

#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "exports/formats.hpp"
#include "exports/model.hpp"
#include "view/questions/history.hpp"
#include "view/questions/question.hpp"

namespace ttmem::exports {

// "/v1/map" with device=0 and kind=dram.
struct QuestionAddress {
    std::string path;
    view::Parameters parameters;
    std::string text;  // "/v1/map?device=0&kind=dram"
};

// What the API answers to it, as JSON.
using PageAnswer = std::function<base::Expected<std::string>(const QuestionAddress& address)>;

// Asks for all that the page can show without a daemon (web/src/model/saved_addresses.json). What has no answer is left out; the page
// says so where it would be shown.
base::Expected<Notes> write_html(const PageAnswer& answer, const ExportTarget& target);

// Used bytes over the time of the model: at most a thousand samples per series, each the highest of its part of the time.
std::vector<view::SeriesView> series_of(const ExportModel& model, const view::HistoryQuery& query);

}  // namespace ttmem::exports
