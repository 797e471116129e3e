// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "trial_runner/runner.hpp"
#include "trial_runner/sagemaker/job_outcome.hpp"
#include "trial_runner/sagemaker/job_output.hpp"
#include "trial_runner/sagemaker/pool_key.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"

namespace steptune {

/// State of a trial at the service, as known to the runner.
enum class JobState {
  waiting,    ///< the trial has no job: it waits for its turn, for quota or for capacity
  requested,  ///< the job exists; the service prepares its machines
  running,    ///< the trial's program runs
  stopping,   ///< the runner has decided to end the trial
  ended,     ///< the service (in a pack, the shell) has reported the end; last lines may still come
  finished,  ///< the runner has reported the end to the loop
};
[[nodiscard]] std::string to_text(JobState state);

/// True if the move is legal. A state may also stay the same. The moves:
///
///   waiting    -> requested, finished (refused, or stopped in time)
///   requested  -> running, stopping, ended, waiting (no capacity)
///   running    -> stopping, ended, waiting (spot capacity did not come back)
///   stopping   -> ended
///   ended      -> finished, waiting (the job ended before its turn in the pack came)
[[nodiscard]] bool can_move(JobState from, JobState to);

/// A job for a trial or for a pack of trials, once requested. Times are on the runner's clock.
struct JobLaunch {
  std::string job;  ///< name
  int number = 1;   ///< number among the trial's jobs, from 1
  /// Job whose warm pool this job is meant to use. nullopt: a cold start.
  std::optional<std::string> pool_job;
  int keep_alive_s = 0;  ///< seconds for which the service keeps this job's own pool
  double requested_s = 0.0;
  bool adopted = false;  ///< an earlier tuner requested the job
  /// False: the runner does not know yet if the job got the intended pool.
  bool pool_settled = true;
  /// Trials to run in turn, including this one; empty: only this one.
  std::vector<PackedTrial> pack{};
};

/// Time of the next request for a job's state, and facts from the last answer.
struct JobWatch {
  double next_poll_s = 0.0;
  bool closely = false;  ///< true: poll often, because the job is about to end
  bool known = false;    ///< the service has described the job at least once
  /// False if the program cannot print, because the service gets machines again or uploads results.
  bool trains = true;
  double listed_wall_s = 0.0;  ///< modification time in the latest list; 0: unknown
  double read_wall_s = 0.0;    ///< `listed_wall_s` at the latest description of the job
  int interruptions = 0;
};

/// A trial that the loop has passed to the runner. It waits, runs as a job (or as several jobs in
/// turn, if capacity was missing), and ends. An illegal change of its state throws
/// std::logic_error, because that is a fault of this program.
class TrialJob {
 public:
  TrialJob(TrialSpec spec, std::optional<PoolKey> pool_key, double usd_per_hour, JobOutput output)
      : spec_(std::move(spec)),
        pool_key_(std::move(pool_key)),
        usd_per_hour_(usd_per_hour),
        output_(std::move(output)) {}

  [[nodiscard]] const TrialSpec& spec() const { return spec_; }
  [[nodiscard]] TrialKey key() const { return spec_.key; }
  /// Returns the key of the warm pools that the job can use; nullopt if it can use none.
  [[nodiscard]] const std::optional<PoolKey>& pool_key() const { return pool_key_; }
  /// Returns the price of all machines of the job together.
  [[nodiscard]] double usd_per_hour() const { return usd_per_hour_; }

  [[nodiscard]] JobState state() const { return state_; }
  [[nodiscard]] bool waits() const { return state_ == JobState::waiting; }
  /// True if a job was requested for the trial and, as far as the runner knows, the trial has not
  /// ended.
  [[nodiscard]] bool under_way() const;
  /// True if the program has run, in this or an earlier launch.
  [[nodiscard]] bool has_started() const { return started_s_.has_value(); }

  /// Returns the time before which a waiting trial makes no request.
  [[nodiscard]] double not_before_s() const { return not_before_s_; }
  void postpone(double not_before_s);

  /// True if later trials were started before this trial.
  [[nodiscard]] bool is_deferred() const { return deferred_; }
  void defer() { deferred_ = true; }

  /// Returns the number of the next launch.
  [[nodiscard]] int next_launch() const { return next_launch_; }
  /// Returns the number of the trial's jobs without capacity that this tuner has seen.
  [[nodiscard]] int capacity_failures() const { return capacity_failures_; }
  /// Records that a job was requested for the trial: waiting -> requested.
  void request(JobLaunch launch, double poll_at_s);
  /// Returns the latest launch. Not valid while the trial waits.
  [[nodiscard]] const JobLaunch& launch() const;
  [[nodiscard]] JobWatch& watch();
  [[nodiscard]] const JobWatch& watch() const;
  /// Records whether the launch got the intended pool.
  void settle_pool(bool reused);

  /// Records that the program has run since `time_s`: requested -> running. Reports the start once.
  /// If the trial is already stopping or ended, reports the start but keeps the state.
  void start(double time_s, std::vector<TrialEvent>& events);
  /// Reads a line of one of the job's hosts. Each line is a sign of life; some contain a report.
  void read_line(double time_s, const LogLine& line, std::vector<TrialEvent>& events);
  [[nodiscard]] double last_output_s() const { return last_output_s_; }
  /// Records that the program has run since `time_s`, also after a spot interruption. So the time
  /// without machines does not count as silence.
  void runs_since(double time_s) { last_output_s_ = std::max(last_output_s_, time_s); }
  /// True if a phase, such as a long evaluation, explains the program's silence.
  [[nodiscard]] bool phase_under_way() const { return output_.phase_under_way(); }

  /// Records that the trial must end: requested, running -> stopping. A later reason replaces the
  /// earlier one until the service has accepted a stop.
  void stop(StopCause reason);
  [[nodiscard]] std::optional<StopCause> stop_reason() const { return stop_reason_; }
  void accept_stop();
  [[nodiscard]] bool stop_accepted() const { return stop_accepted_; }

  /// Lets the trial wait again because capacity was missing: requested, running -> waiting.
  void launch_again(double not_before_s);

  /// True if the trial's job runs several trials in turn.
  [[nodiscard]] bool is_packed() const { return launch_ && !launch_->pack.empty(); }
  /// Ends the trial's turn in its pack. The state does not change, because the job continues.
  void end_turn(TurnEnd end) { turn_end_ = end; }
  [[nodiscard]] const std::optional<TurnEnd>& turn_end() const { return turn_end_; }
  /// Ends the trial while its job continues with other trials: requested, running, stopping ->
  /// ended.
  void leave_pack();
  /// Lets the trial wait again because its job ended before its turn: ended -> waiting.
  void give_back();

  /// Records that the trial's job has ended at the service: requested, running, stopping -> ended.
  /// Output may come until `output_until_s`.
  void end(JobDescription last, double output_until_s);
  [[nodiscard]] const JobDescription& last_description() const;
  /// False after `leave_pack`, because the job continues.
  [[nodiscard]] bool job_has_ended() const { return last_description_.has_value(); }
  [[nodiscard]] double output_until_s() const { return output_until_s_; }

  /// Adds the billed seconds of one launch, for each instance.
  void add_bill(double billable_s);
  /// Adds the cost of the idle time of the warm pool that this trial's job used.
  void add_pool_bill(double usd) { billed_usd_ += usd; }

  /// Returns the trial's last event, with the outcome: ended -> finished.
  [[nodiscard]] TrialFinished finish(double time_s);
  /// Gives up a trial that never had a job, or for which capacity was missing: waiting -> finished.
  [[nodiscard]] TrialFinished give_up(double time_s, OutcomeKind kind, std::string detail);

 private:
  void move_to(JobState state);
  /// True if the job is named after this trial. In a pack, only the first trial names the job.
  [[nodiscard]] bool names_job() const;
  [[nodiscard]] TrialFinished close(double time_s, Outcome outcome);

  TrialSpec spec_;
  std::optional<PoolKey> pool_key_;
  double usd_per_hour_;
  JobOutput output_;
  JobState state_ = JobState::waiting;
  double not_before_s_ = 0.0;
  bool deferred_ = false;
  int capacity_failures_ = 0;
  int next_launch_ = 1;
  std::optional<JobLaunch> launch_;  ///< nullopt while the trial waits
  JobWatch watch_;
  std::optional<double> started_s_;
  double last_output_s_ = 0.0;
  std::optional<StopCause> stop_reason_;
  bool stop_accepted_ = false;
  std::optional<JobDescription> last_description_;
  std::optional<TurnEnd> turn_end_;
  double output_until_s_ = 0.0;
  double billed_s_ = 0.0;
  double billed_usd_ = 0.0;
};

}  // namespace steptune
