// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/machine/processes.hpp"
#include "common/numbers.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/seen_parts.hpp"

namespace steptune::local {

/// Pauses of one trial, in which all its processes are stopped. Converts the runner's clock to the
/// trial's time, which excludes pauses. Times are in seconds.
class TrialPauses {
 public:
  [[nodiscard]] bool is_paused() const { return since_s_.has_value(); }
  /// Returns the total length of all completed pauses.
  [[nodiscard]] double paused_s() const { return paused_s_; }
  /// Converts `now_s` to the trial's time.
  [[nodiscard]] double trial_time_s(double now_s) const {
    return since_s_.value_or(now_s) - paused_s_;
  }
  /// Converts the times of a report that was just read to the trial's time. `Report::received_s`
  /// must already be converted. The converted clock goes back only if the program's own clock does.
  /// The program's seconds for the parts of a step include pauses. They are replaced by estimates
  /// from pairs of reports without a pause between them. Removes the parts of other ranks than 0.
  [[nodiscard]] Report without_pauses(Report report);

  /// Sends SIGSTOP to the processes that `list` returns, until `list` returns no new ones. A
  /// process that was already stopped is not resumed later.
  void stop(const std::function<std::vector<ProcessStat>()>& list);
  /// Stops the trial's time at `now_s`.
  void begin(double now_s) { since_s_ = now_s; }
  /// Records that the trial printed. If the trial prints during a pause, some of its processes are
  /// not paused.
  void on_output() { printed_ = printed_ || is_paused(); }
  /// Resumes the processes (SIGCONT). Returns the length of the pause; 0 if there was none.
  double end(double now_s);
  /// True if pauses do not stop the trial, because it printed during several pauses. A single late
  /// line may have been written just before a pause.
  [[nodiscard]] bool are_ineffective() const;

 private:
  /// Parts of the latest report that had some, with pauses included.
  struct LatestParts {
    PartSeconds parts;
    double at_s = 0.0;       ///< trial's time
    std::size_t pauses = 0;  ///< completed until then
  };
  /// The program's clock, with and without pauses.
  struct Clock {
    double read_s = -k_infinity;
    double without_s = -k_infinity;
  };
  [[nodiscard]] double clock_without_pauses(double clock_s);
  [[nodiscard]] PartSeconds parts_without_pauses(PartSeconds parts, double at_s);

  std::vector<ProcessId> stopped_;  ///< in the order in which they were stopped
  std::optional<double> since_s_;
  std::vector<std::pair<double, double>> over_;  ///< start and end of completed pauses
  double paused_s_ = 0.0;
  bool printed_ = false;
  int ineffective_ = 0;
  SeenParts seen_parts_;
  Clock latest_clock_;
  std::optional<LatestParts> latest_parts_;
  double first_parts_s_ = 0.0;  ///< trial's time of the first report with parts
};

}  // namespace steptune::local
