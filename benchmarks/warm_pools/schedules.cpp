// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/warm_pools/schedules.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "common/rng.hpp"
#include "common/text.hpp"
#include "trial_runner/sagemaker/job_request.hpp"
#include "trial_runner/sagemaker/simulated_account/account_connection.hpp"

namespace steptune::bench {
namespace {

constexpr int k_naive_keep_alive_s = 300;
constexpr double k_naive_poll_s = 5.0;

JobSettings settings() {
  JobSettings settings;
  settings.role_arn = "arn:aws:iam::123456789012:role/training";
  settings.image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1";
  settings.output_s3_uri = "s3://bucket/out";
  settings.channels.push_back({});
  settings.channels.back().name = "train";
  settings.channels.back().s3_uri = "s3://bucket/train/";
  return settings;
}

TrialSpec trial_spec(const Workload& workload, std::size_t index) {
  TrialSpec spec;
  spec.key.trial = static_cast<std::int64_t>(index) + 1;
  spec.study = "warm-pools";
  spec.argv = {"train"};
  spec.configuration.set("seconds", workload.training_s[index]);
  spec.resources.instance_type = workload.instance_types[index];
  return spec;
}

simulated::SimulatedProgram program_of(const Json& input) {
  simulated::SimulatedProgram program;
  program.step_s = 1.0;
  program.ends_after_s = parse_finite(input["HyperParameters"]["seconds"].get<std::string>());
  return program;
}

simulated::AccountOptions account_of(const Workload& workload) {
  simulated::AccountOptions account;
  account.training_quota = {{"*", workload.pools}};
  account.warm_pool_quota = {{"*", workload.pools}};
  return account;
}

template <typename Value>
void must(const Value& value) {
  if (!value) throw std::runtime_error("the simulated account refused a request");
}

void play_ours(const Workload& workload, simulated::AccountConnection& connection) {
  SageMakerOptions options;
  options.settings = settings();
  for (const std::string& type : workload.instance_types)
    options.prices.instances[type].usd_per_hour = 1.0;
  options.parallel = workload.pools;
  options.backlog = static_cast<int>(workload.instance_types.size());
  const auto runner = connection.make_runner(options);
  must(runner->begin_study("warm-pools", "1"));
  runner->expect_at_most(0);
  std::size_t left = workload.instance_types.size();
  for (std::size_t index = 0; index < workload.instance_types.size(); ++index)
    must(runner->start(trial_spec(workload, index)));
  while (left > 0) {
    const auto events = runner->wait(1e9);
    must(events);
    for (const TrialEvent& event : *events)
      left -= std::holds_alternative<TrialFinished>(event) ? 1U : 0U;
  }
  must(runner->release(240.0));
}

/// Submits a job, polls every few seconds, and submits the next, as users do.
void play_naively(const Workload& workload, simulated::AccountConnection& connection,
                  VirtualClock& clock, int keep_alive_s) {
  TrainingJobs jobs(connection.client(), connection.services().sagemaker);
  std::set<std::string> running;
  std::size_t next = 0;
  while (next < workload.instance_types.size() || !running.empty()) {
    while (next < workload.instance_types.size() &&
           running.size() < static_cast<std::size_t>(workload.pools)) {
      const TrialSpec spec = trial_spec(workload, next);
      const std::string name = fmt::format("naive-{}", next);
      const auto created =
          jobs.create(create_training_job_input(settings(), {name, spec, keep_alive_s}));
      // A kept pool still uses the quota, so wait until it ends.
      if (!created && created.error().code == "ResourceLimitExceeded") break;
      must(created);
      running.insert(name);
      ++next;
    }
    clock.advance_to(clock.now_s() + k_naive_poll_s);
    std::erase_if(running, [&](const std::string& name) {
      const auto state = jobs.describe(name);
      must(state);
      return *state && (*state)->ended();
    });
  }
}

double stage_s(const simulated::JobAudit& job, const std::string& stage) {
  double sum_s = 0.0;
  for (const auto& transition : job.transitions) {
    if (transition.status == stage && transition.end_s)
      sum_s += *transition.end_s - transition.start_s;
  }
  return sum_s;
}

PoolFigures figures_of(const Workload& workload, const simulated::AccountAudit& audit) {
  const simulated::StageTimes stages;
  PoolFigures figures;
  for (const double seconds : workload.training_s)
    figures.training_s += seconds;
  double billed_s = 0.0;
  for (const auto& job : audit.jobs) {
    billed_s += job.billed_s;
    const double start_s = stage_s(job, "Starting") + stage_s(job, "Downloading") +
                           (job.warm ? 0.0 : stages.image_download_s);
    double& mean_s = job.warm ? figures.mean_warm_start_s : figures.mean_cold_start_s;
    int& count = job.warm ? figures.warm_starts : figures.cold_starts;
    mean_s += (start_s - mean_s) / ++count;
  }
  for (const auto& pool : audit.pools)
    billed_s += pool.retained_s;
  figures.other_billed_s = billed_s - figures.training_s;
  figures.duration_s = audit.now_s;

  const std::set<std::string> types(workload.instance_types.begin(), workload.instance_types.end());
  const auto least_cold = static_cast<double>(
      std::max<std::size_t>(types.size(), static_cast<std::size_t>(workload.pools)));
  const auto trials = static_cast<double>(workload.instance_types.size());
  figures.least_other_s = trials * (stages.download_s.at("FastFile") + stages.upload_s) +
                          least_cold * stages.image_download_s;
  return figures;
}

}  // namespace

Workload make_workload(int trials, int types, int pools, std::uint64_t seed) {
  static const std::vector<std::string> k_types{"ml.g5.xlarge", "ml.g4dn.xlarge", "ml.m5.xlarge"};
  Workload workload;
  workload.pools = pools;
  Rng rng(seed, "workload");
  for (int trial = 0; trial < trials; ++trial) {
    workload.instance_types.push_back(k_types.at(static_cast<std::size_t>(trial % types)));
    workload.training_s.push_back(30.0 + 60.0 * rng.uniform());
  }
  for (std::size_t last = workload.instance_types.size() - 1; last > 0; --last)
    std::swap(workload.instance_types[last], workload.instance_types[rng.below(last + 1)]);
  return workload;
}

PoolFigures play(const Workload& workload, Policy policy) {
  VirtualClock clock(1'795'000'000.0);
  simulated::AccountConnection connection(clock, program_of, account_of(workload));
  if (policy == Policy::ours) {
    play_ours(workload, connection);
  } else {
    play_naively(workload, connection, clock,
                 policy == Policy::unordered ? k_naive_keep_alive_s : 0);
  }
  connection.account().advance_until_quiet(clock.now_s() + 86'400.0);
  return figures_of(workload, connection.account().audit());
}

}  // namespace steptune::bench
