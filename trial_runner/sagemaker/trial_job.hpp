// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// How far a trial is on its way through the service, as the runner knows it.
enum class JobState {
  waiting,    ///< without a job: for its turn, for quota, for capacity
  requested,  ///< the job exists, its machines are being prepared
  running,    ///< its program runs
  stopping,   ///< the runner has asked for its end
  ended,      ///< the service or, of a pack, the job's shell says so; last lines are awaited
  finished,   ///< the end was told
};
[[nodiscard]] std::string to_text(JobState state);

/// The legal moves, beside staying:
///
///   waiting    -> requested, finished (refused, or stopped in time)
///   requested  -> running, stopping, ended, waiting (no capacity)
///   running    -> stopping, ended, waiting (spot capacity did not come back)
///   stopping   -> ended
///   ended      -> finished, waiting (the job ended before its turn in the pack came)
[[nodiscard]] bool can_move(JobState from, JobState to);

/// One job that was created for a trial, or for a pack of them. Times are those of the runner's
/// clock.
struct JobLaunch {
  std::string job;                      ///< name
  int number = 1;                       ///< of the trial's jobs
  std::optional<std::string> pool_job;  ///< whose warm pool it is to run on; nothing: a cold start
  int keep_alive_s = 0;                 ///< of its own pool, as requested
  double requested_s = 0.0;
  bool adopted = false;             ///< from a former tuner
  bool pool_settled = true;         ///< whether it got the pool is known
  std::vector<PackedTrial> pack{};  ///< run in turn, this one among them; empty: this alone
};

/// When a job's state is asked for next, and what the last answer told.
struct JobWatch {
  double next_look_s = 0.0;
  bool closely = false;        ///< the next change is seconds away
  bool known = false;          ///< the service has described it
  double listed_wall_s = 0.0;  ///< when it was last modified, by the latest list; 0: not told
  double read_wall_s = 0.0;    ///< likewise, by the list before its latest description
  int interruptions = 0;
};

/// A trial that was handed over: it waits, runs as a job (or as several in turn, where there was no
/// capacity), and ends. Every change of its state is one of the moves below; one that is not legal
/// where the job stands throws std::logic_error, as it is a fault of this program.
class TrialJob {
 public:
  TrialJob(TrialSpec spec, std::optional<PoolKey> pool_key, double usd_per_hour, JobOutput output)
      : spec_(std::move(spec)),
        pool_key_(std::move(pool_key)),
        usd_per_hour_(usd_per_hour),
        output_(std::move(output)) {}

  [[nodiscard]] const TrialSpec& spec() const { return spec_; }
  [[nodiscard]] TrialKey key() const { return spec_.key; }
  /// Nothing for jobs that can use no pool.
  [[nodiscard]] const std::optional<PoolKey>& pool_key() const { return pool_key_; }
  /// Of all its machines together.
  [[nodiscard]] double usd_per_hour() const { return usd_per_hour_; }

  [[nodiscard]] JobState state() const { return state_; }
  [[nodiscard]] bool waits() const { return state_ == JobState::waiting; }
  /// A job exists that has not ended, as far as is known.
  [[nodiscard]] bool under_way() const;
  /// The program has been seen to run, in this launch or an earlier one.
  [[nodiscard]] bool has_started() const { return started_s_.has_value(); }

  /// Waiting: until when nothing is to be requested.
  [[nodiscard]] double not_before_s() const { return not_before_s_; }
  void postpone(double not_before_s);

  /// Others were started first, since it was handed over.
  [[nodiscard]] bool is_deferred() const { return deferred_; }
  void defer() { deferred_ = true; }

  /// The number that the next launch gets.
  [[nodiscard]] int next_launch() const { return next_launch_; }
  [[nodiscard]] int capacity_failures() const { return next_launch_ - first_launch_; }
  /// waiting -> requested.
  void request(JobLaunch launch, double look_at_s);
  /// The latest; not while it waits.
  [[nodiscard]] const JobLaunch& launch() const;
  [[nodiscard]] JobWatch& watch();
  [[nodiscard]] const JobWatch& watch() const;
  /// Whether the launch got the pool that it was meant for.
  void settle_pool(bool reused);

  /// The program runs since `time_s`: requested -> running. Told once; of a job that is stopping or
  /// has ended it may become known late.
  void start(double time_s, std::vector<TrialEvent>& events);
  /// A line that one of its hosts printed: a sign of life, and perhaps a report.
  void read_line(double time_s, const LogLine& line, std::vector<TrialEvent>& events);
  [[nodiscard]] double last_output_s() const { return last_output_s_; }
  /// Whether its silence is that of a phase, such as a long evaluation.
  [[nodiscard]] bool phase_under_way() const { return output_.phase_under_way(); }

  /// requested, running -> stopping; a later reason counts until the service has accepted one.
  void stop(StopReason reason);
  [[nodiscard]] std::optional<StopReason> stop_reason() const { return stop_reason_; }
  void accept_stop();
  [[nodiscard]] bool stop_accepted() const { return stop_accepted_; }

  /// There was no capacity: requested, running -> waiting.
  void launch_again(double not_before_s);

  /// One of several that the job runs in turn.
  [[nodiscard]] bool is_packed() const { return launch_ && !launch_->pack.empty(); }
  /// Its turn is over. It stays in its state, as the job goes on.
  void end_turn(TurnEnd end) { turn_end_ = end; }
  [[nodiscard]] const std::optional<TurnEnd>& turn_end() const { return turn_end_; }
  /// The job goes on with others after its turn: requested, running, stopping -> ended.
  void leave_pack();
  /// The job has ended before its turn: ended -> waiting.
  void give_back();

  /// The service has ended the job; what it printed is awaited until `output_until_s`. requested,
  /// running, stopping -> ended.
  void end(JobDescription last, double output_until_s);
  [[nodiscard]] const JobDescription& last_description() const;
  /// False for one that has left a pack, whose job goes on.
  [[nodiscard]] bool job_has_ended() const { return last_description_.has_value(); }
  [[nodiscard]] double output_until_s() const { return output_until_s_; }

  /// What one launch is billed, per instance.
  void add_bill(double billable_s);
  /// What a pool was billed that waited for it.
  void add_pool_bill(double usd) { billed_usd_ += usd; }

  /// ended -> finished: told as its last state says.
  [[nodiscard]] TrialFinished finish(double time_s);
  /// waiting -> finished: it never became a job, or there was no capacity for it.
  [[nodiscard]] TrialFinished give_up(double time_s, OutcomeKind kind, std::string detail);

 private:
  void move_to(JobState state);
  /// Its job has its name: that of another trial, if it is in a pack and not the first.
  [[nodiscard]] bool names_job() const;
  [[nodiscard]] TrialFinished close(double time_s, Outcome outcome);

  TrialSpec spec_;
  std::optional<PoolKey> pool_key_;
  double usd_per_hour_;
  JobOutput output_;
  JobState state_ = JobState::waiting;
  double not_before_s_ = 0.0;
  bool deferred_ = false;
  int first_launch_ = 1;
  int next_launch_ = 1;
  std::optional<JobLaunch> launch_;  ///< nothing while it waits
  JobWatch watch_;
  std::optional<double> started_s_;
  double last_output_s_ = 0.0;
  std::optional<StopReason> stop_reason_;
  bool stop_accepted_ = false;
  std::optional<JobDescription> last_description_;
  std::optional<TurnEnd> turn_end_;
  double output_until_s_ = 0.0;
  double billed_s_ = 0.0;
  double billed_usd_ = 0.0;
};

}  // namespace steptune
