// SPDX-License-Identifier: Apache-2.0
#include "tui/terminal.hpp"

#define NCURSES_NOMACROS  // they have the names of ordinary words
#include <curses.h>
#include <langinfo.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "tui/keys.hpp"

// Of <term.h>, whose macros have the names of ordinary words.
extern "C" char* tigetstr(const char* name);

namespace ttmem::tui {

using base::Error;

namespace {

// What a crash needs to give the terminal back, without a call that is not allowed in a signal handler.
struct Rescue {
    std::array<char, 256> text{};
    size_t length = 0;
    termios settings{};
    volatile sig_atomic_t is_armed = 0;
};
Rescue
    rescue;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a signal handler has nothing else

constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

extern "C" void give_back_after_crash(int number) {
    if (rescue.is_armed != 0) {
        rescue.is_armed = 0;
        static_cast<void>(!write(STDOUT_FILENO, rescue.text.data(), rescue.length));
        tcsetattr(STDIN_FILENO, TCSANOW, &rescue.settings);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void remember(const char* sequence) {
    // ncurses pads with "$<5>", which only a slow terminal of old needs.
    for (std::string_view rest =
             sequence == nullptr || sequence == reinterpret_cast<const char*>(-1) ? "" : sequence;
         !rest.empty() && rescue.length < rescue.text.size(); rest.remove_prefix(1)) {
        if (rest.starts_with("$<")) {
            rest.remove_prefix(rest.find('>'));
            continue;
        }
        rescue.text[rescue.length++] = rest.front();
    }
}

void arm_rescue(const termios& settings) {
    rescue.length = 0;
    rescue.settings = settings;
    for (const char* name : {"sgr0", "cnorm", "rmkx", "rmcup"}) {
        remember(tigetstr(
            const_cast<char*>(name)));  // NOLINT(cppcoreguidelines-pro-type-const-cast): it reads only
    }
    remember("\r\n");
    rescue.is_armed = 1;
    struct sigaction action {};
    action.sa_handler = give_back_after_crash;
    sigemptyset(&action.sa_mask);
    action.sa_flags = static_cast<int>(SA_NODEFER);
    for (const int number : kCrashes) {
        sigaction(number, &action, nullptr);
    }
}

void disarm_rescue() {
    rescue.is_armed = 0;
    for (const int number : kCrashes) {
        signal(number, SIG_DFL);
    }
}

bool wants_colour() {
    const char* no_colour = std::getenv("NO_COLOR");
    return (no_colour == nullptr || *no_colour == '\0') && has_colors();
}

// A colour pair for each look; 0 is the terminal's own. With 256 colours they are gentler.
void make_colours() {
    start_color();
    use_default_colors();
    struct Choice {
        Look look;
        short of_256, of_8;
    };
    constexpr std::array<Choice, 7> kChoices = {{{Look::good, 71, COLOR_GREEN},
                                                 {Look::warn, 178, COLOR_YELLOW},
                                                 {Look::bad, 203, COLOR_RED},
                                                 {Look::bar, 74, COLOR_CYAN},
                                                 {Look::key, 74, COLOR_CYAN},
                                                 {Look::dim, 244, COLOR_WHITE},
                                                 {Look::stale, 240, COLOR_WHITE}}};
    for (const Choice& choice : kChoices) {
        init_pair(static_cast<short>(choice.look), COLORS >= 256 ? choice.of_256 : choice.of_8, -1);
    }
}

attr_t attributes_of(Look look, bool has_colour) {
    const bool is_rich = has_colour && COLORS >= 256;
    const attr_t colour = has_colour ? static_cast<attr_t>(COLOR_PAIR(static_cast<int>(look))) : A_NORMAL;
    switch (look) {
        case Look::plain:
            return A_NORMAL;
        case Look::title:
            return A_BOLD;
        case Look::selected:
            return A_REVERSE;
        case Look::dim:
        case Look::stale:
            return is_rich ? colour : A_DIM;
        case Look::bad:
            return colour | A_BOLD;
        case Look::key:
            return colour | (has_colour ? A_NORMAL : A_BOLD);
        case Look::good:
        case Look::warn:
        case Look::bar:
            return colour;
    }
    return A_NORMAL;
}

int key_of(wint_t code) {
    switch (code) {
        case KEY_UP:
            return kKeyUp;
        case KEY_DOWN:
            return kKeyDown;
        case KEY_LEFT:
            return kKeyLeft;
        case KEY_RIGHT:
            return kKeyRight;
        case KEY_PPAGE:
            return kKeyPageUp;
        case KEY_NPAGE:
            return kKeyPageDown;
        case KEY_HOME:
            return kKeyHome;
        case KEY_END:
            return kKeyEnd;
        case KEY_ENTER:
            return kKeyEnter;
        case KEY_BACKSPACE:
            return kKeyBackspace;
        case KEY_BTAB:
            return kKeyBackTab;
        case KEY_F(1):
            return kKeyF1;
        case KEY_F(6):
            return kKeyF6;
        case KEY_F(9):
            return kKeyF9;
        case KEY_F(10):
            return kKeyF10;
        case KEY_F(12):
            return kKeyF12;
        default:
            return 0;
    }
}

}  // namespace

base::Expected<Terminal> Terminal::open() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
        return base::error(Error::Code::refused,
                           "there is no terminal here ('ttmem status' prints one picture)");
    }
    setlocale(LC_ALL, "");
    termios settings{};
    tcgetattr(STDIN_FILENO, &settings);
    set_escdelay(25);
    if (newterm(nullptr, stdout, stdin) == nullptr) {
        const char* name = std::getenv("TERM");
        return base::error(Error::Code::refused, std::string("this terminal is not known (TERM is '") +
                                                     (name == nullptr ? "" : name) + "'; try TERM=xterm)");
    }
    Terminal terminal;
    terminal.is_open_ = true;
    terminal.glyphs_ = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? Glyphs::utf8 : Glyphs::ascii;
    arm_rescue(settings);
    if (wants_colour()) {
        make_colours();
    }
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    leaveok(stdscr, TRUE);
    return terminal;
}

Terminal::Terminal(Terminal&& other) noexcept
    : is_open_(std::exchange(other.is_open_, false)), glyphs_(other.glyphs_) {}

Terminal::~Terminal() { close(); }

void Terminal::close() {
    if (std::exchange(is_open_, false)) {
        endwin();
        disarm_rescue();
    }
}

Size Terminal::size() const {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
        return {LINES, COLS};
    }
    return {size.ws_row, size.ws_col};
}

void Terminal::resize() {
    const Size now = size();
    resizeterm(now.rows, now.columns);
    wclear(stdscr);
}

void Terminal::show(const Canvas& canvas) {
    const bool has_colour = wants_colour();
    for (int row = 0; row < canvas.rows(); ++row) {
        std::string run;
        int start = 0;
        for (int column = 0; column < canvas.columns(); ++column) {
            const tui::Cell& cell = canvas.at(row, column);
            if (cell.letter != 0) {
                run += encode(cell.letter);
            }
            if (column + 1 == canvas.columns() || canvas.at(row, column + 1).look != cell.look) {
                wattrset(stdscr, static_cast<int>(attributes_of(cell.look, has_colour)));
                mvwaddnstr(stdscr, row, start, run.data(), static_cast<int>(run.size()));
                run.clear();
                start = column + 1;
            }
        }
    }
    wrefresh(stdscr);
}

std::optional<int> Terminal::key() {
    wint_t code = 0;
    const int type = wget_wch(stdscr, &code);
    if (type == ERR) {
        return std::nullopt;
    }
    if (type == KEY_CODE_YES) {
        return key_of(code);
    }
    return code == '\r' ? static_cast<int>(kKeyEnter) : static_cast<int>(code);
}

}  // namespace ttmem::tui
