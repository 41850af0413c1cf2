// SPDX-License-Identifier: Apache-2.0
#include "sim/testing/event_recorder.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <tt-metalium/mesh_device.hpp>

namespace event_recorder {
namespace {

using nlohmann::json;
using tt::tt_metal::Buffer;
using tt::tt_metal::BufferType;
using tt::tt_metal::CoreRangeSet;
using tt::tt_metal::IDevice;

std::mutex mutex;
std::string current_phase;
int sequence = 0;
thread_local const char* thread_name = "main";

void print(json line) {
    const std::lock_guard lock(mutex);
    line["seq"] = sequence++;
    line["phase"] = current_phase;
    line["thread"] = thread_name;
    std::puts(line.dump().c_str());
}

const char* type_name(BufferType type) {
    switch (type) {
        case BufferType::DRAM:
            return "DRAM";
        case BufferType::L1:
            return "L1";
        case BufferType::SYSTEM_MEMORY:
            return "SYSTEM_MEMORY";
        case BufferType::L1_SMALL:
            return "L1_SMALL";
        case BufferType::TRACE:
            return "TRACE";
    }
    return "?";
}

void describe(json& line, const IDevice* device) {
    line["device_id"] = device->id();
    const auto* mesh = dynamic_cast<const tt::tt_metal::distributed::MeshDevice*>(device);
    line["device_class"] = mesh != nullptr ? "MeshDevice" : "Device";
    if (mesh != nullptr) {
        line["mesh_physical_ids"] = mesh->get_device_ids();
    }
}

json describe(const char* event, const Buffer* buffer) {
    json line{{"event", event},
              {"address", buffer->address()},
              {"aligned_size", buffer->aligned_size()},
              {"aligned_size_per_bank", buffer->aligned_size_per_bank()},
              {"layout", static_cast<int>(buffer->buffer_layout())},
              {"page_size", buffer->page_size()},
              {"size", buffer->size()},
              {"type", type_name(buffer->buffer_type())},
              {"unique_id", buffer->unique_id()}};
    describe(line, buffer->device());
    return line;
}

class Processor final : public tt::tt_metal::IGraphProcessor {
public:
    void track_allocate(const Buffer* buffer) override { print(describe("allocate", buffer)); }
    void track_deallocate(Buffer* buffer) override { print(describe("deallocate", buffer)); }
    void track_allocate_cb(const CoreRangeSet& cores, uint64_t address, uint64_t size, bool global,
                           const IDevice* device) override {
        json line{{"event", "allocate_cb"},       {"address", address}, {"cores", cores.str()},
                  {"globally_allocated", global}, {"size", size},       {"num_cores", cores.num_cores()}};
        describe(line, device);
        print(std::move(line));
    }
    void track_deallocate_cb(const IDevice* device) override {
        json line{{"event", "deallocate_cb"}};
        describe(line, device);
        print(std::move(line));
    }
};

}  // namespace

std::shared_ptr<tt::tt_metal::IGraphProcessor> make_processor() { return std::make_shared<Processor>(); }

void phase(std::string_view name) {
    {
        const std::lock_guard lock(mutex);
        current_phase = name;
    }
    print({{"event", "--phase"}});
    // Lets a test inspect the process: continues at the next line of input, or at its end.
    if (std::getenv("RECORD_EVENTS_PAUSE") != nullptr) {
        std::fflush(stdout);
        for (int c = std::getchar(); c != '\n' && c != EOF; c = std::getchar()) {
        }
    }
}

void name_thread(const char* name) { thread_name = name; }

}  // namespace event_recorder
