// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "trial_runner/replay/replay_runner.hpp"

namespace steptune::contract {
namespace {

/// A replayed trial exists only in its runner. It starts running when the runner asks the model for
/// its behaviour. It runs until its last event, or until the runner is destroyed.
class ReplayBench final : public RunnerBench {
 public:
  explicit ReplayBench(int parallel) : parallel_(parallel) {}

  [[nodiscard]] std::unique_ptr<Runner> make_runner() override {
    ReplayOptions options;
    options.parallel = parallel_;
    options.end_of = [](const TrialSpec& spec) -> std::optional<ReplayEnd> {
      if (!spec.configuration.contains("quick")) return std::nullopt;
      return ReplayEnd{OutcomeKind::completed, 10.0, 0, {}};
    };
    auto running = std::make_shared<std::set<TrialKey>>();
    running_ = running;
    return std::make_unique<ReplayRunner>(
        clock_,
        [running](const TrialSpec& spec) {
          running->insert(spec.key);
          ReplayBehaviour behaviour;
          behaviour.seconds_per_sample = 1.0;
          return behaviour;
        },
        options);
  }
  [[nodiscard]] double now_s() const override { return clock_.now_s(); }

  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override {
    TrialSpec spec = endless_trial(key);
    spec.configuration.set("quick", true);
    return spec;
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    TrialSpec spec;
    spec.key = key;
    return spec;
  }

  void on_event(const TrialEvent& event) override {
    const auto running = running_.lock();
    if (running && std::holds_alternative<TrialFinished>(event)) running->erase(key_of(event));
  }
  [[nodiscard]] bool is_running(TrialKey key) const override {
    const auto running = running_.lock();
    return running && running->contains(key);
  }

 private:
  int parallel_;
  VirtualClock clock_;
  std::weak_ptr<std::set<TrialKey>> running_;
};

std::unique_ptr<RunnerBench> make_replay_bench(int parallel) {
  return std::make_unique<ReplayBench>(parallel);
}

INSTANTIATE_TEST_SUITE_P(Replay, RunnerContract, testing::Values(BenchMaker{make_replay_bench}));

}  // namespace
}  // namespace steptune::contract
