// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the bytes of a recording go: a file, a folder of files that take turns, or a stream.

#include <string_view>

#include "base/error.hpp"

namespace ttmem::recording {

class RecordingTarget {
public:
    virtual ~RecordingTarget() = default;

    // Begins a part of the recording, the first one too, with the header of its file.
    virtual base::Expected<void> begin_part(std::string_view header) = 0;

    // Appends one block. On an error the part ends with the block before.
    virtual base::Expected<void> append(std::string_view block) = 0;

    // The part is as large or as old as it may become: the next one should begin.
    virtual bool is_full() const = 0;
};

}  // namespace ttmem::recording
