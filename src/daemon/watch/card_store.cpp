// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/card_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/descriptor.hpp"
#include "base/environment.hpp"
#include "base/time.hpp"

namespace ttmem::daemon {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kSameTimeNs = 60 * base::kNsPerSecond;  // the wall clock may be set while a process runs

// The folder is for the daemon alone: a card has the names of its user's buffers.
int make_folder(const fs::path& folder) {
    std::error_code problem;
    fs::create_directories(folder.parent_path(), problem);
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return errno;
    }
    return 0;
}

}  // namespace

fs::path state_directory(const fs::path& runtime_directory, bool is_runtime_chosen) {
    if (const char* named = base::environment("TTMEM_STATE_DIR")) {
        return named;
    }
    if (is_runtime_chosen) {
        return runtime_directory / "state";
    }
    if (const char* given = base::environment("STATE_DIRECTORY");
        given != nullptr && fs::path(given).filename() == "ttmem") {
        return given;
    }
    if (geteuid() == 0) {
        return "/var/lib/ttmem";
    }
    if (const char* state = base::environment("XDG_STATE_HOME")) {
        return fs::path(state) / "ttmem";
    }
    const char* home = base::environment("HOME");
    return home == nullptr ? fs::path() : fs::path(home) / ".local/state/ttmem";
}

// Sorted names are in the order of time.
std::string CardStore::StoredCard::file_name() const {
    const auto& [pid, start, number] = key;
    return fmt::format("card-{:020}-{}-{}-{}-{}.json", time_ns, uid, pid, start, number);
}

std::optional<CardStore::StoredCard> CardStore::parse_name(const std::string& name) {
    std::array<uint64_t, 5> numbers{};
    const char* const end = name.data() + name.size();
    const char* at = name.data() + std::min(name.size(), std::string_view("card-").size());
    for (uint64_t& number : numbers) {
        const auto [rest, problem] = std::from_chars(at, end, number);
        if (problem != std::errc()) {
            return std::nullopt;
        }
        at = rest == end ? end : rest + 1;
    }
    StoredCard card;
    card.time_ns = numbers[0];
    card.uid = static_cast<uint32_t>(numbers[1]);
    card.key = {static_cast<uint32_t>(numbers[2]), numbers[3], numbers[4]};
    return card.file_name() == name ? std::optional(card) : std::nullopt;
}

CardStore::CardStore(const fs::path& state, CardCapacity capacity,
                     std::function<void(const std::string&)> note)
    : folder_(state.empty() ? fs::path() : state / "cards"), capacity_(capacity), note_(std::move(note)) {
    load();
}

void CardStore::load() {
    std::error_code problem;
    for (fs::directory_iterator each(folder_, problem), end; !problem && each != end;
         each.increment(problem)) {
        const std::string name = each->path().filename().string();
        if (name.starts_with("card-") && name.ends_with(base::kUnfinishedFile)) {
            std::error_code ignored;
            fs::remove(each->path(), ignored);  // of a daemon that was killed
            continue;
        }
        std::error_code without_size;
        const uint64_t bytes = each->file_size(without_size);
        if (auto card = parse_name(name); card && !without_size) {
            card->bytes = bytes;
            bytes_ += bytes;
            stored_.push_back(*card);
        }
    }
    std::sort(stored_.begin(), stored_.end(), [](const StoredCard& a, const StoredCard& b) {
        return std::tie(a.time_ns, a.key) < std::tie(b.time_ns, b.key);
    });
    drop_excess();
}

bool CardStore::has(const CardKey& key, uint64_t time_ns) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(stored_.begin(), stored_.end(), [&](const StoredCard& one) {
        const uint64_t apart = std::max(one.time_ns, time_ns) - std::min(one.time_ns, time_ns);
        return one.key == key && apart < kSameTimeNs;
    });
}

void CardStore::add(view::KeptCard card, uint64_t start_time) {
    if (!card.failure.card) {
        return;
    }
    StoredCard stored{card.failure.time_ns, card.uid, {card.pid, start_time, card.failure.card->number}, 0};
    std::string text = view::to_json(card);
    census::FailureCard& own = *card.failure.card;
    while (text.size() > capacity_.bytes_per_card && !own.blocks.empty()) {
        // Blocks are nearly all of the text, and of similar length.
        const size_t kept = own.blocks.size() * capacity_.bytes_per_card / text.size() * 9 / 10;
        own.blocks_left_out += own.blocks.size() - kept;
        own.blocks.resize(kept);
        text = view::to_json(card);
    }
    stored.bytes = text.size();
    const std::lock_guard lock(mutex_);
    if (text.size() > capacity_.bytes_per_card) {
        return lose("a card is too large");
    }
    if (folder_.empty()) {
        return lose("there is no state folder (set TTMEM_STATE_DIR)");
    }
    int error = make_folder(folder_);
    if (error == 0 && !base::write_file_atomically(folder_ / stored.file_name(), text, 0600)) {
        error = errno;
    }
    if (error != 0) {
        return lose(folder_.string() + ": " + std::strerror(error));
    }
    bytes_ += stored.bytes;
    const auto place =
        std::upper_bound(stored_.begin(), stored_.end(), stored,
                         [](const StoredCard& a, const StoredCard& b) { return a.time_ns < b.time_ns; });
    stored_.insert(place, stored);
    drop_excess();
}

void CardStore::lose_card(const std::string& why) {
    const std::lock_guard lock(mutex_);
    lose(why);
}

void CardStore::lose(const std::string& why) {
    if (lost_++ == 0 && note_) {
        note_("! failure cards can't be kept: " + why);
    }
    problem_ = why;
}

uint32_t CardStore::user_with_most(bool by_bytes) const {
    std::map<uint32_t, uint64_t> shares;
    for (const StoredCard& card : stored_) {
        shares[card.uid] += by_bytes ? card.bytes : 1;
    }
    return std::max_element(shares.begin(), shares.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

void CardStore::drop_excess() {
    while (!stored_.empty() && (stored_.size() > capacity_.number || bytes_ > capacity_.bytes)) {
        const uint32_t user = user_with_most(stored_.size() <= capacity_.number);
        const auto oldest = std::find_if(stored_.begin(), stored_.end(),
                                         [&](const StoredCard& card) { return card.uid == user; });
        std::error_code ignored;
        fs::remove(folder_ / oldest->file_name(), ignored);
        bytes_ -= std::min(bytes_, oldest->bytes);
        stored_.erase(oldest);
    }
}

CardStore::Page CardStore::read(const std::function<bool(uint32_t uid, const CardKey& key)>& wanted,
                                uint64_t limit, uint64_t most_blocks) const {
    Page page;
    std::vector<fs::path> files;
    {
        const std::lock_guard lock(mutex_);
        for (auto each = stored_.rbegin(); each != stored_.rend(); ++each) {
            if (!wanted(each->uid, each->key)) {
                continue;
            }
            ++page.total;
            if (files.size() < limit) {
                files.push_back(folder_ / each->file_name());
            }
        }
    }
    for (const fs::path& path : files) {
        std::ifstream file(path, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        auto card = view::from_json<view::KeptCard>(text);
        if (!card || !card->failure.card) {
            continue;  // dropped meanwhile, or damaged
        }
        const uint64_t now = base::realtime_ns();
        card->failure.age_ns = now - std::min(now, card->failure.time_ns);
        census::FailureCard& own = *card->failure.card;
        if (own.blocks.size() > most_blocks) {
            own.blocks_left_out += own.blocks.size() - most_blocks;
            own.blocks.resize(most_blocks);
        }
        most_blocks -= own.blocks.size();
        page.newest_first.push_back(std::move(*card));
    }
    return page;
}

size_t CardStore::size() const {
    const std::lock_guard lock(mutex_);
    return stored_.size();
}

uint64_t CardStore::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

uint64_t CardStore::lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
}

std::string CardStore::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

}  // namespace ttmem::daemon
