// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/environment.hpp"

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

// The first variable that is set decides, as in the C library.
bool is_utf8_locale() {
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (const char* value = base::environment(variable)) {
            const std::string_view locale = value;
            return locale.find("UTF-8") != std::string_view::npos ||
                   locale.find("utf8") != std::string_view::npos;
        }
    }
    return false;
}

// COLUMNS if it is set, else the width of the terminal; 0 if unknown.
size_t output_width(int file) {
    const char* value = base::environment("COLUMNS");
    const std::string_view text = value != nullptr ? value : "";
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
        print_error(std::string("can't write the output: ") + strerror(errno));
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
            return false;  // without requested events, poll() reports only errors and hang-ups
        }
    }
    return !output_is_gone;
}

base::Descriptor watch_reader() {
    base::Descriptor watch(epoll_create1(EPOLL_CLOEXEC));
    epoll_event only_its_end{};
    if (epoll_ctl(watch.get(), EPOLL_CTL_ADD, STDOUT_FILENO, &only_its_end) != 0) {
        return base::Descriptor();  // a file
    }
    return watch;
}

void print_error(const std::string& text) { write_all(STDERR_FILENO, "ttmem: " + text + "\n"); }

int print(const view::Text& text) { return print(render_ansi(text, wants_colour(STDOUT_FILENO))); }

bool wants_colour(int file) {
    const char* terminal = base::environment("TERM");
    const bool is_dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
    return isatty(file) != 0 && !is_dumb && base::environment("NO_COLOR") == nullptr;
}

view::Style style_of(int file, bool bytes) {
    const bool is_terminal = isatty(file) != 0;
    const size_t width = output_width(file);
    view::Style style;
    style.width = width == 0 ? style.width : std::max(width, kNarrowest);
    style.cut = is_terminal || width != 0;
    style.bytes = bytes;
    style.utf8 = is_utf8_locale();
    return style;
}

view::Style style_of_output(bool bytes) { return style_of(STDOUT_FILENO, bytes); }

}  // namespace ttmem::cli
