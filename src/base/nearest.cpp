// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace ttmem::base {

namespace {

constexpr size_t kLongest = 64;  // longer texts are not misspelt words

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> before(b.size() + 1);
    std::vector<size_t> last(b.size() + 1);
    std::vector<size_t> now(b.size() + 1);
    std::iota(last.begin(), last.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = std::min(now[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& words) {
    std::optional<std::string> best;
    size_t fewest = std::max<size_t>(text.size() / 3, 1) + 1;
    for (const std::string& word : words) {
        // A word that begins with the text, or is its beginning, counts as one change.
        const bool is_part = text.size() >= 2 && (word.starts_with(text) || text.starts_with(word));
        const size_t changes = text.size() > kLongest ? fewest : is_part ? 1 : distance(text, word);
        if (changes < fewest) {
            fewest = changes;
            best = word;
        }
    }
    return best;
}

}  // namespace ttmem::base
