// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a question declares. Each has a file of its own here, with its query, its view, the fields of both, and the function that
// answers; the list of all is view/questions/questions.hpp. Routes, parameter checks, URLs, the direct path, --json, the
// dashboard's requests and the tables of the manual follow from the declaration.
//
//     struct Cores {
//         using Query = CoreQuery;
//         using View = CoreView;
//         static constexpr const char* kName = "cores";
//         static constexpr const char* kPath = "/v1/cores";
//         static constexpr const char* kSummary = "L1 core by core";
//         static constexpr Permission kPermission = Permission::details;
//         static base::Expected<View> answer(const Host& host, const Query& query);
//     };
//     extern template struct UrlForm<CoreQuery>;
//     extern template struct JsonForm<CoreView>;
//
// The last two lines say that URLs and JSON are compiled once, beside the lists of fields.
//
// Optional members:
//     kCommand        the commands whose --json prints the view, for the manual
//     kSelector       the parameter that chooses this question where several share a path
//     pieces()        the text of the answer, read from the host while it is written
//     next_page(), append()   an answer may have several pages, which access::ask() puts together

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "view/json/field_table.hpp"
#include "view/json/json.hpp"

namespace ttmem::view {

// What an asker must be allowed to see: sums over processes, or what is inside one.
enum class Permission : uint8_t { totals, details };

// Names and values of a URL, unescaped.
using Parameters = std::map<std::string, std::string>;

// Rows in an answer of the daemon. A query with limit 0 wants all: the direct path gives them, the daemon kMostRows at a time,
// because it holds an answer until its reader has taken it. A larger limit is valid and means kMostRows.
constexpr uint64_t kStandardRows = 100;
constexpr uint64_t kMostRows = 10'000;
constexpr uint64_t kLargestLimit = 100'000;

// Streams: the longest time between two messages that a reader can ask for.
constexpr uint64_t kLongestIntervalMs = 3'600'000;

// Defined in view/questions/url.hpp; each query instantiates it beside its list of fields.
template <class Query>
struct UrlForm {
    // "device=0&limit=5".
    static std::string write(const Query& query);
    // An error for an unknown parameter or a wrong value says what is valid. `also` names valid parameters that choose
    // another question of the same path.
    static base::Expected<Query> read(const Parameters& parameters,
                                      const std::vector<std::string>& also = {});
    static FieldTables describe();
};

// "/v1/allocations?device=0&limit=5".
template <class Question>
std::string target_of(const typename Question::Query& query) {
    const std::string parameters = UrlForm<typename Question::Query>::write(query);
    return Question::kPath + (parameters.empty() ? "" : "?" + parameters);
}

template <class Question>
std::string selector_of() {
    if constexpr (requires { Question::kSelector; }) {
        return Question::kSelector;
    } else {
        return "";
    }
}

template <class Query, class First, class... Rest>
struct FindQuestion : std::conditional_t<std::is_same_v<Query, typename First::Query>,
                                         std::type_identity<First>, FindQuestion<Query, Rest...>> {};
template <class Query, class Last>
struct FindQuestion<Query, Last> : std::type_identity<Last> {};

template <class... Question>
struct QuestionList {
    // The question that has this query.
    template <class Query>
    using ByQuery = typename FindQuestion<Query, Question...>::type;

    // A query or a view of any question, or none.
    template <class... More>
    using AnyQuery = std::variant<std::monostate, typename Question::Query..., More...>;
    template <class... More>
    using AnyView = std::variant<std::monostate, typename Question::View..., More...>;

    // Calls visit.template operator()<Question>() for each.
    template <class Visit>
    static void for_each(Visit visit) {
        (visit.template operator()<Question>(), ...);
    }
};

}  // namespace ttmem::view
