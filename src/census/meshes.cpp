// SPDX-License-Identifier: Apache-2.0
#include "census/meshes.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <tuple>

namespace ttmem::census {

namespace {

constexpr size_t kMostMeshes = 16;

std::optional<MeshFigures> mesh_of(const segment::DeviceSet& set, size_t report, const DeviceTable& table) {
    const auto count = static_cast<uint64_t>(std::popcount(set.members));
    if (count == 0 || uint64_t{set.rows} * set.columns != count) {
        return std::nullopt;
    }
    MeshFigures mesh{set.rows, set.columns, {}};
    std::set<uint32_t> ids;
    for (uint64_t i = 0; i < count; ++i) {
        const size_t entry = set.member[i];
        if (entry >= segment::kMaxDevices || (set.members >> entry & 1) == 0) {
            return std::nullopt;
        }
        const auto positions = table.positions(report, uint64_t{1} << entry);
        if (positions.empty() || !ids.insert(table.devices()[positions.front()].id).second) {
            return std::nullopt;
        }
        mesh.devices.push_back(table.devices()[positions.front()].id);
    }
    return mesh;
}

bool is_before(const MeshFigures& a, const MeshFigures& b) {
    return std::tuple(b.devices.size(), a.columns, a.devices) <
           std::tuple(a.devices.size(), b.columns, b.devices);
}

}  // namespace

std::vector<MeshFigures> described_meshes(const std::vector<Report>& reports, const DeviceTable& table) {
    std::vector<MeshFigures> meshes;
    for (size_t report = 0; report < reports.size(); ++report) {
        for (const segment::SetTotals& set : reports[report].totals.sets) {
            const bool is_in_use = set.is_open() && !reports[report].process->lifetime.ended;
            auto mesh = is_in_use ? mesh_of(set.set, report, table) : std::nullopt;
            if (mesh) {
                meshes.push_back(*std::move(mesh));
            }
        }
    }
    std::sort(meshes.begin(), meshes.end(), is_before);
    meshes.erase(std::unique(meshes.begin(), meshes.end()), meshes.end());
    if (meshes.size() > kMostMeshes) {
        meshes.resize(kMostMeshes);
    }
    return meshes;
}

}  // namespace ttmem::census
