// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trial_runner/output/lines.hpp"
#include "trial_runner/output/log_file.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/step_outcome.hpp"
#include "trial_runner/slurm/step_script.hpp"
#include "trial_runner/slurm/submit_host.hpp"

namespace steptune::slurm {

/// One launch of a trial as a step.
struct StepLaunch {
  StepRequest request;
  int held_nodes = 1;  ///< nodes that the trial pays for
  double at_s = 0.0;
  /// Start of the allocation, from the list of the queue at the launch.
  double allocation_start_wall_s = 0.0;
};

/// A trial that the loop has passed to the runner. It waits for an allocation, runs there as a
/// step, and ends. Times are on the runner's clock.
class StepTrial {
 public:
  /// Returns an error if the trial's log or report format is unusable.
  [[nodiscard]] static Result<StepTrial> create(TrialSpec spec, AllocationSpec requested);

  [[nodiscard]] const TrialSpec& spec() const { return spec_; }
  [[nodiscard]] TrialKey key() const { return spec_.key; }
  [[nodiscard]] const AllocationSpec& allocation_spec() const { return allocation_spec_; }

  [[nodiscard]] bool waits() const { return !launch_; }
  [[nodiscard]] double waits_since_s() const { return waits_since_s_; }
  void set_waits_since(double time_s) { waits_since_s_ = time_s; }
  [[nodiscard]] int next_launch() const { return launches_ + 1; }
  void set_launches(int launches) { launches_ = launches; }

  void launch(StepLaunch launch, std::unique_ptr<Step> step);
  /// Valid only after a launch.
  [[nodiscard]] const StepLaunch& step_launch() const { return launch_.value(); }
  /// Lets the trial wait again after a launch that did not start. If `failed` is true, counts the
  /// launch as failed.
  void wait_again(double now_s, bool failed);
  [[nodiscard]] int failed_launches() const { return failed_launches_; }
  /// Gives up a launch because its srun waits for resources of the allocation. That srun checks
  /// them only once a minute; a new srun can start the step at once.
  void give_up_launch() { blocked_ = true; }
  [[nodiscard]] bool launch_given_up() const { return blocked_; }
  /// Returns the number of launches ended by `give_up_launch`.
  [[nodiscard]] int blocked_launches() const { return blocked_launches_; }
  /// Returns the time to request the list of steps if no task has started.
  [[nodiscard]] double next_step_poll_s() const { return next_step_poll_s_; }
  void set_next_step_poll_s(double time_s) { next_step_poll_s_ = time_s; }
  /// Records that some tasks have not started in time.
  void set_late() { late_ = true; }
  [[nodiscard]] bool is_late() const { return late_; }

  /// Reads the step's output; appends the start and reports to `events`.
  void read(double now_s, std::vector<TrialEvent>& events);
  /// True if all tasks have marked their start.
  [[nodiscard]] bool has_started() const { return started_s_.has_value(); }
  [[nodiscard]] double started_s() const { return started_s_.value(); }
  [[nodiscard]] const StepMarks& marks() const { return marks_.value(); }
  /// Returns the time up to which all output has been read. It lies in the past while output is
  /// still unread, for example after a restart of the tuner.
  [[nodiscard]] double known_until_s() const { return known_until_s_; }
  /// Returns the time and kind of the next limit. The time is infinite before the start and after
  /// the end.
  [[nodiscard]] std::pair<double, StopCause> next_limit() const;

  /// Records why the step must end. Only the first cause counts.
  void set_cause(StopCause cause, double now_s);
  [[nodiscard]] std::optional<StopCause> cause() const { return cause_; }
  [[nodiscard]] double asked_s() const { return asked_s_; }
  /// Lets the grace period end at `now_s`.
  void end_grace(double now_s) { asked_s_ = std::min(asked_s_, now_s - spec_.limits.grace_s); }
  [[nodiscard]] bool was_killed() const { return killed_; }
  /// Kills the step at once.
  void kill();

  /// Returns the time at which the runner saw that srun had ended and had read all output; nullopt
  /// before.
  [[nodiscard]] std::optional<double> step_ended_s() const { return step_ended_s_; }
  /// Returns the time at which srun ended, perhaps long before the runner saw it. `now_s` if srun
  /// has not ended.
  [[nodiscard]] double ended_s(double now_s) const;
  [[nodiscard]] StepEvidence evidence() const;
  /// Returns the nodes that srun has reported as lost since the launch.
  [[nodiscard]] const std::set<std::string>& lost_nodes() const { return lost_nodes_; }

  /// Returns the trial's last event. A trial that never started costs nothing.
  [[nodiscard]] TrialFinished finish(double now_s, Outcome outcome,
                                     std::optional<double> usd_per_node_hour);
  /// Removes the step's files.
  void forget_step();

 private:
  StepTrial(TrialSpec spec, AllocationSpec requested, ReportReader reader, LogFile log)
      : spec_(std::move(spec)),
        allocation_spec_(std::move(requested)),
        reader_(std::move(reader)),
        log_(std::move(log)) {}

  void take_output(double time_s, std::string_view bytes, std::vector<TrialEvent>& events);
  void take_line(double time_s, std::string_view line, std::vector<TrialEvent>& events);
  void keep_line(std::string_view line);
  void report_start(double time_s, std::vector<TrialEvent>& events);

  TrialSpec spec_;
  AllocationSpec allocation_spec_;
  ReportReader reader_;
  LogFile log_;
  OutputTail tail_;
  TimedLines lines_;
  double waits_since_s_ = 0.0;
  int launches_ = 0;
  int failed_launches_ = 0;
  int blocked_launches_ = 0;
  bool blocked_ = false;
  bool late_ = false;
  double next_step_poll_s_ = 0.0;
  std::optional<StepLaunch> launch_;
  std::unique_ptr<Step> step_;
  std::optional<StepMarks> marks_;
  std::optional<double> started_s_;
  double last_output_s_ = 0.0;
  double known_until_s_ = 0.0;
  double last_event_s_ = 0.0;
  /// Lines printed before all tasks had started.
  std::vector<std::pair<double, std::string>> early_lines_;
  bool memory_kill_ = false;
  bool cancelled_ = false;
  bool node_lost_ = false;
  bool has_progressed_ = false;
  bool port_taken_ = false;  ///< reported by the program before any progress
  std::set<std::string> lost_nodes_;
  std::optional<StopCause> cause_;
  double asked_s_ = 0.0;
  bool killed_ = false;
  std::optional<StepEnd> step_end_;
  std::optional<double> step_ended_s_;
};

}  // namespace steptune::slurm
