// SPDX-License-Identifier: Apache-2.0
#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "tests/contract/shell_trials.hpp"
#include "trial_runner/local/local_runner.hpp"

namespace steptune::contract {
namespace {

class LocalBench final : public RunnerBench {
 public:
  explicit LocalBench(int parallel) {
    options_.parallel = parallel;
    options_.pin = false;  // the machine may have fewer CPUs than the test has trials
    options_.watchdog_program = STEPTUNE_BINARY_DIR "/bin/steptune-watchdog";
  }

  [[nodiscard]] std::unique_ptr<Runner> make_runner() override {
    auto made = make_local_runner(clock_, options_);
    if (made) return *std::move(made);
    ADD_FAILURE() << made.error().text();
    return nullptr;
  }
  [[nodiscard]] double now_s() const override { return clock_.now_s(); }

  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override {
    return shell_trials::quick(key);
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    return shell_trials::endless(key);
  }
  [[nodiscard]] bool is_running(TrialKey key) const override {
    return shell_trials::is_on_a_command_line(shell_trials::mark_of(key));
  }

 private:
  SystemClock clock_;
  LocalRunnerOptions options_;
};

std::unique_ptr<RunnerBench> make_local_bench(int parallel) {
  return std::make_unique<LocalBench>(parallel);
}

INSTANTIATE_TEST_SUITE_P(Local, RunnerContract, testing::Values(BenchMaker{make_local_bench}));

}  // namespace
}  // namespace steptune::contract
