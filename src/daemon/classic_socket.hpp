// SPDX-License-Identifier: Apache-2.0
#pragma once

// The socket of the classic wire, at a path that any server of old may have taken before.

#include <sys/types.h>

#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::daemon {

class ClassicSocket {
public:
    ClassicSocket() = default;

    // Listens there, open to all local users. A file that a dead server left is replaced; where a living one answers, it is
    // left alone (Error::Code::refused), and so is what is no socket.
    static base::Expected<ClassicSocket> take(const std::string& path);

    ~ClassicSocket();
    ClassicSocket(ClassicSocket&& other) noexcept;
    ClassicSocket& operator=(ClassicSocket&& other) noexcept;
    ClassicSocket(const ClassicSocket&) = delete;
    ClassicSocket& operator=(const ClassicSocket&) = delete;

    const base::Descriptor& descriptor() const { return descriptor_; }

private:
    base::Descriptor descriptor_;
    std::string path_;  // removed at the end, if it is still this socket's
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace ttmem::daemon
