// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "trial_runner/sagemaker/simulated_account/account_connection.hpp"

namespace steptune::contract {
namespace {

simulated::SimulatedProgram program_of(const Json& input) {
  simulated::SimulatedProgram program;
  program.step_s = 1.0;
  if (input.value("HyperParameters", Json::object()).contains("quick")) program.ends_after_s = 10.0;
  return program;
}

class SageMakerBench final : public RunnerBench {
 public:
  explicit SageMakerBench(int parallel) : connection_(clock_, program_of, account()) {
    SageMakerOptions& options = options_;
    options.settings.role_arn = "arn:aws:iam::123456789012:role/training";
    options.settings.image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1";
    options.settings.output_s3_uri = "s3://bucket/out";
    options.prices.instances["ml.g5.xlarge"].usd_per_hour = 1.408;
    options.parallel = parallel;
    options.backlog = parallel + 1;
  }

  [[nodiscard]] std::unique_ptr<Runner> make_runner() override {
    return connection_.make_runner(options_);
  }
  [[nodiscard]] double now_s() const override { return clock_.now_s(); }
  [[nodiscard]] double patience_s() const override { return 3600.0; }

  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override {
    TrialSpec spec = endless_trial(key);
    spec.configuration.set("quick", true);
    return spec;
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    TrialSpec spec;
    spec.key = key;
    spec.study = "contract";
    spec.argv = {"python3", "train.py"};
    spec.resources.instance_type = "ml.g5.xlarge";
    return spec;
  }

  [[nodiscard]] bool is_running(TrialKey key) const override {
    const std::string name = fmt::format("-t{}-a{}", key.trial, key.attempt);
    return std::ranges::any_of(connection_.account().audit().jobs, [&](const auto& job) {
      return job.name.ends_with(name) && !is_over(job.status);
    });
  }
  [[nodiscard]] bool holds_machines() const override {
    const simulated::AccountAudit audit = connection_.account().audit();
    return std::ranges::any_of(audit.jobs, [](const auto& job) { return !is_over(job.status); }) ||
           std::ranges::any_of(audit.pools, [](const auto& pool) {
             return pool.status == "Available" || pool.status == "InUse";
           });
  }

 private:
  static bool is_over(const std::string& status) {
    return status == "Completed" || status == "Failed" || status == "Stopped";
  }
  static simulated::AccountOptions account() {
    simulated::AccountOptions options;
    options.warm_pool_quota = {{"*", 4}};
    return options;
  }

  VirtualClock clock_{1'795'000'000.0};
  mutable simulated::AccountConnection connection_;  ///< looking at it advances its time
  SageMakerOptions options_;
};

std::unique_ptr<RunnerBench> make_sagemaker_bench(int parallel) {
  return std::make_unique<SageMakerBench>(parallel);
}

INSTANTIATE_TEST_SUITE_P(SageMaker, RunnerContract,
                         testing::Values(BenchMaker{make_sagemaker_bench}));
INSTANTIATE_TEST_SUITE_P(SageMaker, MachineHolderContract,
                         testing::Values(BenchMaker{make_sagemaker_bench}));

}  // namespace
}  // namespace steptune::contract
