// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page of web/, embedded by the build: one document with its script and style inside. It contains no data; it asks the daemon's API
// for them, or finds them in the document (docs/WEB.md).

#include <string>
#include <string_view>

namespace ttmem::page {

// As ttmemd sends it. Both are empty if the build left the page out.
struct SentDocument {
    std::string_view gzip;
    std::string_view policy;  // Content-Security-Policy: only this script and this style, by their hashes
};
// The build writes the definition: web/build.mjs.
SentDocument sent_document();

// The document around the place of its data. Both are empty if the build left the page out.
struct DocumentParts {
    std::string_view before;
    std::string_view after;
};
// The build writes the definition: web/build.mjs.
DocumentParts document_parts();

// What a page with data inside should have (web/src/model/saved_addresses.json). Empty if the build left the page out.
// The build writes the definition: web/build.mjs.
std::string_view saved_addresses();

// One HTML file that needs neither a daemon nor a network. `answers` is a JSON object: an address of the API to its answer. Empty if
// the build left the page out.
std::string document_with(std::string_view answers, const DocumentParts& parts = document_parts());

}  // namespace ttmem::page
