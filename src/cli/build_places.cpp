// SPDX-License-Identifier: Apache-2.0
#include "cli/build_places.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/descriptor.hpp"
#include "base/environment.hpp"
#include "base/places_folder.hpp"

namespace ttmem::cli {

using base::Error;

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Ended {
    int start_error = 0;
    int status = 0;
    std::string output;  // with its standard error
};

// Runs a program to its end.
Ended run_program(Words words) {
    Ended ended;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ended.start_error = errno;
        return ended;
    }
    const base::Descriptor from(ends[0]);
    base::Descriptor to(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t pid = 0;
    ended.start_error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    to = base::Descriptor();
    if (ended.start_error != 0) {
        return ended;
    }
    char part[4096];
    for (ssize_t got = 0; (got = read(from.get(), part, sizeof part)) > 0 || (got < 0 && errno == EINTR);) {
        ended.output.append(part, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    }
    while (waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {
    }
    return ended;
}

bool has_succeeded(const Ended& ended) {
    return ended.start_error == 0 && WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0;
}

// A folder that is removed with its files.
class TemporaryFolder {
public:
    TemporaryFolder() {
        const char* place = base::environment("TMPDIR");
        path_ = std::string(place != nullptr ? place : "/tmp") + "/ttmem-observer-XXXXXX";
        is_made_ = mkdtemp(path_.data()) != nullptr;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (is_made_) {
            fs::remove_all(path_, ignored);
        }
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    bool is_made() const { return is_made_; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    bool is_made_ = false;
};

std::optional<std::string> find_source() {
    std::error_code problem;
    const fs::path self = fs::read_symlink("/proc/self/exe", problem);
    const std::string path = (self.parent_path().parent_path() / "share/ttmem/observer-source").string();
    return fs::exists(path + "/observer/headers/print_places.cpp", problem) ? std::optional(path)
                                                                            : std::nullopt;
}

// $CXX, which may have options, or the first one that starts.
std::optional<Words> find_compiler() {
    Words chosen;
    if (const char* named = base::environment("CXX")) {
        std::istringstream words(named);
        chosen.assign(std::istream_iterator<std::string>(words), {});
    }
    for (const Words& compiler :
         chosen.empty() ? std::vector<Words>{{"c++"}, {"g++"}, {"clang++"}} : std::vector<Words>{chosen}) {
        Words words = compiler;
        words.emplace_back("--version");
        if (run_program(words).start_error == 0) {
            return compiler;
        }
    }
    return std::nullopt;
}

// The folders and definitions with which a build of the tree compiled, if it has kept its commands.
Words flags_of_build(const fs::path& tree) {
    std::error_code problem;
    for (const fs::directory_entry& build : fs::directory_iterator(tree, problem)) {
        std::ifstream file(build.path() / "compile_commands.json");
        const auto commands = file ? nlohmann::json::parse(file, nullptr, false) : nlohmann::json();
        for (const nlohmann::json& command : commands.is_array() ? commands : nlohmann::json::array()) {
            if (!command.is_object() ||
                command.value("file", "").find("tt_metal/impl/") == std::string::npos) {
                continue;
            }
            Words flags;
            std::istringstream words(command.value("command", ""));
            for (std::string word; words >> word;) {
                if (word == "-isystem" && words >> word) {
                    flags.insert(flags.end(), {"-isystem", word});
                } else if (word.starts_with("-I") ||
                           (word.starts_with("-D") && !word.ends_with("_EXPORTS"))) {
                    flags.push_back(word);
                }
            }
            return flags;
        }
    }
    return {};
}

// Where an installed tt-metalium and a source tree have their headers, those of tt-metal first.
constexpr std::array kHeaderFolders = {"include",
                                       "tt_metal/api",
                                       "include/metalium-thirdparty",
                                       "tt_stl",
                                       "tt_metal/hostdevcommon/api",
                                       "tt_metal/third_party/umd/device/api",
                                       "tt_metal/third_party/tracy/public"};

bool has_headers(const fs::path& folder) {
    std::error_code problem;
    return fs::exists(folder / "tt-metalium/buffer.hpp", problem);
}

base::Expected<Words> flags_of(const fs::path& headers, const Words& more) {
    const bool are_there = has_headers(headers) || has_headers(headers / kHeaderFolders[0]) ||
                           has_headers(headers / kHeaderFolders[1]);
    if (!are_there) {
        return base::error(
            Error::Code::failed,
            "no headers of tt-metal in " + headers.string() +
                ": it has no tt-metalium/buffer.hpp, in include/ (installed) or in tt_metal/api/ "
                "(source tree); wheels contain none");
    }
    Words flags = {"-I" + headers.string()};
    std::error_code problem;
    for (const char* folder : kHeaderFolders) {
        if (fs::is_directory(headers / folder, problem)) {
            flags.push_back("-I" + (headers / folder).string());
        }
    }
    for (const std::string& folder : more) {
        flags.push_back("-I" + folder);
    }
    const Words of_build = flags_of_build(headers);
    flags.insert(flags.end(), of_build.begin(), of_build.end());
    return flags;
}

// What the first error of the compiler means.
std::string explain(const std::string& output, const std::string& headers) {
    std::smatch match;
    static const std::regex kNotFound("fatal error: '?([^:' ]+)'?(: No such file| file not found)");
    if (std::regex_search(output, match, kNotFound)) {
        return "the headers in " + headers + " include <" + match[1].str() +
               ">, which is not found: give its folder with -I, or a tree whose build has kept its "
               "compile_commands.json";
    }
    static const std::regex kError("(^|\n)([^\n]*error: [^\n]*)");
    const std::string first =
        std::regex_search(output, match, kError) ? match[2].str() : output.substr(0, output.find('\n'));
    return "ttmem does not know the headers in " + headers + "; its compiler says: " + first;
}

// "/opt/tt metal" becomes "opt-tt-metal".
std::string file_name_of(const std::string& folder) {
    std::string name = folder.substr(folder.find_first_not_of('/'));
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '-');
    return name.substr(name.size() > 200 ? name.size() - 200 : 0) + base::kPlacesSuffix;
}

base::Expected<std::string> print_places(const Words& compiler, const std::string& source, const Words& flags,
                                         const std::string& headers) {
    const TemporaryFolder folder;
    if (!folder.is_made()) {
        return base::error(Error::Code::failed,
                           "can't make a folder in " + fs::path(folder.path()).parent_path().string());
    }
    const std::string program = folder.path() + "/print_places";
    Words words = compiler;
    // tt-metal's library is not linked: the program calls nothing of it.
    words.insert(words.end(), {"-std=c++20", "-O1", "-w", "-DFMT_HEADER_ONLY",
                               "-Wl,--unresolved-symbols=ignore-all", "-I" + source});
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {source + "/observer/headers/print_places.cpp", "-o", program});
    const Ended compiled = run_program(words);
    if (!has_succeeded(compiled)) {
        return base::error(Error::Code::failed, explain(compiled.output, headers));
    }
    Ended printed = run_program({program});
    if (!has_succeeded(printed) || printed.output.empty()) {
        return base::error(Error::Code::failed, "ttmem does not know the headers in " + headers +
                                                    ": the program that was compiled with them fails");
    }
    return std::move(printed.output);
}

}  // namespace

base::Expected<std::string> build_places(const PlacesSettings& settings) {
    std::error_code problem;
    const fs::path headers = fs::canonical(settings.headers, problem);
    if (problem) {
        return base::error(Error::Code::failed, "can't read " + settings.headers + ": " + problem.message());
    }
    const auto flags = flags_of(headers, settings.includes);
    if (!flags) {
        return tl::unexpected(flags.error());
    }
    char own[PATH_MAX];
    if (!settings.folder && !base::folder_of_places(own, sizeof own, base::environment)) {
        return base::error(Error::Code::failed,
                           "neither XDG_DATA_HOME nor HOME is set: give the folder for the result with -o");
    }
    const auto source = find_source();
    if (!source) {
        return base::error(Error::Code::failed,
                           "share/ttmem/observer-source is not installed together with this program");
    }
    const auto compiler = find_compiler();
    if (!compiler) {
        const char* named = base::environment("CXX");
        return base::error(Error::Code::failed,
                           named != nullptr
                               ? "can't start the compiler " + std::string(named) + " that CXX names"
                               : "no C++ compiler found: install g++ or clang++, or name one in CXX");
    }
    auto places = print_places(*compiler, *source, *flags, headers.string());
    if (!places) {
        return places;
    }
    const std::string path = settings.folder.value_or(own) + "/" + file_name_of(headers.string());
    // The observer takes it for the tt-metal in this folder first.
    if (!base::write_file_atomically(path, "# " + headers.string() + "\n" + *places, 0644)) {
        return base::error(Error::Code::failed, "can't write " + path + ": " + strerror(errno));
    }
    return path;
}

}  // namespace ttmem::cli
