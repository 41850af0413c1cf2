// SPDX-License-Identifier: Apache-2.0
#include "tui/terminal.hpp"

#define NCURSES_NOMACROS  // its macros have the names of common functions
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
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/environment.hpp"

// Declared in <term.h>, whose macros have the names of common functions.
extern "C" char* tigetstr(const char* name);

namespace ttmem::tui {

using base::Error;

namespace {

// What restores the terminal after a crash, with only calls that are allowed in a signal handler.
struct CrashRestore {
    std::array<char, 256> text{};
    size_t length = 0;
    termios settings{};
    volatile sig_atomic_t is_armed = 0;
};
// A signal handler has access to globals only.
CrashRestore crash_restore;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

extern "C" void restore_after_crash(int number) {
    if (crash_restore.is_armed != 0) {
        crash_restore.is_armed = 0;
        static_cast<void>(!write(STDOUT_FILENO, crash_restore.text.data(), crash_restore.length));
        tcsetattr(STDIN_FILENO, TCSANOW, &crash_restore.settings);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void add_sequence(const char* sequence) {
    // Padding such as "$<5>" is for hardware terminals. It is skipped.
    for (std::string_view rest =
             sequence == nullptr || sequence == reinterpret_cast<const char*>(-1) ? "" : sequence;
         !rest.empty() && crash_restore.length < crash_restore.text.size(); rest.remove_prefix(1)) {
        if (rest.starts_with("$<")) {
            rest.remove_prefix(rest.find('>'));
            continue;
        }
        crash_restore.text[crash_restore.length++] = rest.front();
    }
}

void install_crash_restore(const termios& settings) {
    crash_restore.length = 0;
    crash_restore.settings = settings;
    for (const char* name : {"sgr0", "cnorm", "rmkx", "rmcup"}) {
        // tigetstr() only reads the name. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
        add_sequence(tigetstr(const_cast<char*>(name)));
    }
    add_sequence("\033[?1006l\033[?1000l\r\n");  // no mouse
    crash_restore.is_armed = 1;
    struct sigaction action {};
    action.sa_handler = restore_after_crash;
    sigemptyset(&action.sa_mask);
    action.sa_flags = static_cast<int>(SA_NODEFER);
    for (const int number : kCrashes) {
        sigaction(number, &action, nullptr);
    }
}

void remove_crash_restore() {
    crash_restore.is_armed = 0;
    for (const int number : kCrashes) {
        signal(number, SIG_DFL);
    }
}

// ncurses searches the places of the system. Only a type that it does not find there is searched in the folder that is
// installed with this program.
bool start_ncurses() {
    if (newterm(nullptr, stdout, stdin) != nullptr) {
        return true;
    }
    std::error_code problem;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
    std::string folders = program.parent_path().parent_path() / "share/ttmem/terminfo";
    if (const char* own = base::environment("TERMINFO_DIRS")) {
        folders = own + (":" + folders);
    }
    setenv("TERMINFO_DIRS", folders.c_str(), 1);
    return newterm(nullptr, stdout, stdin) != nullptr;
}

bool wants_colour() { return base::environment("NO_COLOR") == nullptr && has_colors(); }

// One colour pair per style; pair 0 is the terminal's default. With 256 colours, softer ones are used.
void make_colours() {
    start_color();
    use_default_colors();
    struct StyleColour {
        CellStyle style;
        short of_256, of_8;
    };
    constexpr std::array<StyleColour, 8> kColours = {{{CellStyle::good, 71, COLOR_GREEN},
                                                      {CellStyle::warn, 178, COLOR_YELLOW},
                                                      {CellStyle::bad, 203, COLOR_RED},
                                                      {CellStyle::bar, 74, COLOR_CYAN},
                                                      {CellStyle::key, 74, COLOR_CYAN},
                                                      {CellStyle::accent, 139, COLOR_MAGENTA},
                                                      {CellStyle::dim, 244, COLOR_WHITE},
                                                      {CellStyle::stale, 240, COLOR_WHITE}}};
    for (const StyleColour& choice : kColours) {
        init_pair(static_cast<short>(choice.style), COLORS >= 256 ? choice.of_256 : choice.of_8, -1);
    }
}

attr_t attributes_of(CellStyle style, bool has_colour) {
    const bool is_rich = has_colour && COLORS >= 256;
    const attr_t colour = has_colour ? static_cast<attr_t>(COLOR_PAIR(static_cast<int>(style))) : A_NORMAL;
    switch (style) {
        case CellStyle::plain:
            return A_NORMAL;
        case CellStyle::title:
            return A_BOLD;
        case CellStyle::selected:
            return A_REVERSE;
        case CellStyle::dim:
        case CellStyle::stale:
            return is_rich ? colour : A_DIM;
        case CellStyle::bad:
            return colour | A_BOLD;
        case CellStyle::key:
            return colour | (has_colour ? A_NORMAL : A_BOLD);
        case CellStyle::good:
        case CellStyle::warn:
        case CellStyle::bar:
        case CellStyle::accent:
            return colour;
    }
    return A_NORMAL;
}

Key key_of_code(wint_t code) {
    switch (code) {
        case KEY_UP:
            return Key::up;
        case KEY_DOWN:
            return Key::down;
        case KEY_LEFT:
            return Key::left;
        case KEY_RIGHT:
            return Key::right;
        case KEY_PPAGE:
            return Key::page_up;
        case KEY_NPAGE:
            return Key::page_down;
        case KEY_HOME:
            return Key::home;
        case KEY_END:
            return Key::end;
        case KEY_ENTER:
            return Key::enter;
        case KEY_BACKSPACE:
            return Key::backspace;
        case KEY_BTAB:
            return Key::back_tab;
        case KEY_F(1):
            return Key::f1;
        case KEY_F(6):
            return Key::f6;
        case KEY_F(9):
            return Key::f9;
        case KEY_F(10):
            return Key::f10;
        case KEY_F(12):
            return Key::f12;
        default:
            return Key::none;
    }
}

// Wheels are buttons 4 and 5.
Input mouse_input() {
    MEVENT event{};
    if (getmouse(&event) != OK) {
        return Key::none;
    }
    const auto has = [&](mmask_t button) { return (event.bstate & button) != 0; };
    const Key key = has(BUTTON4_PRESSED)   ? Key::wheel_up
                    : has(BUTTON5_PRESSED) ? Key::wheel_down
                    : has(BUTTON1_PRESSED) ? Key::click
                                           : Key::none;
    return {key, event.y, event.x};
}

}  // namespace

base::Expected<Terminal> Terminal::open() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
        return base::error(Error::Code::refused, "no terminal ('ttmem status' prints the same figures once)");
    }
    const char* type = base::environment("TERM");
    if (type != nullptr && std::strcmp(type, "dumb") == 0) {
        return base::error(
            Error::Code::refused,
            "this terminal can't move its cursor (TERM is 'dumb'; 'ttmem status' prints the same "
            "figures once)");
    }
    setlocale(LC_ALL, "");
    termios settings{};
    tcgetattr(STDIN_FILENO, &settings);
    set_escdelay(25);
    if (!start_ncurses()) {
        const char* name = base::environment("TERM");
        return base::error(Error::Code::refused, std::string("unknown terminal type (TERM is '") +
                                                     (name == nullptr ? "" : name) + "'; try TERM=xterm)");
    }
    Terminal terminal;
    terminal.is_open_ = true;
    terminal.glyphs_ = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? Glyphs::utf8 : Glyphs::ascii;
    install_crash_restore(settings);
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
    mouseinterval(0);  // clicks are reported at once
    // Releases too: after a report that is not asked for, ncurses waits for the next one, whatever nodelay() says.
    mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON2_PRESSED | BUTTON2_RELEASED | BUTTON3_PRESSED |
                  BUTTON3_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED,
              nullptr);
    return terminal;
}

Terminal::Terminal(Terminal&& other) noexcept
    : is_open_(std::exchange(other.is_open_, false)), glyphs_(other.glyphs_) {}

Terminal::~Terminal() { close(); }

void Terminal::close() {
    if (std::exchange(is_open_, false)) {
        endwin();
        remove_crash_restore();
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
            const ScreenCell& cell = canvas.at(row, column);
            if (cell.character != 0) {
                run += encode(cell.character);
            }
            if (column + 1 == canvas.columns() || canvas.at(row, column + 1).style != cell.style) {
                wattrset(stdscr, static_cast<int>(attributes_of(cell.style, has_colour)));
                mvwaddnstr(stdscr, row, start, run.data(), static_cast<int>(run.size()));
                run.clear();
                start = column + 1;
            }
        }
    }
    wrefresh(stdscr);
}

std::optional<Input> Terminal::key() {
    wint_t code = 0;
    const int type = wget_wch(stdscr, &code);
    if (type == ERR) {
        return std::nullopt;
    }
    if (type == KEY_CODE_YES && code == KEY_MOUSE) {
        return mouse_input();
    }
    if (type == KEY_CODE_YES) {
        return key_of_code(code);
    }
    return code == '\r' ? Key::enter : key_of(static_cast<char32_t>(code));
}

}  // namespace ttmem::tui
