// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ttmem::cli {

namespace {

constexpr size_t kNarrowest = 40;

bool output_is_gone = false;

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(static_cast<size_t>(written < 0 ? 0 : written));
    }
    return true;
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

// By the first of the variables that is set, as the C library does it.
bool speaks_utf8() {
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (is_set(variable)) {
            const std::string_view locale = std::getenv(variable);
            return locale.find("UTF-8") != std::string_view::npos ||
                   locale.find("utf8") != std::string_view::npos;
        }
    }
    return false;
}

// COLUMNS where it is set, else what the terminal says; 0 where nobody says.
size_t told_width(int file) {
    const std::string_view text = is_set("COLUMNS") ? std::getenv("COLUMNS") : "";
    size_t columns = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (!text.empty() && problem == std::errc() && end == text.data() + text.size() && columns != 0) {
        return columns;
    }
    winsize size{};
    return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int print(const std::string& text) {
    if (!write_all(STDOUT_FILENO, text)) {
        if (errno == EPIPE) {
            output_is_gone = true;
            return 0;
        }
        complain(std::string("can't write the output: ") + strerror(errno));
        return 1;
    }
    return 0;
}

bool wait_for_reader(std::chrono::milliseconds time) {
    pollfd output{STDOUT_FILENO, 0, 0};
    const auto until = std::chrono::steady_clock::now() + time;
    for (auto left = time; left.count() > 0;
         left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())) {
        if (poll(&output, 1, static_cast<int>(left.count())) > 0) {
            return false;  // nothing was asked for but its end
        }
    }
    return !output_is_gone;
}

void complain(const std::string& text) { write_all(STDERR_FILENO, "ttmem: " + text + "\n"); }

view::Style style_of(int file, bool bytes) {
    const bool is_terminal = isatty(file) != 0;
    const char* terminal = std::getenv("TERM");
    const bool is_dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
    const size_t width = told_width(file);
    view::Style style;
    style.width = width == 0 ? style.width : std::max(width, kNarrowest);
    style.cut = is_terminal || width != 0;
    style.colour = is_terminal && !is_dumb && !is_set("NO_COLOR");
    style.bytes = bytes;
    style.utf8 = speaks_utf8();
    return style;
}

view::Style style_of_output(bool bytes) { return style_of(STDOUT_FILENO, bytes); }

}  // namespace ttmem::cli
