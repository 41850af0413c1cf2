// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
ColourChoice colour_choice = ColourChoice::automatic;

// The output of one run of a repeated command.
struct CapturedOutput {
    std::string text;
    std::string errors;
};
CapturedOutput* captured_output = nullptr;  // while such a command runs

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

// The rows of the terminal; 0 if it is none, or its size is not known.
size_t output_rows() {
    winsize size{};
    return isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

// Overwrites the previous screen line by line, so that it never flickers. Cuts the text to the height of the window, because a longer
// one would scroll.
std::string redraw(const std::string& text) {
    const size_t rows = output_rows();
    std::string drawn = "\033[H";
    size_t lines = 1;  // the last row of the window stays empty
    for (size_t start = 0; start < text.size();) {
        const size_t end = std::min(text.find('\n', start), text.size());
        if (rows > 1 && ++lines == rows && end + 1 < text.size()) {
            drawn += "(window too small: make it taller, or choose devices with -d)\033[K\n";
            break;
        }
        drawn += text.substr(start, end - start) + "\033[K\n";
        start = end + 1;
    }
    return drawn + "\033[J";
}

// A pager that can't be started reads nothing: the shell exits with 126 or 127.
bool show_in_pager(const std::string& text, const char* pager) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    base::Descriptor from(ends[0]);
    base::Descriptor to(ends[1]);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(from.get(), STDIN_FILENO);
        signal(SIGPIPE, SIG_DFL);
        setenv("LESS", "FRX", 0);  // quit if it fits, show colour, leave the text on the terminal
        execl("/bin/sh", "sh", "-c", pager, nullptr);
        _exit(127);
    }
    if (pid < 0) {
        return false;
    }
    // Ctrl-C belongs to the pager.
    void (*const before)(int) = signal(SIGINT, SIG_IGN);
    from = base::Descriptor();
    write_all(to.get(), text);
    to = base::Descriptor();
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    signal(SIGINT, before);
    return !WIFEXITED(status) || (WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127);
}

// Whether a pager has shown the text.
bool page(const std::string& text) {
    const size_t rows = output_rows();
    const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    if (captured_output != nullptr || rows == 0 || lines < rows || isatty(STDIN_FILENO) == 0) {
        return false;
    }
    const char* chosen = base::environment("PAGER");
    const char* pager = chosen != nullptr ? chosen : "less";
    return std::strcmp(pager, "cat") != 0 && show_in_pager(text, pager);
}

}  // namespace

int print(const std::string& text) {
    if (captured_output != nullptr) {
        captured_output->text += text;
        return 0;
    }
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

void print_error(const std::string& text) {
    const std::string line = "ttmem: " + text + "\n";
    captured_output != nullptr ? void(captured_output->errors += line) : void(write_all(STDERR_FILENO, line));
}

int print(const view::Text& text) {
    const std::string drawn = render_ansi(text, wants_colour(STDOUT_FILENO));
    return page(drawn) ? 0 : print(drawn);
}

int repeat(const Repetition& how, const std::function<int()>& once) {
    const bool is_terminal = isatty(STDOUT_FILENO) != 0 && !how.json;
    for (uint64_t number = 1; true; ++number) {
        CapturedOutput one;
        captured_output = &one;
        const int code = once();
        captured_output = nullptr;
        if (is_terminal && (code == 0 || number > 1)) {
            one.text = redraw(one.text + one.errors);
        } else {
            write_all(STDERR_FILENO, one.errors);
        }
        if (code != 0 && number == 1) {
            return code;
        }
        const bool is_between = number > 1 && how.blank_between && !is_terminal && !how.json;
        if (print((is_between ? "\n" : "") + one.text) != 0) {
            return 1;
        }
        if (number == how.count || !wait_for_reader(how.interval)) {
            return 0;
        }
    }
}

bool is_repeating() { return captured_output != nullptr; }

void choose_colour(ColourChoice choice) { colour_choice = choice; }

bool wants_colour(int file) {
    if (colour_choice != ColourChoice::automatic) {
        return colour_choice == ColourChoice::always;
    }
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
