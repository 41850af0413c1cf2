// SPDX-License-Identifier: Apache-2.0
#pragma once

// The socket of the classic wire. Another server may have left a file at its path.

#include <sys/types.h>

#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::daemon {

class ClassicSocket {
public:
    ClassicSocket() = default;

    // Listens at `path`, open to all local users. Replaces the socket of a dead server. If a live server answers, or the path
    // is not a socket, it is left alone (Error::Code::refused).
    static base::Expected<ClassicSocket> acquire(const std::string& path);

    ~ClassicSocket();
    ClassicSocket(ClassicSocket&& other) noexcept;
    ClassicSocket& operator=(ClassicSocket&& other) noexcept;
    ClassicSocket(const ClassicSocket&) = delete;
    ClassicSocket& operator=(const ClassicSocket&) = delete;

    const base::Descriptor& descriptor() const { return descriptor_; }

private:
    base::Descriptor descriptor_;
    std::string path_;  // removed at the end unless another server has replaced it
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace ttmem::daemon
