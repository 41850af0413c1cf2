// SPDX-License-Identifier: Apache-2.0
#include "tui/scope_tree.hpp"

#include <algorithm>
#include <map>

namespace ttmem::tui {

namespace {

struct ScopeNode {
    census::Group sums;
    std::vector<std::string> children;  // paths
};
using ScopeNodes = std::map<std::string, ScopeNode>;  // by path

void add(const census::Group& group, census::Group& sums) {
    census::add_memory(sums.memory, group.memory);
    sums.count += group.count;
    sums.planned += group.planned;
    sums.views += group.views;
    sums.largest = std::max(sums.largest, group.largest);
    sums.oldest_age_ns = std::max(sums.oldest_age_ns, group.oldest_age_ns);
}

void append(const ScopeNodes& nodes, const std::vector<std::string>& paths, size_t depth,
            const std::set<std::string>& closed, std::vector<ScopeRow>& rows) {
    std::vector<std::string> in_order = paths;
    std::stable_sort(in_order.begin(), in_order.end(), [&](const std::string& a, const std::string& b) {
        return census::holds_more(nodes.at(a).sums.memory, nodes.at(b).sums.memory);
    });
    for (const std::string& path : in_order) {
        const ScopeNode& node = nodes.at(path);
        const bool is_closed = !node.children.empty() && closed.contains(path);
        rows.push_back({path, depth, !node.children.empty(), is_closed, node.sums});
        rows.back().sums.key = path.substr(path.rfind('/') + 1);
        if (!is_closed) {
            append(nodes, node.children, depth + 1, closed, rows);
        }
    }
}

}  // namespace

std::vector<ScopeRow> scope_rows(const std::vector<census::Group>& names,
                                 const std::set<std::string>& closed) {
    ScopeNodes nodes;
    std::vector<std::string> roots;
    for (const census::Group& group : names) {
        std::string parent;
        bool has_parent = false;
        for (size_t end = group.key.find('/');; end = group.key.find('/', end + 1)) {
            const std::string path = group.key.substr(0, end);
            const auto [node, is_new] = nodes.try_emplace(path);
            add(group, node->second.sums);
            if (is_new) {
                (has_parent ? nodes[parent].children : roots).push_back(path);
            }
            if (end == std::string::npos) {
                break;
            }
            parent = path;
            has_parent = true;
        }
    }
    std::vector<ScopeRow> rows;
    append(nodes, roots, 0, closed, rows);
    return rows;
}

}  // namespace ttmem::tui
