// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/cost/price_table.hpp"
#include "trial_runner/machine_holder.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/job_in_flight.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"
#include "trial_runner/sagemaker/start_times.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"
#include "trial_runner/sagemaker/utilisation_watch.hpp"
#include "trial_runner/sagemaker/warm_pools.hpp"

namespace steptune {

struct SageMakerOptions {
  JobSettings settings;
  PriceTable prices;  ///< knows every type that trials may ask for
  PriceTable types;   ///< what else there is, for advice
  int parallel = 1;   ///< sets of instances held at a time, kept ones included
  int backlog = 1;    ///< trials that may be handed over at a time; at least `parallel`
  /// The longest that a pool outlives a tuner that dies; 0: no warm pools. While the tuner lives,
  /// it decides.
  int keep_alive_s = 300;
  double idle_pool_s = 30.0;  ///< a pool that nothing was found for is given back after this
  double look_s = 5.0;        ///< between looks at running jobs
  double close_look_s = 0.5;  ///< between looks at what is about to end or to come free
  double read_logs_s = 5.0;
  double log_delay_s = 10.0;      ///< that a program's last lines may be late
  double quota_wait_s = 30.0;     ///< before a job that met a quota is tried again
  double capacity_wait_s = 60.0;  ///< likewise for capacity; doubles each time
  int capacity_attempts = 4;
  double longest_outage_s = 900.0;  ///< of the service, before `wait` fails
};

/// What the runner reaches SageMaker with; all outlive it.
struct SageMakerConnection {
  aws::JsonClient& client;
  aws::JsonService sagemaker;
  aws::JsonService logs;
  aws::WaitUntil wait_until;
  std::optional<aws::JsonService> cloudwatch{};  ///< nothing: no advice on instance types
};

/// Trials as SageMaker training jobs. A trial becomes a job whose name follows from study, trial
/// and attempt, so that a request whose answer was lost, or a tuner that died, never makes a second
/// one. Trials go onto instances that earlier ones have left warm, in an order that reuses most;
/// pools are given back as soon as nothing will use them. State is polled, output followed through
/// CloudWatch Logs; all requests stay under the account's rates. `stop` asks the service, which
/// gives the program up to 120 s; there is no faster way, so `kill_all` is `stop` for all. Jobs
/// survive the runner's destruction.
class SageMakerRunner final : public Runner, public MachineHolder {
 public:
  /// `clock` outlives the runner.
  SageMakerRunner(const Clock& clock, SageMakerConnection connection, SageMakerOptions options);

  /// Makes the first requests: finds warm pools that an earlier tuner has left.
  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return options_.parallel; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;
  [[nodiscard]] MachineHolder* machine_holder() override { return this; }

  [[nodiscard]] int backlog() const override;
  [[nodiscard]] double expected_start_s(const Resources& resources) const override;
  [[nodiscard]] Result<std::string> detach() override;
  void expect_at_most(std::int64_t further_trials) override { further_trials_ = further_trials; }
  [[nodiscard]] Result<void> release(double longest_s) override;
  [[nodiscard]] double take_overhead_usd() override;
  [[nodiscard]] std::vector<std::string> take_notices() override;

 private:
  using Jobs = std::list<JobInFlight>;

  [[nodiscard]] Result<JobInFlight> make_job(const TrialSpec& spec) const;
  [[nodiscard]] double wall_to_clock(double wall_s) const;
  void notice(std::string message);
  void notice_once(const std::string& topic, std::string message);

  void tell_what_is_left();

  /// One round of everything that is due.
  [[nodiscard]] Result<void> advance();
  [[nodiscard]] double next_due_s() const;

  // sagemaker_jobs.cpp: jobs from request to end.
  [[nodiscard]] Result<bool> start_next();
  [[nodiscard]] Result<void> submit(JobInFlight& job);
  [[nodiscard]] Result<void> on_refused(JobInFlight& job, const aws::AwsError& error);
  [[nodiscard]] Result<void> look_at_jobs();
  [[nodiscard]] Result<void> look_at(JobInFlight& job);
  void on_job_ended(JobInFlight& job, const JobState& state);
  [[nodiscard]] bool launch_again(JobInFlight& job, const JobState& state);
  [[nodiscard]] Result<void> read_logs();
  void end_silent_jobs();
  void finish_jobs();
  void watch_utilisation(const JobInFlight& job);
  void take_advice(bool last);
  void finish(Jobs::iterator job, Outcome outcome);
  void request_stop(JobInFlight& job, JobEndRequest request);

  // sagemaker_pools.cpp: what jobs leave behind.
  [[nodiscard]] int keep_alive_for(const JobInFlight& job) const;
  [[nodiscard]] Result<void> check_reuse(JobInFlight& job);
  [[nodiscard]] Result<void> look_at_pools();
  [[nodiscard]] Result<void> look_at(WarmPool& pool, bool& gone);
  [[nodiscard]] Result<void> release_surplus();
  [[nodiscard]] Result<void> release_pool(const std::string& job);
  [[nodiscard]] Result<void> find_former_pools();

  /// A request that failed: an outage is waited out, anything else is an error.
  [[nodiscard]] Result<void> bear(const aws::AwsError& error);
  void answered() { outage_since_s_.reset(); }

  const Clock& clock_;
  SageMakerOptions options_;
  Admission admission_;
  TrainingJobs jobs_api_;
  SageMakerConnection connection_;
  std::string prefix_;  ///< of job names; empty until the study is known
  std::optional<LogFollower> logs_;
  std::optional<UtilisationWatch> utilisation_;
  Jobs jobs_;  ///< handed over and not finished, in order
  std::vector<WarmPool> pools_;
  std::vector<TrialEvent> events_;
  std::vector<std::string> notices_;
  std::set<std::string> noticed_;
  std::set<std::string> types_without_pools_;  ///< the account has no quota for warm pools of these
  StartTimes start_times_;
  double think_time_s_ = 24.0;  ///< that pools wait for the next trial: a guess, then as seen
  std::optional<std::int64_t> further_trials_;
  double overhead_usd_ = 0.0;
  double next_logs_s_ = 0.0;
  double logs_read_s_ = -std::numeric_limits<double>::infinity();  ///< last complete reading
  double next_pools_s_ = 0.0;
  std::optional<double> outage_since_s_;
};

}  // namespace steptune
