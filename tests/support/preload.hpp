// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names for LD_PRELOAD. The dynamic linker ends a name at a space or a colon, and a clone may be in a folder with a
// space.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ttmem::test {

// A folder in /tmp that holds one symbolic link, until this process exits.
class PreloadLink {
public:
    explicit PreloadLink(const std::filesystem::path& target) {
        if (mkdtemp(folder_) == nullptr || symlink(target.c_str(), link().c_str()) != 0) {
            std::abort();
        }
    }
    ~PreloadLink() {
        unlink(link().c_str());
        rmdir(folder_);
    }
    PreloadLink(const PreloadLink&) = delete;
    PreloadLink& operator=(const PreloadLink&) = delete;

    std::string link() const { return std::string(folder_) + "/lib"; }

private:
    char folder_[32] = "/tmp/ttmem-preload-XXXXXX";
};

// The link names the library's folder, because the observer loads other libraries from its own folder. Call it before a
// fork, so that the parent removes the link.
inline std::string preload_name_of(const std::filesystem::path& library) {
    if (library.string().find_first_of(" :") == std::string::npos) {
        return library.string();
    }
    static const PreloadLink folder(library.parent_path());
    return folder.link() + "/" + library.filename().string();
}

}  // namespace ttmem::test
