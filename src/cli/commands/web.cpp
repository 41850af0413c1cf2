// SPDX-License-Identifier: Apache-2.0

// Opens the page of the daemon in a browser. The token is in the fragment of the address, which a browser sends to nobody. Other
// users can read the arguments of a process, so the browser gets a file that only this user can read, and which leads to the page.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/atomic_file.hpp"
#include "base/environment.hpp"
#include "cli/commands/commands.hpp"
#include "cli/page_access.hpp"

namespace ttmem::cli {

namespace {

struct WebOptions {
    bool no_open = false;
};

std::string ssh_text(const PageAccess& page) {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return "From another machine: ssh -L 9479:" + page.socket + " " + host.data() +
           "\n  then open http://127.0.0.1:9479/ there. It needs no token: ssh shows the daemon who you "
           "are.\n";
}

// A file of this user alone; empty if it cannot be written.
std::string write_leading_file(const PageAccess& page) {
    const char* const runtime = base::environment("XDG_RUNTIME_DIR");
    const char* const home = base::environment("HOME");
    if (runtime == nullptr && home == nullptr) {
        return "";
    }
    const std::string folder =
        runtime != nullptr ? std::string(runtime) : std::string(home) + "/.cache/ttmem";
    const std::string path = folder + "/ttmem-web.html";
    const std::string text =
        "<!doctype html><meta charset=\"utf-8\"><title>ttmem</title>"
        "<meta http-equiv=\"refresh\" content=\"0; url=" +
        page.url() + "\"><a href=\"" + page.url() + "\">ttmem</a>\n";
    return base::write_file_atomically(path, text, 0600) ? path : "";
}

// The file has done its work when the browser has read it. A program that only finds out its type may read it before.
constexpr int kReadWithinMs = 600'000;
constexpr int kAfterReadMs = 15'000;

// Waits until the file was read, and a while longer. False: it is gone already.
bool wait_until_read(int changes) {
    int wait_ms = kReadWithinMs;
    pollfd wanted{changes, POLLIN, 0};
    while (poll(&wanted, 1, wait_ms) > 0) {
        alignas(inotify_event) std::array<char, 4096> buffer;
        const ssize_t count = read(changes, buffer.data(), buffer.size());
        for (ssize_t at = 0; at < count;) {
            const auto* const event =
                reinterpret_cast<const inotify_event*>(buffer.data() + at);  // NOLINT: the kernel's format
            if ((event->mask & (IN_IGNORED | IN_DELETE_SELF)) != 0) {
                return false;
            }
            at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
        wait_ms = kAfterReadMs;
    }
    return true;
}

// Removes the file when it was read, or later if it is not. A process of its own does so, because the command ends at once.
void remove_when_read(const std::string& path) {
    const int changes = inotify_init1(IN_CLOEXEC);
    struct stat written {};
    if (inotify_add_watch(changes, path.c_str(), IN_CLOSE_NOWRITE | IN_DELETE_SELF) < 0 ||
        stat(path.c_str(), &written) != 0 || fork() != 0) {
        close(changes);
        return;
    }
    setsid();
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        dup2(nowhere, file);
    }
    struct stat now {};
    // Another 'ttmem web' may have put its own there.
    if (wait_until_read(changes) && stat(path.c_str(), &now) == 0 && now.st_ino == written.st_ino) {
        unlink(path.c_str());
    }
    _exit(0);
}

// Why no browser was opened; empty if one was.
std::string open_browser(const PageAccess& page) {
    if (base::environment("DISPLAY") == nullptr && base::environment("WAYLAND_DISPLAY") == nullptr &&
        base::environment("BROWSER") == nullptr) {
        return "there is no display here";
    }
    const std::string file = write_leading_file(page);
    if (file.empty()) {
        return "no file can be written for it in $XDG_RUNTIME_DIR or $HOME";
    }
    remove_when_read(file);
    std::string program = "xdg-open";
    std::string target = "file://" + file;
    std::array<char*, 3> arguments{program.data(), target.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? "" : "xdg-open can't be started (install xdg-utils)";
}

int run_web(const WebOptions& options) {
    const auto page = ask_for_page_access();
    if (!page) {
        return fail(page.error());
    }
    if (!page->is_built) {
        return fail(
            "this ttmemd was built without the page, because npm could not be reached during the build; "
            "'ttmem top' shows the same in the terminal");
    }
    if (page->address.empty()) {
        return fail("the daemon serves no TCP address: " + page->no_address +
                    ". Start it with another one (ttmemd --listen 127.0.0.1:PORT), or without one:\n" +
                    ssh_text(*page));
    }
    std::string text = page->url() + "\n";
    if (!options.no_open) {
        const std::string problem = open_browser(*page);
        text += problem.empty() ? "Opened in the browser.\n"
                                : "No browser was opened: " + problem + ". Open the address in one.\n";
    }
    text += "The address shows what you may see, for " + std::to_string(page->valid_s / 3600) +
            " hours or until the daemon ends. Keep it to yourself.\n";
    return print(text + ssh_text(*page));
}

}  // namespace

void add_web(CLI::App& app, Action& chosen) {
    add_command<WebOptions>(
        app, chosen, "web", "The page: the whole host in a browser, live",
        [](CLI::App& command, WebOptions& options) {
            command.add_flag("--no-open", options.no_open, "Print the address and open no browser");
        },
        run_web)
        ->footer(
            "Needs a running daemon (ttmemd). The address contains a token of this user, which\n"
            "the daemon keeps in memory.\n\nExample:\n  ttmem web --no-open");
}

}  // namespace ttmem::cli
