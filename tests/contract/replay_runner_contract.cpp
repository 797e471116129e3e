// SPDX-License-Identifier: Apache-2.0
#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "trial_runner/replay/replay_runner.hpp"

namespace steptune::contract {
namespace {

class ReplayBench final : public RunnerBench {
 public:
  explicit ReplayBench(int parallel) {
    ReplayOptions options;
    options.parallel = parallel;
    options.end_of = [](const TrialSpec& spec) -> std::optional<ReplayEnd> {
      if (!spec.configuration.contains("quick")) return std::nullopt;
      return ReplayEnd{OutcomeKind::completed, 10.0, 0, {}};
    };
    runner_ = std::make_unique<ReplayRunner>(
        clock_, synthetic_replay_model([](const Configuration&) { return 1.0; }), options);
  }

  [[nodiscard]] Runner& runner() override { return *runner_; }
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

 private:
  VirtualClock clock_;
  std::unique_ptr<Runner> runner_;
};

std::unique_ptr<RunnerBench> make_replay_bench(int parallel) {
  return std::make_unique<ReplayBench>(parallel);
}

INSTANTIATE_TEST_SUITE_P(Replay, RunnerContract, testing::Values(BenchMaker{make_replay_bench}));

}  // namespace
}  // namespace steptune::contract
