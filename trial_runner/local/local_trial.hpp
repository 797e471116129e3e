// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/machine/processes.hpp"
#include "trial_runner/local/activity_watch.hpp"
#include "trial_runner/local/cpu_time.hpp"
#include "trial_runner/local/gpu_watch.hpp"
#include "trial_runner/local/launch_preparation.hpp"
#include "trial_runner/local/leftovers.hpp"
#include "trial_runner/local/machine_watch.hpp"
#include "trial_runner/local/memory_tracker.hpp"
#include "trial_runner/local/oom_kill_counters.hpp"
#include "trial_runner/local/placement.hpp"
#include "trial_runner/local/subreaper.hpp"
#include "trial_runner/local/trial_pauses.hpp"
#include "trial_runner/local/trial_process.hpp"
#include "trial_runner/output/lines.hpp"
#include "trial_runner/output/log_file.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::local {

/// One running trial, from its started process to its outcome. Reads its output, enforces its
/// limits, and ends it and its remaining processes. Driven by `advance`; never blocks.
class LocalTrial {
 public:
  /// Appends its events to `events`, which outlive the object, as `subreaper` does.
  LocalTrial(Launching launching, TrialProcess process, GpuWatch gpus, Subreaper& subreaper,
             std::vector<TrialEvent>& events);

  [[nodiscard]] TrialKey key() const { return key_; }
  [[nodiscard]] std::size_t slot() const { return slot_.number; }
  [[nodiscard]] const ProcessId& main() const { return process_.main; }

  /// Descriptors to poll; -1 for none. After a read, `output_fd` is -1 for a moment so that output
  /// can accumulate. Otherwise a trial that prints thousands of lines per second would wake this
  /// program for each line, which would slow the trial down.
  [[nodiscard]] int exit_fd() const { return exited_s_ ? -1 : process_.pidfd.get(); }
  [[nodiscard]] int output_fd(double now_s) const {
    return now_s < next_read_s_ ? -1 : process_.output.get();
  }

  /// Returns the next time at which `advance` has work even if no descriptor is ready.
  [[nodiscard]] double next_timer_s(double now_s) const;

  /// Does all work that is due. Returns true when all processes of the trial are gone; then call
  /// `finish`.
  [[nodiscard]] bool advance(double now_s);

  /// Begins to end the trial with the outcome `as`, unless it has ended. If it is ending already, a
  /// shorter grace period still takes effect.
  void end(OutcomeKind as, double now_s, double grace_s);

  /// Ends the trial with its own grace period (`Runner::stop`).
  void stop(double now_s) { end(OutcomeKind::stopped, now_s, limits_.grace_s); }

  /// Return the processes of the trial that have left its process group: all seen so far, or only
  /// the new ones since the last call. They are recorded because a process that also clears its
  /// environment could no longer be assigned to the trial.
  [[nodiscard]] const std::set<ProcessId>& escaped() const { return escaped_; }
  [[nodiscard]] std::vector<ProcessId> take_newly_escaped() {
    return std::exchange(newly_escaped_, {});
  }

  /// Extends all limits by `gap_s` seconds in which this machine or program was suspended. Ignores
  /// a paused trial, whose limits `resume` extends by the whole pause.
  void exclude_standstill(double gap_s) {
    if (!is_paused()) extend_limits(gap_s);
  }

  /// Pauses or resumes all processes of the trial. During a pause the trial reports nothing, its
  /// time does not advance, and no limit applies except a forced end.
  void suspend(double now_s);
  void resume(double now_s);
  [[nodiscard]] bool is_paused() const { return pauses_.is_paused(); }
  /// Subtracts `seconds` from the bill, because other trials that ran beside this one pay for them.
  void share_time(double seconds) { others_part_s_ += seconds; }
  /// True if the trial is being ended, or if its main process is gone.
  [[nodiscard]] bool is_ending() const { return kill_at_s_ || give_up_at_s_ || exited_s_; }
  /// Returns the number of progress reports so far.
  [[nodiscard]] std::int64_t progress_reports() const { return progress_reports_; }
  [[nodiscard]] double peak_memory_bytes() const { return memory_.peak_bytes().value_or(0.0); }

  /// Reaps the main process and returns the trial's outcome.
  [[nodiscard]] Outcome finish(double now_s, const OomKillCounters& oom_counters);

 private:
  void extend_limits(double gap_s);
  void read_output(double now_s);
  void take_output(std::string_view bytes, double now_s);
  /// Processes a line of output. `trial_s` is the trial's time without pauses.
  void on_line(std::string_view line, double trial_s);
  void check_limits(double now_s);
  /// Returns when the idle limit expires. A phase may be silent for any time; the wall limit still
  /// applies.
  [[nodiscard]] double idle_until_s() const;
  void look_at_processes(double now_s);
  void look_at_machine(double now_s, double own_s, const std::vector<ProcessStat>& processes);
  void escalate(double now_s);
  void kill_group(int signal) const;
  /// Sends SIGKILL to the main process and its group. If the process tree has helpers that clean up
  /// after others, sends it to the processes of the tree instead, except these helpers.
  void kill_all_but_helpers() const;
  /// Returns live processes of the trial: its process tree and its orphans, without zombies.
  [[nodiscard]] std::vector<ProcessStat> processes_now() const;
  [[nodiscard]] bool main_has_exited() const;
  [[nodiscard]] bool end_descendants(double now_s);
  [[nodiscard]] std::string describe(const Outcome& ended) const;

  Subreaper* subreaper_;
  std::vector<TrialEvent>* events_;
  TrialKey key_;
  Slot slot_;
  TrialLimits limits_;
  TrialProcess process_;
  ReportReader reader_;
  LogFile log_;
  CountersAtStart at_start_;

  TimedLines lines_;  ///< with the trial's time, without pauses
  OutputTail tail_;
  MemoryTracker memory_;
  CpuUse cpu_use_;
  ActivityWatch activity_;
  Leftovers leftovers_;
  bool reported_ = false;      ///< the trial has begun to train
  bool is_replaying_ = false;  ///< the hook replays stored batches, so data workers are idle
  MachineWatch machine_;
  std::vector<MachineSecond> seconds_;
  GpuWatch gpus_;
  double excluded_s_ = 0.0;
  double last_output_s_;  ///< for the idle limit; moved on by `extend_limits`
  double next_read_s_ = 0.0;
  double next_sample_s_;
  double sample_interval_s_;

  bool is_interleaved_;
  TrialPauses pauses_;
  double others_part_s_ = 0.0;
  std::int64_t progress_reports_ = 0;

  std::optional<OutcomeKind> ended_as_;  ///< set once the runner ends the trial
  std::optional<double> kill_at_s_;      // SIGTERM was sent; SIGKILL is due at this time
  std::optional<double> give_up_at_s_;   // SIGKILL was sent
  std::optional<double> exited_s_;
  double next_sweep_s_ = 0.0;
  double sweep_interval_s_;
  bool left_descendants_ = false;
  std::vector<ProcessId> survivors_;
  std::set<ProcessId> escaped_;
  std::vector<ProcessId> newly_escaped_;
};

}  // namespace steptune::local
