// SPDX-License-Identifier: Apache-2.0
// Instantiates the runners' contract on a real Slurm: run under tests/slurm/with-slurm.
#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "tests/contract/shell_trials.hpp"
#include "tests/slurm/slurm_world.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"

namespace steptune::contract {
namespace {

class SlurmBench final : public RunnerBench {
 public:
  explicit SlurmBench(int parallel) {
    options_.parallel = parallel;
    options_.usd_per_node_hour = slurm::NodePrices(3.6);
    options_.default_time_s = 7200.0;
  }
  SlurmBench(const SlurmBench&) = delete;
  SlurmBench& operator=(const SlurmBench&) = delete;
  ~SlurmBench() override { slurm::cancel_all_jobs(); }

  [[nodiscard]] std::unique_ptr<Runner> make_runner() override {
    return slurm::make_test_runner(clock_, folder_.path(), options_);
  }
  [[nodiscard]] double now_s() const override { return clock_.now_s(); }
  [[nodiscard]] double a_while_s() const override { return 2.0; }

  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override {
    return on_a_node(shell_trials::quick(key));
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    return on_a_node(shell_trials::endless(key));
  }

  [[nodiscard]] bool is_running(TrialKey key) const override {
    return shell_trials::is_on_a_command_line(shell_trials::mark_of(key));
  }
  [[nodiscard]] bool holds_machines() const override { return !slurm::queue_becomes_empty(2.0); }

 private:
  static TrialSpec on_a_node(TrialSpec spec) {
    spec.resources = slurm::to_resources({});
    spec.limits.grace_s = 2.0;
    return spec;
  }

  SystemClock clock_;
  TemporaryFolder folder_{"slurm"};
  slurm::SlurmOptions options_;
};

std::unique_ptr<RunnerBench> make_slurm_bench(int parallel) {
  return std::make_unique<SlurmBench>(parallel);
}

INSTANTIATE_TEST_SUITE_P(Slurm, RunnerContract, testing::Values(BenchMaker{make_slurm_bench}));
INSTANTIATE_TEST_SUITE_P(Slurm, MachineHolderContract,
                         testing::Values(BenchMaker{make_slurm_bench}));

}  // namespace
}  // namespace steptune::contract
