// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_stage.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/sagemaker/simulated_account/account_connection.hpp"

namespace steptune {
namespace {

constexpr double k_step_noise = 0.03;
constexpr double k_stage_jitter = 0.2;
/// Quotas are for real runs to meet.
constexpr int k_quota = 1000;
/// No pool is kept for longer than this once nothing is asked of it.
constexpr double k_settle_s = 86'400.0;

using Prices = std::map<std::string, InstanceType>;

simulated::ProgramModel program_model(RehearsalOptions options) {
  return [options = std::move(options)](const Json& input) {
    std::map<std::string, std::string> values;
    const auto hyperparameters = input.find("HyperParameters");
    if (hyperparameters != input.end()) {
      for (const auto& [name, value] : hyperparameters->items()) {
        if (value.is_string()) values[name] = value.get<std::string>();
      }
    }
    const SimulatedTraining training = options.training(values);
    simulated::SimulatedProgram program;
    program.startup_s = training.startup_s;
    program.samples_per_step = training.samples_per_step;
    program.step_s = training.step_s;
    program.noise.step = k_step_noise;
    return program;
  };
}

simulated::AccountOptions account_of(const SageMakerSection& section, std::uint64_t seed) {
  simulated::AccountOptions account;
  account.seed = seed;
  account.stages.jitter = k_stage_jitter;
  account.training_quota = {{"*", k_quota}};
  account.warm_pool_quota = {{"*", k_quota}};
  account.spot_billed_share = section.spot_share;
  account.instances = section.instances.paid();
  return account;
}

double usd_per_s(const Prices& prices, const std::string& type, int count) {
  const auto found = prices.find(type);
  return found == prices.end() ? 0.0 : usage_usd(found->second.usd_per_hour * count, 1.0);
}

double training_s(const simulated::JobAudit& job) {
  double sum_s = 0.0;
  for (const auto& stage : job.transitions) {
    if (stage.status == "Training" && stage.end_s) sum_s += *stage.end_s - stage.start_s;
  }
  return std::min(job.billed_s, sum_s);
}

/// The bill as the account itself would make it out.
RehearsalBill bill_of(const simulated::AccountAudit& audit, const Prices& prices) {
  RehearsalBill bill;
  for (const simulated::JobAudit& job : audit.jobs) {
    ++(job.warm ? bill.warm_starts : bill.cold_starts);
    for (const auto& [type, count] : job.instances) {
      bill.usd += job.billed_s * usd_per_s(prices, type, count);
      bill.not_training_usd += (job.billed_s - training_s(job)) * usd_per_s(prices, type, count);
    }
  }
  for (const simulated::PoolAudit& pool : audit.pools) {
    const double usd = pool.retained_s * usd_per_s(prices, pool.instance_type, pool.instances);
    bill.usd += usd;
    bill.not_training_usd += usd;
  }
  return bill;
}

class SageMakerStage final : public RehearsalStage {
 public:
  SageMakerStage(const SageMakerSettings& settings, const RehearsalOptions& options)
      : prices_(settings.section().instances.paid()),
        clock_(options.wall_time_s),
        account_(clock_, program_model(options), account_of(settings.section(), options.seed)),
        runner_(account_.make_runner(settings.options())) {}

  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Runner& runner() override { return *runner_; }
  [[nodiscard]] RehearsalBill settle() override {
    account_.account().advance_until_quiet(clock_.now_s() + k_settle_s);
    return bill_of(account_.account().audit(), prices_);
  }

 private:
  Prices prices_;
  VirtualClock clock_;
  simulated::AccountConnection account_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace

std::unique_ptr<RehearsalStage> make_simulated_stage(const SageMakerSettings& settings,
                                                     const RehearsalOptions& options) {
  return std::make_unique<SageMakerStage>(settings, options);
}

}  // namespace steptune
