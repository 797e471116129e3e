// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/enum_names.hpp"
#include "common/error.hpp"
#include "trial_runner/machine_second.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/reports/line_clock.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "tuner/follow/causes.hpp"
#include "tuner/follow/progress_track.hpp"
#include "tuner/follow/promise.hpp"

namespace steptune {

enum class Keeping {
  unknown,  ///< too little was seen
  kept,     ///< the confidence intervals of run and promise overlap
  faster,   ///< faster than promised, beyond both intervals
  broken,   ///< slower than promised, beyond both intervals
};
/// Names in JSON. Scripts read them, so they must not change.
inline constexpr auto k_keeping_names = enum_names<Keeping>({
    {Keeping::unknown, "unknown"},
    {Keeping::kept, "kept"},
    {Keeping::faster, "faster"},
    {Keeping::broken, "broken"},
});
[[nodiscard]] std::string to_text(Keeping keeping);

/// State of a long run compared with its promise.
struct FollowState {
  Keeping keeping = Keeping::unknown;
  std::string reason;  ///< why `keeping` is unknown
  /// Promised seconds per sample without the phases in `awaited`. The run's rate is compared with
  /// this value.
  std::optional<Interval95> promised;
  std::set<std::string> awaited;  ///< promised phases that were not due yet since the first report
  double seen_s = 0.0;
  double samples = 0.0;
  /// Measured over the whole run except its start.
  std::optional<Interval95> seconds_per_sample;
  /// Measured over the last minute, or over ten reports.
  std::optional<Interval95> seconds_per_sample_now;
  /// Seconds per sample by which `keeping` and the expected rest of the run are computed. Measured
  /// since the start of `deviation`. If there is no deviation, measured over the whole run except
  /// its start.
  std::optional<Interval95> judged_seconds_per_sample;
  std::optional<Interval95> run_s;  ///< expected time of the whole run
  std::map<std::string, PhaseEstimate> phases;
  std::optional<Deviation> deviation;  ///< its times count from the first report
  std::vector<std::string> causes;     ///< differences from the trial, for people
};

/// Reads the output of a long run and compares it with its promise. If several ranks report, uses
/// only rank 0, because each rank has its own clock. If one log contains several successive
/// programs, uses only the last one. Recognises a new program by ten reports in a row that are
/// behind in time or in samples. Counters other than those of `[steptune]` lines may start again
/// with each epoch: the report reader makes them cumulative. Memory is bounded. Not thread safe.
class Follower {
 public:
  /// Makes a follower. `started_s` is the start of the program on the clock of `read_line`; nullopt
  /// if the program was already running. Errors are those of `ReportReader::create`.
  [[nodiscard]] static Result<Follower> create(ReportFormat format, Promise promise,
                                               std::optional<double> started_s);

  /// Reads a line that the program prints now. If many lines arrive at once, as from a log in a
  /// pipe, times them like old lines, by the clocks in the lines.
  void read_line(std::string_view line, double now_s);
  /// Reads a line that the program printed some time ago. Only a clock in the line shows its time.
  /// Clocks are tried in this order: the clock of `[steptune]` lines, a date, the clock of a
  /// progress bar.
  void read_old_line(std::string_view line);

  /// Adds an observation of the program's machine. The observation's time is in seconds since the
  /// program's start. That start must be known. Call it in the order of the times.
  void saw_machine(const MachineSecond& second);

  [[nodiscard]] FollowState state() const;
  [[nodiscard]] const Promise& promise() const { return promise_; }
  /// Returns the clock by which old lines are timed, for people; empty if lines are timed when they
  /// arrive.
  [[nodiscard]] std::string clock_text() const;

 private:
  Follower(ReportReader reader, Promise promise, std::optional<double> started_s);
  void take(const Report& report);
  /// True if ten reports in a row, including this one, were behind the run in samples or in time.
  /// Then they come from a new program.
  [[nodiscard]] bool has_begun_anew(const Report& report, double samples);
  void compare(FollowState& state) const;
  /// Sets `awaited`, and subtracts the time of these phases from `promised`.
  void take_awaited_off(FollowState& state) const;
  /// Returns how the machine during the deviation differs from the machine before, and from the
  /// machine during the trial.
  [[nodiscard]] MachineCause machine_cause(const std::optional<Deviation>& deviation) const;
  /// Returns the seconds from the first counted report to the last. The track must not be empty.
  [[nodiscard]] double seen_s() const { return track_.back().time_s - track_.front().time_s; }
  /// True if the lines came in almost no time, so that their arrival shows no rate.
  [[nodiscard]] bool came_at_once() const;
  /// Returns the follower that times lines by their own clocks. Does so if all lines arrived at
  /// once, or if their dates span more time than their arrivals. Otherwise returns null.
  [[nodiscard]] const Follower* by_own_times() const;

  enum class TimeSource { unknown, receipt, own_clock, line };

  Promise promise_;
  ReportReader reader_;
  /// Second follower, which times the same lines as old lines; null if this program started the run
  /// itself.
  std::unique_ptr<Follower> as_log_;
  LineClock line_clock_;
  std::optional<double> started_s_;
  /// Arrival of the first counted report, on the clock of `started_s_`.
  std::optional<double> first_received_s_;
  TimeSource time_source_ = TimeSource::unknown;
  std::optional<Measurer> measurer_;
  ProgressTrack track_;
  std::vector<MachineSecond> machine_;
  TrackPoint behind_;  ///< latest report of those in a row that are behind the run
  int behind_in_a_row_ = 0;
  bool began_anew_ = false;
  bool by_own_clock_ = false;      ///< the track uses the times of `[steptune]` lines
  std::int64_t without_time_ = 0;  ///< reports without a known time
};

}  // namespace steptune
