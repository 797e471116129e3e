// SPDX-License-Identifier: Apache-2.0
#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "trial_runner/local/local_runner.hpp"

namespace steptune::contract {
namespace {

class LocalBench final : public RunnerBench {
 public:
  explicit LocalBench(int parallel) {
    LocalRunnerOptions options;
    options.parallel = parallel;
    options.pin = false;  // the machine may have fewer CPUs than the test has trials
    options.guard_program = STEPTUNE_BINARY_DIR "/bin/steptune-guard";
    auto made = make_local_runner(clock_, options);
    if (made) {
      runner_ = *std::move(made);
    } else {
      ADD_FAILURE() << made.error().text();
    }
  }

  [[nodiscard]] Runner& runner() override { return *runner_; }
  [[nodiscard]] double now_s() const override { return clock_.now_s(); }

  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override {
    return shell_trial(key, k_reports);
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    std::string script = k_reports;
    script += "exec sleep 1000\n";
    return shell_trial(key, script);
  }

 private:
  static constexpr const char* k_reports =
      "echo '[steptune] {\"v\":1,\"step\":1}'\n"
      "echo '[steptune] {\"v\":1,\"step\":2}'\n";

  static TrialSpec shell_trial(TrialKey key, const std::string& script) {
    TrialSpec spec;
    spec.key = key;
    spec.argv = {"/bin/sh", "-c", script};
    return spec;
  }

  SystemClock clock_;
  std::unique_ptr<Runner> runner_;
};

std::unique_ptr<RunnerBench> make_local_bench(int parallel) {
  return std::make_unique<LocalBench>(parallel);
}

INSTANTIATE_TEST_SUITE_P(Local, RunnerContract, testing::Values(BenchMaker{make_local_bench}));

}  // namespace
}  // namespace steptune::contract
