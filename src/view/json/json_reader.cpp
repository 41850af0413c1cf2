// SPDX-License-Identifier: Apache-2.0
#include "view/json/json_reader.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <exception>

namespace ttmem::view {

using base::Error;

void JsonReader::hex(std::string_view name, std::optional<uint64_t>& value, const char* /*meaning*/) {
    const boost::json::value* const found = find(name);
    if (found == nullptr) {
        return;
    }
    value.reset();
    if (found->is_null()) {
        return;
    }
    std::string_view digits = text_in(*found);
    digits.remove_prefix(digits.starts_with("0x") ? 2 : 0);
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    if (problem != std::errc() || end != digits.data() + digits.size()) {
        fail("a hexadecimal number");
    }
    value = number;
}

base::Expected<void> read_json_object(std::string_view text,
                                      const std::function<void(const boost::json::object&)>& read) {
    // All values of a document are freed together.
    boost::json::monotonic_resource memory(text.size() + 1024);
    boost::system::error_code problem;
    const boost::json::value document =
        boost::json::parse(boost::json::string_view(text.data(), text.size()), problem, &memory);
    if (problem || !document.is_object()) {
        return base::error(Error::Code::refused,
                           "not a JSON document: " + (problem ? problem.message() : "not an object"));
    }
    try {
        read(document.get_object());
    } catch (const std::exception& wrong) {
        return base::error(Error::Code::refused, std::string("unexpected JSON: ") + wrong.what());
    }
    return {};
}

}  // namespace ttmem::view
