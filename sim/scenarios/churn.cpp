// SPDX-License-Identifier: Apache-2.0
//
// Load: each thread keeps N tensors alive and replaces them one by one at the requested rate.
#include <fmt/format.h>

#include <chrono>
#include <random>
#include <thread>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {
namespace {

using Clock = std::chrono::steady_clock;

class Worker {
public:
    Worker(ops::MeshDevice& mesh, uint64_t seed, const ChurnSettings& settings)
        : mesh_(mesh), random_(seed), settings_(settings) {}

    void fill() {
        while (tensors_.size() < settings_.live) {
            tensors_.push_back(make());
        }
    }

    void work_until(Clock::time_point end) {
        const Clock::time_point start = Clock::now();
        while (Clock::now() < end && !tensors_.empty()) {
            ops::Tensor& victim = tensors_[random_() % tensors_.size()];
            victim.reset();
            victim = make();
            events_ += 2;
            if (settings_.rate != 0) {
                const std::chrono::duration<double> due(static_cast<double>(events_) /
                                                        static_cast<double>(settings_.rate));
                std::this_thread::sleep_until(
                    std::min(end, start + std::chrono::duration_cast<Clock::duration>(due)));
            }
        }
    }

    void drain() { tensors_.clear(); }
    uint64_t events() const { return events_; }

private:
    ops::Tensor make() { return ops::empty(mesh_, (1 + random_() % 16) * ops::kTilePage); }

    ops::MeshDevice& mesh_;
    std::mt19937_64 random_;
    const ChurnSettings& settings_;
    std::vector<ops::Tensor> tensors_;
    uint64_t events_ = 0;
};

template <typename Work>
void on_threads(std::vector<Worker>& workers, const Work& work) {
    std::vector<std::thread> threads;
    for (size_t index = 0; index < workers.size(); ++index) {
        threads.emplace_back([&, index] {
            const ops::Scope scope(fmt::format("churn.{}", index));
            work(workers[index]);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace

void run_churn(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    std::vector<Worker> workers;
    for (uint32_t index = 0; index < run.churn().threads; ++index) {
        workers.emplace_back(*mesh, run.random()(), run.churn());
    }
    on_threads(workers, [](Worker& worker) { worker.fill(); });
    run.step("filled");
    const auto length =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(run.churn().seconds));
    const Clock::time_point end = Clock::now() + length;
    on_threads(workers, [end](Worker& worker) { worker.work_until(end); });
    uint64_t events = 0;
    for (const Worker& worker : workers) {
        events += worker.events();
    }
    fmt::print("{} events in {} s\n", events, run.churn().seconds);
    run.step("churned");
    on_threads(workers, [](Worker& worker) { worker.drain(); });
    run.step("drained");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
