// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_stage.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/units.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/sagemaker/simulated_account/account_connection.hpp"

namespace steptune {
namespace {

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
    program.noise.step = k_rehearsed_step_noise;
    return program;
  };
}

simulated::AccountOptions account_of(const SageMakerSection& section, std::uint64_t seed) {
  simulated::AccountOptions account;
  account.seed = seed;
  account.stages.jitter = 0.2;
  // Quotas differ between real accounts, so a rehearsal has none.
  account.training_quota = {{"*", std::numeric_limits<int>::max()}};
  account.warm_pool_quota = account.training_quota;
  account.spot_billed_share = section.job.spot_share;
  account.instances = section.instances.paid();
  return account;
}

double usd_per_s(const Prices& prices, const std::string& type, int count) {
  const auto found = prices.find(type);
  return found == prices.end() ? 0.0 : usage_usd(found->second.usd_per_hour * count, 1.0);
}

double end_s(const simulated::JobAudit& job) {
  double latest_s = job.created_s;
  for (const auto& stage : job.transitions)
    latest_s = std::max({latest_s, stage.start_s, stage.end_s.value_or(stage.start_s)});
  return latest_s;
}

double training_s(const simulated::JobAudit& job) {
  double sum_s = 0.0;
  for (const auto& stage : job.transitions) {
    if (stage.status == "Training" && stage.end_s) sum_s += *stage.end_s - stage.start_s;
  }
  return std::min(job.billed_s, sum_s);
}

/// Adds a job's lowest possible cost to `least`. The bound assumes that only the first job of each
/// kind of machine starts cold.
void add_least(const simulated::JobAudit& job, const simulated::StageTimes& stages, double price,
               std::set<std::string>& kinds, LeastBill& least) {
  std::string kind;
  for (const auto& [type, count] : job.instances)
    kind += fmt::format("{} {} ", type, count);
  const bool is_first = kinds.insert(kind).second;
  const double image_s = job.warm || is_first ? 0.0 : stages.image_download_s;
  const double start_s =
      job.warm || is_first ? 0.0 : stages.cold_start_s - stages.warm_start_s + image_s;
  least.usd += (job.billed_s - image_s) * price;
  least.not_training_usd += (job.billed_s - training_s(job)) * price;
  least.cold_starts += is_first ? 1 : 0;
  least.duration_s += end_s(job) - job.created_s - start_s + stages.pool_ready_s;
}

/// Returns the bill that the account would issue.
RehearsalBill bill_of(const simulated::AccountAudit& audit, const Prices& prices,
                      const simulated::StageTimes& stages) {
  RehearsalBill bill;
  LeastBill least;
  std::set<std::string> kinds;
  for (const simulated::JobAudit& job : audit.jobs) {
    ++(job.warm ? bill.warm_starts : bill.cold_starts);
    double price = 0.0;
    for (const auto& [type, count] : job.instances)
      price += usd_per_s(prices, type, count);
    const double image_s = job.warm ? 0.0 : stages.image_download_s;
    const double program_s = std::max(0.0, training_s(job) - image_s);
    bill.usd += job.billed_s * price;
    bill.not_training_usd += (job.billed_s - training_s(job)) * price;
    bill.training_s += program_s;
    bill.starting_s += std::max(0.0, end_s(job) - job.created_s - program_s - stages.upload_s);
    add_least(job, stages, price, kinds, least);
  }
  for (const simulated::PoolAudit& pool : audit.pools) {
    const double usd = pool.retained_s * usd_per_s(prices, pool.instance_type, pool.instances);
    bill.usd += usd;
    bill.not_training_usd += usd;
  }
  bill.least = least;
  return bill;
}

class SageMakerStage final : public RehearsalStage {
 public:
  SageMakerStage(const SageMakerSettings& settings, const RehearsalOptions& options)
      : prices_(settings.section().instances.paid()),
        stages_(account_of(settings.section(), options.seed).stages),
        clock_(options.wall_time_s),
        account_(clock_, program_model(options), account_of(settings.section(), options.seed)),
        runner_(account_.make_runner(settings.options())) {}

  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Runner& runner() override { return *runner_; }
  [[nodiscard]] RehearsalBill settle() override {
    // Without requests, no pool lasts longer than a day.
    account_.account().advance_until_quiet(clock_.now_s() + k_day_s);
    return bill_of(account_.account().audit(), prices_, stages_);
  }

 private:
  Prices prices_;
  simulated::StageTimes stages_;
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
