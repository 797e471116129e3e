// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"
#include "trial_runner/sagemaker/outage.hpp"
#include "trial_runner/sagemaker/pack_turns.hpp"
#include "trial_runner/sagemaker/sagemaker_options.hpp"
#include "trial_runner/sagemaker/trial_job.hpp"
#include "trial_runner/sagemaker/warm_pools.hpp"

namespace steptune {

/// In the order in which they were handed over. References stay valid while others come and go.
using TrialJobs = std::list<TrialJob>;

/// Whether the trial's job is under way and the trial the first in it that is not over: of those
/// that share a job one stands for it.
[[nodiscard]] bool leads_job(const TrialJobs& jobs, const TrialJob& job);

/// Learns by polling what becomes of jobs under way, and moves them on: to running, ended, or back
/// to waiting where there was no capacity. Their output comes from CloudWatch Logs, with one
/// request for all of them. Requests that fail for a while are made again at the next call; errors
/// are those of `Outage`.
class JobMonitor {
 public:
  /// All outlive the object.
  JobMonitor(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
             WarmPools& pools, const SageMakerOptions& options)
      : clock_(clock),
        api_(jobs),
        outage_(outage),
        notices_(notices),
        pools_(pools),
        options_(options),
        logs_outage_(clock, notices, options.longest_outage_s) {}

  /// All jobs have names that begin so; `logs` tells what they print. Before any of the following.
  void begin(std::string prefix, LogFollower logs);

  /// A job of a former tuner, as the service describes it: waiting -> requested.
  void adopt(TrialJob& job, const std::string& name, int launch, const JobDescription& state);

  /// Asks the service for the end of a trial's job or, where others share that, once the end of
  /// each that is not over is wanted: nothing can be told to a job's shell, which ends the trial
  /// when its time is over. A request that fails is repeated at the next look.
  void request_stop(TrialJobs& jobs, TrialJob& job, StopReason reason);

  /// Looks at the jobs whose state may have changed.
  [[nodiscard]] Result<void> look(TrialJobs& jobs, std::vector<TrialEvent>& events);
  /// Reads what was printed, if it is time.
  [[nodiscard]] Result<void> read_output(TrialJobs& jobs, std::vector<TrialEvent>& events);
  /// When everything was last read that jobs had printed; before any reading: minus infinity.
  [[nodiscard]] double output_read_s() const { return output_read_s_; }
  /// Whether everything was read that a job which has ended may have printed.
  [[nodiscard]] bool has_all_output(const TrialJob& job) const {
    return output_read_s_ >= job.output_until_s();
  }
  /// Once the job of a pack has ended and all that it printed was read: what is left of its lines
  /// is told, and the rest of its bill is shared among those that ran last in it. Nothing for
  /// others.
  void close_pack(TrialJobs& jobs, const TrialJob& ended, std::vector<TrialEvent>& events);
  /// The job has ended before the turn of this trial of its pack, and another one answers for that:
  /// it may run in another job. To be asked after `close_pack`.
  [[nodiscard]] bool was_left_out(const TrialJob& job);

  /// When the next of these is due; infinite without jobs.
  [[nodiscard]] double next_due_s(const TrialJobs& jobs) const;

 private:
  [[nodiscard]] double wall_to_clock(double wall_s) const;
  /// Of many jobs those that have changed since they were last listed; of few all.
  [[nodiscard]] Result<std::vector<TrialJob*>> changed(std::vector<TrialJob*> due);
  [[nodiscard]] Result<void> look_at(TrialJobs& jobs, TrialJob& job,
                                     std::vector<TrialEvent>& events);
  void on_ended(const std::vector<TrialJob*>& sharing, const JobDescription& state);
  /// Reads what packs have printed, as far as nothing before it may be missing.
  void read_packs(TrialJobs& jobs, std::vector<TrialEvent>& events);
  void read_line_of_pack(const std::vector<TrialJob*>& sharing, const LogLine& line,
                         std::vector<TrialEvent>& events);
  void end_turn(const std::vector<TrialJob*>& sharing, const PackMark& mark, double wall_s);
  [[nodiscard]] PackTurns& turns_of(const TrialJob& job);
  /// It is the first of its pack that did not come to the end of its turn.
  [[nodiscard]] bool answers_for_end(const TrialJob& job);
  [[nodiscard]] bool launch_again(TrialJob& job, const JobDescription& state);

  const Clock& clock_;
  TrainingJobs& api_;
  Outage& outage_;
  Notices& notices_;
  WarmPools& pools_;
  const SageMakerOptions& options_;
  /// Of another service, which may be out of reach by itself: what the first one answers is no sign
  /// that this will.
  Outage logs_outage_;
  std::string prefix_;
  std::optional<LogFollower> logs_;
  std::map<std::string, PackTurns> packs_;  ///< by job
  double next_output_s_ = 0.0;
  double output_read_s_ = -std::numeric_limits<double>::infinity();  ///< last complete reading
  /// The least that the service's clock showed at the origin of `Clock::now_s`, as lines tell. The
  /// wall time here is no measure of it: it may be set while jobs run.
  double service_origin_wall_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace steptune
