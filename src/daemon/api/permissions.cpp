// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/permissions.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor.hpp"

namespace ttmem::daemon {

using base::Error;

namespace {

constexpr size_t kShortestToken = 16;
constexpr char kGroup[] = "ttmem";

}  // namespace

bool is_same_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        difference |= static_cast<unsigned>(a[i] ^ b[i]) & 0xff;
    }
    return difference == 0;
}

std::optional<uint32_t> ttmem_group() {
    std::array<char, 4096> buffer{};
    group entry{};
    group* found = nullptr;
    return getgrnam_r(kGroup, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr
               ? std::optional(entry.gr_gid)
               : std::nullopt;
}

base::Expected<std::string> read_token(const std::string& path) {
    const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
        return base::error(Error::Code::failed, "can't read the token file " + path + ": " +
                                                    (file ? "not a regular file" : std::strerror(errno)));
    }
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return base::error(Error::Code::refused,
                           "the token file " + path + " can be read by others (chmod 600 " + path + ")");
    }
    std::array<char, 1024> text{};
    const ssize_t length = read(file.get(), text.data(), text.size());
    std::string_view token(text.data(), length > 0 ? static_cast<size_t>(length) : 0);
    token = token.substr(0, token.find_first_of("\r\n"));
    if (token.size() < kShortestToken || token.find_first_of(" \t") != std::string_view::npos) {
        return base::error(Error::Code::refused, "the token in " + path +
                                                     " must be a single word of at least " +
                                                     std::to_string(kShortestToken) + " characters");
    }
    return std::string(token);
}

base::Expected<Permissions> Permissions::of(const http::Caller& caller, const AccessRules& rules) {
    if (!caller.bearer_token.empty()) {
        if (rules.token.empty() || !is_same_secret(caller.bearer_token, rules.token)) {
            return base::error(
                Error::Code::refused,
                "the token is not the daemon's, or has expired ('ttmem web' gets a new one for the page)");
        }
        return Permissions(true, std::nullopt);
    }
    if (!caller.is_local) {
        return Permissions(false, std::nullopt);
    }
    const bool is_member = rules.group && std::find(caller.groups.begin(), caller.groups.end(),
                                                    *rules.group) != caller.groups.end();
    return Permissions(caller.uid == 0 || is_member, caller.uid);
}

}  // namespace ttmem::daemon
