// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
  kept,     ///< the intervals of run and promise overlap
  faster,
  broken,  ///< slower than promised, beyond both intervals
};
/// Persistent names: they stand in JSON.
[[nodiscard]] std::string to_text(Keeping keeping);

/// How a long run goes against its promise.
struct FollowState {
  Keeping keeping = Keeping::unknown;
  std::string reason;  ///< why nothing can be said
  /// Seconds per sample that its rate is compared with: the promise, without the phases that are
  /// `awaited`.
  std::optional<Interval95> promised;
  std::set<std::string> awaited;  ///< promised phases that have not been due while it was watched
  double seen_s = 0.0;
  double samples = 0.0;
  std::optional<Interval95> seconds_per_sample;      ///< over all but the start
  std::optional<Interval95> seconds_per_sample_now;  ///< over the last minute, or ten reports
  /// What `keeping` and what is to come follow from: since `deviation`, else over all but the
  /// start.
  std::optional<Interval95> judged_seconds_per_sample;
  std::optional<Interval95> run_s;  ///< the whole run, as it is expected now
  std::map<std::string, PhaseEstimate> phases;
  std::optional<Deviation> deviation;  ///< its time since the first report
  std::vector<std::string> causes;     ///< what has changed against the trial, for people
};

/// Reads the output of a long run and compares it with what was promised. Of several ranks the
/// first counts, as its clock is its own. Of programs whose output stands in one log, behind one
/// another, the last counts, where its clock has begun anew or, of `[steptune]` lines, its
/// counters: of others that is a new epoch. Memory is bounded. Not thread safe.
class Follower {
 public:
  /// `started_s`: when the program was started, on the clock that `read_line` is given; nothing if
  /// it runs already. Errors: as `ReportReader::create`.
  [[nodiscard]] static Result<Follower> create(ReportFormat format, Promise promise,
                                               std::optional<double> started_s);

  /// A line that is printed now. Where many come at once, as from a log that is read through a
  /// pipe, their own times count as those of old lines do.
  void read_line(std::string_view line, double now_s);
  /// A line that was printed some time ago: only its own clock tells when. Clocks are tried in the
  /// order: that of `[steptune]` lines, a date, a progress bar's.
  void read_old_line(std::string_view line);

  /// What was seen of the machine that the program runs on, seconds since it was started, in order.
  /// Only of a program whose start is known.
  void saw_machine(const MachineSecond& second);

  [[nodiscard]] FollowState state() const;
  [[nodiscard]] const Promise& promise() const { return promise_; }
  /// Where the times of old lines come from, for people; empty where they come from receiving.
  [[nodiscard]] std::string clock_text() const;

 private:
  Follower(ReportReader reader, Promise promise, std::optional<double> started_s);
  void take(const Report& report);
  /// Whether another program has gone on telling for a while where the one before was further.
  [[nodiscard]] bool has_begun_anew(const Report& report, double samples);
  void compare(FollowState& state) const;
  /// Sets `awaited` and what is `promised` without these.
  void take_awaited_off(FollowState& state) const;
  /// What the machine does otherwise where the run deviates: than before, or than in the trial.
  [[nodiscard]] MachineCause machine_cause(const std::optional<Deviation>& deviation) const;
  /// From the first counter to the last; of an empty track undefined.
  [[nodiscard]] double seen_s() const { return track_.back().time_s - track_.front().time_s; }
  /// Whether the lines came in next to no time, so that their coming tells no rate.
  [[nodiscard]] bool came_at_once() const;
  /// The lines by their own times, where these tell of what was before the first came; null else.
  [[nodiscard]] const Follower* by_own_times() const;

  enum class TimeSource { unknown, receipt, own_clock, line };

  Promise promise_;
  ReportReader reader_;
  /// Reads lines that come now as if they were old; not where the program was started just now.
  std::unique_ptr<Follower> as_log_;
  LineClock line_clock_;
  std::optional<double> started_s_;
  std::optional<double> first_received_s_;  ///< of the first counter, on the clock of `started_s_`
  TimeSource time_source_ = TimeSource::unknown;
  std::optional<Measurer> measurer_;
  ProgressTrack track_;
  std::vector<MachineSecond> machine_;
  TrackPoint behind_;  ///< the latest of the reports in a row that are behind the run
  int behind_in_a_row_ = 0;
  bool began_anew_ = false;
  bool by_own_clock_ = false;      ///< what the times of the track are
  std::int64_t without_time_ = 0;  ///< reports of which nobody knows when they were printed
};

}  // namespace steptune
