// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "impl/stand_in.hpp"

namespace tt::tt_metal {

class IGraphProcessor {
public:
    virtual void track_function_start(std::string_view /*function_name*/) {}
    virtual void track_function_end() {}
    virtual ~IGraphProcessor() = default;
};

// class GraphTracker { a comment with a brace
class GraphTracker {
public:
    static GraphTracker& instance();
    void track_allocate(const Buffer* buffer);
    void track_deallocate(Buffer* buffer);
    void track_allocate_cb(const CoreRangeSet& core_range_set, uint64_t addr, uint64_t size, bool is_globally_allocated,
                           const IDevice* device);

    template <class... Args>
    void track_function_start(std::string_view function_name, Args&&... /*args*/) {
        for (auto& it : processors) {
            it->track_function_start(function_name);
        }
    }
    void track_function_end() { if (processors.empty()) return; }
    template <class ReturnType>
    void track_function_end(ReturnType& /*output*/)
    {
        for (auto& it : processors) {
            it->track_function_end();
        }
    }

    bool hooks_allocations = false;

private:
    std::vector<std::shared_ptr<IGraphProcessor>> processors;
};

}  // namespace tt::tt_metal
