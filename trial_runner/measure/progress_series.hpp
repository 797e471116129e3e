// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace steptune {

/// Progress of a trial at one moment. Counters are cumulative.
struct ProgressPoint {
  double samples = 0.0;
  double steps = 0.0;
  double received_s = 0.0;
  std::optional<double> clock_s;
  double phase_s = 0.0;                 ///< cumulative time of reported phases
  std::map<std::string, double> parts;  ///< seconds
};

/// Samples and time between two points, without reported phases.
struct Interval {
  double samples = 0.0;
  double seconds = 0.0;

  Interval& operator+=(const Interval& other) {
    samples += other.samples;
    seconds += other.seconds;
    return *this;
  }
};
[[nodiscard]] Interval sum_of(std::span<const Interval> intervals);

/// Compares the trial's own clock with the times at which lines were received. Lines arrive late
/// and in bursts. So the clock may advance more than the times of receipt, but not by more than the
/// longest silence; otherwise somebody has set the clock. If the clock goes back, several processes
/// report. If it stands still or has another unit, it differs from the times of receipt by orders
/// of magnitude.
class ClockComparison {
 public:
  void add(double received_s, std::optional<double> clock_s);

  [[nodiscard]] bool is_trusted() const { return fault().empty(); }
  /// Says why the trial's clock is not used, for people; empty if it is used or absent.
  [[nodiscard]] std::string fault() const;
  [[nodiscard]] bool has_clock() const { return has_clock_; }

 private:
  bool any_ = false;
  bool has_clock_ = true;  ///< true while every point has a clock
  bool went_back_ = false;
  double first_received_s_ = 0.0;
  double first_clock_s_ = 0.0;
  double received_s_ = 0.0;
  double clock_s_ = 0.0;
  double largest_step_ahead_s_ = 0.0;
  double longest_silence_s_ = 0.0;
};

/// Detects a counter that has started again: ten reports in a row that continue from less than half
/// of its former value. A smaller decrease, or a single low value, comes from another process.
class CounterRestart {
 public:
  /// Adds a report. `latest` is the highest value so far. Returns true if the counter has started
  /// again.
  bool is_seen(double samples, double latest);

 private:
  double before_ = 0.0;
  int in_a_row_ = 0;
};

/// A trial's progress in at most 1024 points. When the limit is reached, drops every other point,
/// which merges intervals in pairs without losing samples or seconds. Always keeps the first and
/// the latest point.
class ProgressSeries {
 public:
  /// Adds a point. If its sample count does not exceed that of the latest point, ignores it and
  /// returns false.
  bool add(ProgressPoint point);
  void clear();

  [[nodiscard]] std::size_t size() const { return points_.size() + (latest_ ? 1 : 0); }
  [[nodiscard]] const ProgressPoint& operator[](std::size_t i) const {
    return i < points_.size() ? points_[i] : *latest_;
  }
  [[nodiscard]] const ProgressPoint& back() const { return (*this)[size() - 1]; }

  /// Returns the time of a point by the trial's own clock if it can be trusted; otherwise by
  /// receipt.
  [[nodiscard]] double time_s(std::size_t i) const;
  [[nodiscard]] bool uses_own_clock() const { return clock_.has_clock() && clock_.is_trusted(); }
  [[nodiscard]] const ClockComparison& clock() const { return clock_; }
  /// Returns the intervals between neighbouring points of `distinct`, the indices of some points.
  [[nodiscard]] std::vector<Interval> intervals(std::span<const std::size_t> distinct) const;
  /// Returns the indices of points at distinct times (`distinct_points.hpp`).
  [[nodiscard]] std::vector<std::size_t> distinct_points() const;

 private:
  void thin();

  std::vector<ProgressPoint> points_;
  std::optional<ProgressPoint> latest_;  ///< not yet one of the kept points
  std::size_t stride_ = 1;               ///< number of reports for each kept point
  std::size_t since_kept_ = 0;
  ClockComparison clock_;
};

}  // namespace steptune
