// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace steptune {

/// How far a trial was at one moment. Counters are cumulative.
struct ProgressPoint {
  double samples = 0.0;
  double steps = 0.0;
  double received_s = 0.0;
  std::optional<double> clock_s;
  double phase_s = 0.0;                 ///< cumulative, of reported phases
  std::map<std::string, double> parts;  ///< seconds
};

/// What happened between two points, without the time of reported phases.
struct Interval {
  double samples = 0.0;
  double seconds = 0.0;
};

/// Follows the trial's own clock beside the times at which its lines were received. Lines arrive
/// late and in bursts, so that a step of the clock may be larger than that of the receipts, but by
/// no more than the longest silence: a clock that was set makes a larger one, one of several
/// processes goes back, one that stands or counts in another unit differs by orders of magnitude.
class ClockComparison {
 public:
  void add(double received_s, std::optional<double> clock_s);

  [[nodiscard]] bool is_trusted() const { return fault().empty(); }
  /// Why the trial's clock is not used, for people; empty if it is, or if there is none.
  [[nodiscard]] std::string fault() const;
  [[nodiscard]] bool has_clock() const { return has_clock_; }

 private:
  bool any_ = false;
  bool has_clock_ = true;  ///< in every point
  bool went_back_ = false;
  double first_received_s_ = 0.0;
  double first_clock_s_ = 0.0;
  double received_s_ = 0.0;
  double clock_s_ = 0.0;
  double largest_step_ahead_s_ = 0.0;
  double longest_silence_s_ = 0.0;
};

/// Sees whether a counter has begun again: ten reports in a row that go on from less than half of
/// what it was. A smaller step back, or one among reports that go on, is that of another process,
/// but where the program's own clock went back with it.
class CounterRestart {
 public:
  /// `latest`: the highest so far. `clock_is_behind`: this report's is behind that one's.
  bool is_seen(double samples, double latest, bool clock_is_behind = false);

 private:
  double before_ = 0.0;
  int in_a_row_ = 0;
};

/// A trial's progress in at most 1024 points: whenever that many have come, every other one is
/// dropped, which merges intervals in pairs and loses no sample and no second. The first and the
/// latest point are always there.
class ProgressSeries {
 public:
  /// Points whose sample count is not above the latest one's are ignored (false).
  bool add(ProgressPoint point);
  void clear();

  [[nodiscard]] std::size_t size() const { return points_.size() + (latest_ ? 1 : 0); }
  [[nodiscard]] const ProgressPoint& operator[](std::size_t i) const {
    return i < points_.size() ? points_[i] : *latest_;
  }
  [[nodiscard]] const ProgressPoint& back() const { return (*this)[size() - 1]; }

  /// Time of a point by the clock that counts: the trial's own where it can be trusted.
  [[nodiscard]] double time_s(std::size_t i) const;
  [[nodiscard]] bool uses_own_clock() const { return clock_.has_clock() && clock_.is_trusted(); }
  [[nodiscard]] const ClockComparison& clock() const { return clock_; }
  /// The intervals between the points that `distinct` names.
  [[nodiscard]] std::vector<Interval> intervals(std::span<const std::size_t> distinct) const;
  /// Points between which time has passed: of those that came together (a log that is read now and
  /// then, a clock of whole seconds) the last, which is the one that happened at that time.
  [[nodiscard]] std::vector<std::size_t> distinct_points() const;

 private:
  void thin();

  std::vector<ProgressPoint> points_;
  std::optional<ProgressPoint> latest_;  ///< not yet one of the kept points
  std::size_t stride_ = 1;               ///< every how many reports a point is kept
  std::size_t since_kept_ = 0;
  ClockComparison clock_;
};

}  // namespace steptune
