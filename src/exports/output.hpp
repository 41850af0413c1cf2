// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file or stream that a format is written to. A file appears under its name when it is complete.

#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::exports {

class Output {
public:
    // "-" is standard output. An existing file is an error without `force`.
    static base::Expected<Output> create(const std::string& path, bool force);
    Output(Output&&) = default;
    Output& operator=(Output&&) = delete;
    ~Output();

    void append(std::string_view bytes);
    // The first problem of all calls of append(), or of completing the file.
    base::Expected<void> finish();

private:
    Output(std::string path, std::string part, base::Descriptor file, bool force)
        : path_(std::move(path)), part_(std::move(part)), file_(std::move(file)), force_(force) {}

    void flush();

    std::string path_;
    std::string
        part_;  // the name of the file until it is complete; empty: standard output, or it is complete
    base::Descriptor file_;
    bool force_;
    std::string waiting_;
    int problem_ = 0;
};

// The error for something that exists already.
tl::unexpected<base::Error> exists_already(const std::string& path);

}  // namespace ttmem::exports
