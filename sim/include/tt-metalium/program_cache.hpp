// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include <tt-metalium/mesh_workload.hpp>
#include <tt_stl/unique_any.hpp>

namespace tt::tt_metal::program_cache::detail {

template <typename shared_variables_t>
struct CachedMeshWorkload {
    tt::tt_metal::distributed::MeshWorkload workload;
    shared_variables_t shared_variables;

    CachedMeshWorkload(tt::tt_metal::distributed::MeshWorkload&& workload_,
                       shared_variables_t&& shared_variables_)
        : workload{std::move(workload_)}, shared_variables{std::move(shared_variables_)} {}
};

struct CachedProgramFactory {
    static constexpr auto MAX_SIZE = 4096;
    static constexpr auto ALIGNMENT = 32;

    ttsl::unique_any<MAX_SIZE, ALIGNMENT> cached_program;
    size_t program_factory_index = 0;

    template <typename shared_variables_t>
    CachedProgramFactory(CachedMeshWorkload<shared_variables_t>&& cached_workload,
                         size_t program_factory_index_)
        : cached_program{std::move(cached_workload)}, program_factory_index{program_factory_index_} {}
};

// The hash selects the bucket; the canonical text decides.
struct ProgramCacheKey {
    uint64_t hash = 0;
    std::string canonical = {};

    bool operator==(const ProgramCacheKey&) const = default;
    std::strong_ordering operator<=>(const ProgramCacheKey&) const = default;
};

struct ProgramCacheKeyHasher {
    size_t operator()(const ProgramCacheKey& key) const { return static_cast<size_t>(key.hash); }
};

struct ProgramCache {
    bool contains(const ProgramCacheKey& program_key) const { return cache_.contains(program_key); }
    CachedProgramFactory& get(const ProgramCacheKey& program_key) { return cache_.at(program_key); }
    void insert(const ProgramCacheKey& program_key, CachedProgramFactory&& program) {
        cache_.emplace(program_key, std::move(program));
    }
    void enable() { is_enabled_ = true; }
    void disable() { is_enabled_ = false; }
    bool is_enabled() const { return is_enabled_; }
    void clear() { cache_.clear(); }
    size_t num_entries() const { return cache_.size(); }

private:
    bool is_enabled_ = true;
    std::unordered_map<ProgramCacheKey, CachedProgramFactory, ProgramCacheKeyHasher> cache_;
};

}  // namespace tt::tt_metal::program_cache::detail
