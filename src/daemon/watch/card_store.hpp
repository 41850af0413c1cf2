// SPDX-License-Identifier: Apache-2.0
#pragma once

// The failure cards that the daemon keeps on disk, through its own restart and that of the host. One file per card, bounded in
// number and bytes, with a fair share per user: beyond the capacity the user who has most loses the oldest. Any thread may use it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "census/process.hpp"
#include "view/model/kept_card.hpp"

namespace ttmem::daemon {

struct CardCapacity {
    size_t number = 256;
    uint64_t bytes = uint64_t{64} << 20;
    uint64_t bytes_per_card = uint64_t{1} << 20;  // a larger card loses its last blocks
};

// Where the cards are: $TTMEM_STATE_DIR, the folder that systemd made for the unit (StateDirectory=), a folder in the runtime
// directory if that was chosen, /var/lib/ttmem for root, $XDG_STATE_HOME/ttmem, ~/.local/state/ttmem. Empty: there is none.
std::filesystem::path state_directory(const std::filesystem::path& runtime_directory, bool is_runtime_chosen);

class CardStore {
public:
    // Identifies a card: process id, start time in clock ticks and number. After a restart of the host the same may come again.
    using CardKey = std::tuple<uint32_t, uint64_t, uint64_t>;

    // Cards are in the folder `cards` of the state folder, which is empty if there is none. `note` gets one line when the first
    // card is lost. Reads the names of the files that are there.
    CardStore(const std::filesystem::path& state, CardCapacity capacity,
              std::function<void(const std::string&)> note = {});

    // Whether a card with this key and about this time is kept.
    bool has(const CardKey& key, uint64_t time_ns) const;

    // Writes the card of the failure, of a process with this start time in ticks. A card that can't be written is lost, and counted.
    void add(view::KeptCard card, uint64_t start_time);

    // Counts a card that was never given to it.
    void lose_card(const std::string& why);

    // The newest of those that `wanted` selects by user and key, at most `limit`, and the number of all of them. `most_blocks`
    // is for all together.
    struct Page {
        std::vector<view::KeptCard> newest_first;
        uint64_t total = 0;
    };
    Page read(const std::function<bool(uint32_t uid, const CardKey& key)>& wanted, uint64_t limit,
              uint64_t most_blocks) const;

    size_t size() const;
    uint64_t bytes() const;
    uint64_t lost() const;
    std::string problem() const;  // of the last card that was lost

private:
    struct StoredCard {
        uint64_t time_ns = 0;
        uint32_t uid = 0;
        CardKey key;
        uint64_t bytes = 0;

        std::string file_name() const;
    };

    static std::optional<StoredCard> parse_name(const std::string& name);
    void load();
    void drop_excess();
    uint32_t user_with_most(bool by_bytes) const;
    void lose(const std::string& why);

    const std::filesystem::path folder_;
    const CardCapacity capacity_;
    const std::function<void(const std::string&)> note_;
    mutable std::mutex mutex_;
    std::vector<StoredCard> stored_;  // the oldest first
    uint64_t bytes_ = 0;
    uint64_t lost_ = 0;
    std::string problem_;
};

}  // namespace ttmem::daemon
