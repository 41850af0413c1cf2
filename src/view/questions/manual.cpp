// SPDX-License-Identifier: Apache-2.0
#include "view/questions/manual.hpp"

#include "view/json/json.hpp"
#include "view/model/change.hpp"
#include "view/model/diff.hpp"
#include "view/model/doctor.hpp"
#include "view/model/run.hpp"
#include "view/questions/questions.hpp"
#include "view/questions/routes.hpp"

namespace ttmem::view {

namespace {

using Row = FieldTables::Row;

std::string table(const std::string& first_column, const std::vector<Row>& rows) {
    std::string text = "| " + first_column + " | type | meaning |\n|---|---|---|\n";
    for (const Row& row : rows) {
        text += "| `" + row.name + "` | " + row.type + " | " + row.meaning + " |\n";
    }
    return text;
}

// "`device`, `pid`".
std::string names_of(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) {
        text += (text.empty() ? "`" : ", `") + row.name + "`";
    }
    return text;
}

// Types that several documents share stand once, after all of them.
class Types {
public:
    void add(const FieldTables& tables) {
        for (const FieldTables::TypeTable& type : tables.types) {
            all_.add_type(type.title, type.rows);
        }
    }
    std::string text() const {
        std::string text;
        for (const FieldTables::TypeTable& type : all_.types) {
            text += "### Type: " + type.title + "\n\n" + table("field", type.rows) + "\n";
        }
        return text;
    }

private:
    FieldTables all_;
};

template <class Question>
std::string address() {
    const std::string selector = selector_of<Question>();
    return std::string("`") + Question::kPath + (selector.empty() ? "" : "?" + selector + "=...") + "`";
}

template <class Query>
std::string address_row(const std::string& address, const std::string& answer) {
    return "| " + address + " | " + names_of(UrlForm<Query>::describe().rows) + " | " + answer + " |\n";
}

template <class View>
std::string document(const std::string& title, Types& types) {
    const FieldTables tables = JsonForm<View>::describe();
    types.add(tables);
    return "### " + title + "\n\n" + table("field", tables.rows) + "\n";
}

}  // namespace

std::string api_manual() {
    std::string text = "| address | parameters | answer |\n|---|---|---|\n";
    text +=
        address_row<HealthQuery>("`/v1/health`", "`{\"status\":\"ok\",\"version\":...,\"uptime_ns\":...}`");
    Questions::for_each([&]<class Question>() {
        text += address_row<typename Question::Query>(address<Question>(), Question::kSummary);
    });
    text += address_row<HealthQuery>(
        "`/v1/page`", "a token of the caller for the page ([WEB.md](WEB.md)); on the Unix socket");
    text += address_row<RecordingQuery>("`/v1/recording`",
                                        "a recording until the caller closes its sending side "
                                        "([RECORDING.md](RECORDING.md)); not over TCP without the token");
    text += address_row<ViewStreamQuery>("`/v1/stream`", "the status as server-sent events");
    text += address_row<MetricsQuery>("`/metrics`", "figures for Prometheus: [METRICS.md](METRICS.md)");
    text += "\n";
    Types types;
    Questions::for_each([&]<class Question>() {
        const FieldTables parameters = UrlForm<typename Question::Query>::describe();
        const FieldTables fields = JsonForm<typename Question::View>::describe();
        types.add(fields);
        text += "### " + address<Question>() + "\n\n";
        if (!parameters.rows.empty()) {
            text += table("parameter", parameters.rows) + "\n";
        }
        text += table("field", fields.rows) + "\n";
    });
    text += document<ViewChange>("`event: change` of `/v1/stream`", types);
    return text + types.text();
}

std::string cli_manual() {
    std::string text;
    Types types;
    Questions::for_each([&]<class Question>() {
        if constexpr (requires { Question::kCommand; }) {
            text += document<typename Question::View>(Question::kCommand, types);
        }
    });
    text += document<DiffView>("diff", types);
    text += document<RunView>("run", types);
    text += document<DoctorView>("doctor", types);
    return text + types.text();
}

}  // namespace ttmem::view
