// SPDX-License-Identifier: Apache-2.0
//
// A small transformer with data parallelism: each device is a submesh with its own copy of the model. Weights and KV
// cache stay; prefill fills the program cache; decoding is captured as a trace and replayed.
#include <fmt/format.h>

#include <string>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {
namespace {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

constexpr int kLayers = 8;
constexpr uint64_t kHidden = 2048;
constexpr uint64_t kMlp = 5632;
constexpr uint64_t kContext = 4096;
constexpr uint64_t kVocabulary = 32'000;
constexpr uint64_t kDatum = 2;
constexpr RegionSizes kRegions{.l1_small = 32'768, .trace = 8'388'608};

struct Layer {
    std::vector<ops::Tensor> weights;
    std::vector<ops::Tensor> kv_cache;
};

class Model {
public:
    explicit Model(std::shared_ptr<MeshDevice> device) : device_(std::move(device)) {}

    void load_weights() {
        const ops::Scope model("model");
        {
            const ops::Scope scope("embedding");
            embedding_ = ops::empty(*device_, kVocabulary * kHidden * kDatum);
        }
        layers_.resize(kLayers);
        for (int index = 0; index < kLayers; ++index) {
            const ops::Scope layer(fmt::format("decoder.{}", index));
            add_weights(layers_[static_cast<size_t>(index)], "attention",
                        {3 * kHidden * kHidden, kHidden * kHidden});
            add_weights(layers_[static_cast<size_t>(index)], "mlp",
                        {kHidden * kMlp, kHidden * kMlp, kMlp * kHidden});
        }
        const ops::Scope scope("sampling");
        semaphores_ = ops::height_sharded(*device_, 4, 1, 1024, BufferType::L1_SMALL);
    }

    void make_kv_cache() {
        const ops::Scope model("model");
        for (size_t index = 0; index < layers_.size(); ++index) {
            const ops::Scope layer(fmt::format("decoder.{}", index));
            const ops::Scope scope("kv_cache");
            for (int half = 0; half < 2; ++half) {
                layers_[index].kv_cache.push_back(ops::empty(*device_, kContext * kHidden * kDatum));
            }
        }
    }

    void prefill() { forward("prefill", 1024); }

    void capture() {
        {
            const ops::Scope model("model");
            const ops::Scope scope("hidden_state");
            hidden_state_ = ops::empty(*device_, 32 * kHidden * kDatum, BufferType::L1);
        }
        forward("decode", 32);  // once without a trace, so that every program is loaded
        MeshCommandQueue& queue = device_->mesh_command_queue();
        const ops::Scope scope("trace");
        trace_ = device_->begin_mesh_trace(queue);
        forward("decode", 32);
        device_->end_mesh_trace(queue, *trace_);
    }

    void decode() {
        const ops::Scope model("model");
        const ops::Scope scope("logits");
        device_->replay_mesh_trace(device_->mesh_command_queue(), *trace_, false);
        outputs_.push_back(ops::empty(*device_, kVocabulary * 32 * kDatum));
    }

    void release_trace() { device_->release_mesh_trace(*trace_); }
    void clear_program_cache() { device_->clear_program_cache(); }

    void unload() {
        outputs_.clear();
        layers_.clear();
        embedding_.reset();
        hidden_state_.reset();
        semaphores_.reset();
    }

private:
    void add_weights(Layer& layer, const char* name, std::initializer_list<uint64_t> elements) {
        const ops::Scope scope(name);
        for (const uint64_t count : elements) {
            layer.weights.push_back(ops::empty(*device_, count * kDatum));
        }
    }

    void forward(const std::string& phase, uint64_t rows) {
        const ops::Scope model("model");
        for (size_t index = 0; index < layers_.size(); ++index) {
            const ops::Scope layer(fmt::format("decoder.{}", index));
            const auto activation = ops::empty(*device_, rows * kHidden * kDatum, BufferType::L1);
            operation(phase, "rms_norm", {8192, 4096});
            operation(phase, "qkv", {32'768, 65'536, 16'384});
            operation(phase, "attention", {65'536, 65'536, 16'384, 8192});
            const auto hidden = ops::empty(*device_, rows * kMlp * kDatum, BufferType::L1);
            operation(phase, "mlp", {65'536, 98'304, 32'768});
        }
    }

    // The same program for every layer: the cache gives it from the second one on.
    void operation(const std::string& phase, const char* name, std::vector<uint32_t> circular_buffers) {
        const ops::Scope scope(name);
        const CoreCoord grid = device_->compute_with_storage_grid_size();
        ops::run_program(*device_, {.name = phase + "_" + name,
                                    .cores = CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1)),
                                    .circular_buffers = std::move(circular_buffers),
                                    .kernels = {4096, 4096, 12'288}});
    }

    std::shared_ptr<MeshDevice> device_;
    ops::Tensor embedding_;
    ops::Tensor hidden_state_;
    ops::Tensor semaphores_;
    std::vector<Layer> layers_;
    std::vector<ops::Tensor> outputs_;
    std::optional<MeshTraceId> trace_;
};

}  // namespace

void run_transformer(Run& run) {
    const auto mesh = run.open_mesh(kRegions);
    run.step("open");
    std::vector<Model> models;
    for (auto& submesh : mesh->create_submeshes(MeshShape(1, 1))) {
        models.emplace_back(std::move(submesh));
    }
    const auto on_all = [&](void (Model::*what)(), std::string_view step) {
        for (Model& model : models) {
            (model.*what)();
        }
        run.step(step);
    };
    on_all(&Model::load_weights, "weights");
    on_all(&Model::make_kv_cache, "kv cache");
    on_all(&Model::prefill, "prefill");
    on_all(&Model::capture, "trace captured");
    on_all(&Model::decode, "decode 1");
    on_all(&Model::decode, "decode 2");
    on_all(&Model::decode, "decode 3");
    on_all(&Model::release_trace, "trace released");
    on_all(&Model::clear_program_cache, "program cache cleared");
    on_all(&Model::unload, "unloaded");
    models.clear();
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
