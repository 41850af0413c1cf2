// SPDX-License-Identifier: Apache-2.0
#pragma once

// What libraries return instead of throwing: a code to decide by and a text for people. The text names the thing, the
// cause and, where there is one, the way out; programs print it behind their name.

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace ttmem::base {

struct Error {
    enum class Code {
        failed,       // the system said no
        refused,      // what is there is not what it should be
        unfinished,   // not there yet: no reason to speak of it
        gone,         // was there, and is not any more
        denied,       // it is there, and not for this asker
        not_found,    // there is none of this name or number
        unsupported,  // who was asked is older than the request
    };
    Code code = Code::failed;
    std::string text;
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> error(Error::Code code, std::string text) {
    return tl::unexpected<Error>(Error{code, std::move(text)});
}

}  // namespace ttmem::base
