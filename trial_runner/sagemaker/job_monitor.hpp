// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/numbers.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"
#include "trial_runner/sagemaker/outage.hpp"
#include "trial_runner/sagemaker/pack_turns.hpp"
#include "trial_runner/sagemaker/sagemaker_options.hpp"
#include "trial_runner/sagemaker/trial_jobs.hpp"

namespace steptune {

/// Polls the service and updates the states of trials. If there was no capacity, a trial waits
/// again. Reads the output of all trials from CloudWatch Logs with common requests. After a
/// transient failure, the next call repeats the request. Returns the errors of `Outage`.
class JobMonitor {
 public:
  /// The arguments outlive the object.
  JobMonitor(const Clock& clock, TrainingJobs& jobs, Outage& outage, Notices& notices,
             WarmPools& pools, const SageMakerOptions& options)
      : clock_(clock),
        api_(jobs),
        outage_(outage),
        notices_(notices),
        pools_(pools),
        options_(options),
        logs_outage_(clock, notices, options.longest_outage_s) {}

  /// Sets the common prefix of the jobs' names, and the source of their output. Call this before
  /// any other function.
  void begin(std::string prefix, LogFollower logs);

  /// Takes over an earlier tuner's job with its `state` at the service. `pool_job` is the job whose
  /// warm pool it uses, if any. The trial's state changes from waiting to requested.
  void adopt(TrialJob& job, const std::string& name, int launch, const JobDescription& state,
             std::optional<std::string> pool_job = std::nullopt);

  /// Requests the end of a trial. The shell of a pack accepts no commands. So this stops a job only
  /// if a stop was requested for all of its unfinished trials. (The shell ends each trial when its
  /// time is over.) The next `poll` repeats a failed request.
  void request_stop(TrialJobs& jobs, TrialJob& job, StopCause reason);
  /// Ends the jobs of trials that have printed nothing for longer than their limit.
  void stop_silent_jobs(TrialJobs& jobs);

  /// Reads the states of jobs that are due and may have changed.
  [[nodiscard]] Result<void> poll(TrialJobs& jobs, std::vector<TrialEvent>& events);
  /// Reads new output if it is due.
  [[nodiscard]] Result<void> read_output(TrialJobs& jobs, std::vector<TrialEvent>& events);
  /// Returns the time of the last complete reading of output; minus infinity before the first.
  [[nodiscard]] double output_read_s() const { return output_read_s_; }
  /// True if all output of an ended job has been read.
  [[nodiscard]] bool has_all_output(const TrialJob& job) const {
    return output_read_s_ >= job.output_until_s();
  }
  /// Call this when the job of a pack has ended and its output was read. Reads the pack's remaining
  /// lines. Divides the rest of the bill among its unfinished trials, except those that wait for
  /// another job. Does nothing for a job with a single trial.
  void close_pack(TrialJobs& jobs, const TrialJob& ended, std::vector<TrialEvent>& events);
  /// True if the job ended before this trial's turn because of another trial, so that this trial
  /// may run in another job. Call this after `close_pack`.
  [[nodiscard]] bool was_left_out(const TrialJob& job);

  /// Returns the time at which `poll` or `read_output` is due next; infinite without jobs.
  [[nodiscard]] double next_due_s(const TrialJobs& jobs) const;

 private:
  [[nodiscard]] double wall_to_clock(double wall_s) const;
  /// Returns the jobs of `due` that have changed since the last list of jobs; all of them if they
  /// are few.
  [[nodiscard]] Result<std::vector<TrialJob*>> changed(std::vector<TrialJob*> due);
  [[nodiscard]] Result<void> poll_one(TrialJobs& jobs, TrialJob& job,
                                      std::vector<TrialEvent>& events);
  void on_ended(const std::vector<TrialJob*>& sharing, const JobDescription& state);
  /// Processes the output of packs up to the time before which no more lines can arrive.
  void read_packs(TrialJobs& jobs, std::vector<TrialEvent>& events);
  void read_line_of_pack(const std::vector<TrialJob*>& sharing, const LogLine& line,
                         std::vector<TrialEvent>& events);
  void end_turn(const std::vector<TrialJob*>& sharing, const PackMark& mark, double wall_s);
  [[nodiscard]] PackTurns& turns_of(const TrialJob& job);
  /// True if this is the first trial of its pack whose turn has not ended. The end of the job is
  /// then due to this trial.
  [[nodiscard]] bool answers_for_end(const TrialJob& job);
  [[nodiscard]] bool launch_again(TrialJob& job, const JobDescription& state);

  const Clock& clock_;
  TrainingJobs& api_;
  Outage& outage_;
  Notices& notices_;
  WarmPools& pools_;
  const SageMakerOptions& options_;
  /// Outage of CloudWatch Logs, which may fail while SageMaker answers.
  Outage logs_outage_;
  std::string prefix_;
  std::optional<LogFollower> logs_;
  std::map<std::string, PackTurns> packs_;  ///< by job
  double next_output_s_ = 0.0;
  double output_read_s_ = -k_infinity;  ///< time of the last complete reading
  /// Lower bound, from log lines, of the service's wall clock at the origin of `Clock::now_s`. The
  /// local wall clock is no substitute, because it may be set while jobs run.
  double service_origin_wall_s_ = -k_infinity;
};

}  // namespace steptune
