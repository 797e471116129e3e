// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/machine_holder.hpp"
#include "trial_runner/notices.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/job_monitor.hpp"
#include "trial_runner/sagemaker/job_packing.hpp"
#include "trial_runner/sagemaker/outage.hpp"
#include "trial_runner/sagemaker/sagemaker_options.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"
#include "trial_runner/sagemaker/trial_job.hpp"
#include "trial_runner/sagemaker/utilisation_watch.hpp"
#include "trial_runner/sagemaker/warm_pools.hpp"

namespace steptune {

/// Services that the runner calls. All objects outlive the runner.
struct SageMakerConnection {
  aws::JsonClient& client;
  aws::JsonService sagemaker;
  aws::JsonService logs;
  aws::WaitUntil wait_until;
  std::optional<aws::JsonService> cloudwatch{};  ///< nullopt: no advice on instance types
};

/// Runs trials as SageMaker training jobs. A job's name is made from the study, the trial and the
/// attempt. So a lost answer or a dead tuner never leads to a second job. Trials reuse instances
/// that earlier trials left warm, and start in an order that reuses most instances. The runner
/// releases pools as soon as no trial will use them. It polls the jobs' states and reads their
/// output from CloudWatch Logs. All requests stay below the account's rates. After `stop`, the
/// service lets the program run for up to 120 s more. A job that runs several trials is stopped
/// after a stop was requested for all of its unfinished trials. `kill_all` stops trials in the same
/// way, because the service has no faster one.
class SageMakerRunner final : public Runner, public MachineHolder {
 public:
  /// `clock` outlives the runner.
  SageMakerRunner(const Clock& clock, SageMakerConnection connection, SageMakerOptions options);
  SageMakerRunner(const SageMakerRunner&) = delete;
  SageMakerRunner& operator=(const SageMakerRunner&) = delete;

  /// Makes the first requests, and finds warm pools of an earlier tuner.
  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return options_.parallel; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;
  [[nodiscard]] MachineHolder& machine_holder() override { return *this; }

  [[nodiscard]] int backlog() const override {
    return std::max(options_.parallel * options_.trials_per_job, options_.backlog);
  }
  [[nodiscard]] int open_places() const override;
  [[nodiscard]] int trials_in_turn() const override { return options_.trials_per_job; }
  [[nodiscard]] double expected_start_s(const Resources& resources) const override;
  /// Returns the trials that wait until their next request may be sent, after a refusal (quota,
  /// missing capacity) or a failure.
  [[nodiscard]] std::vector<TrialKey> trials_without_machine() const override;
  void expect_at_most(std::int64_t further_trials) override { further_trials_ = further_trials; }
  [[nodiscard]] Result<void> release(double longest_s) override;
  [[nodiscard]] Result<std::string> detach() override;
  [[nodiscard]] std::vector<UnusedTime> take_unused() override { return pools_.take_unused(); }
  [[nodiscard]] std::vector<Notice> take_notices() override { return notices_.take(); }

 private:
  [[nodiscard]] Result<TrialJob> make_job(const TrialSpec& spec) const;
  [[nodiscard]] Result<void> find_earlier_pools();

  /// Carries out each task that is due, once.
  [[nodiscard]] Result<void> advance();
  [[nodiscard]] double next_due_s() const;
  /// Carries out the next decision about waiting trials (`next_pool_decision`). Returns false if no
  /// trial can start and no pool was released.
  [[nodiscard]] Result<bool> start_next();
  [[nodiscard]] Result<void> request(JobTrials pack, std::optional<std::string> pool_job);
  /// Reads the Python hook if the trial uses it and it was not read yet.
  [[nodiscard]] Result<void> read_hook(const TrialSpec& spec);
  [[nodiscard]] Result<void> on_refused(const JobTrials& pack, const aws::AwsError& error);
  /// True if a future trial may use a pool, or a waiting trial that is not in `except`.
  [[nodiscard]] bool pools_are_wanted(const JobTrials& except = {}) const;
  void finish_ended_jobs();
  void give_up(TrialJobs::iterator job, OutcomeKind kind, std::string detail);

  void watch_utilisation(const TrialJob& job);
  void take_advice(bool last);
  void add_leftover_notices();

  const Clock& clock_;
  SageMakerOptions options_;
  SageMakerConnection connection_;
  Admission admission_;
  Notices notices_;
  Outage outage_;
  TrainingJobs api_;
  WarmPools pools_;
  JobMonitor monitor_;
  std::optional<UtilisationWatch> utilisation_;
  std::string prefix_;  ///< prefix of job names
  std::string hook_;    ///< packed Python hook; empty: not read yet
  TrialJobs jobs_;      ///< unfinished trials
  std::vector<TrialEvent> events_;
  std::optional<std::int64_t> further_trials_;
};

}  // namespace steptune
