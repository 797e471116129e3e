// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// How far a trial was at one moment. Counters are cumulative.
struct ProgressPoint {
  double samples = 0.0;
  double steps = 0.0;
  double received_s = 0.0;
  std::optional<double> clock_s;
  std::map<std::string, double> parts;  ///< seconds
};

/// What happened between two points.
struct Interval {
  double samples = 0.0;
  double seconds = 0.0;
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

  /// The `size() - 1` intervals, with times of one clock throughout.
  [[nodiscard]] std::vector<Interval> intervals() const;

 private:
  [[nodiscard]] bool trusts_clock() const;
  void thin();

  std::vector<ProgressPoint> points_;
  std::optional<ProgressPoint> latest_;  ///< not yet one of the kept points
  std::size_t stride_ = 1;               ///< every how many reports a point is kept
  std::size_t since_kept_ = 0;
  bool every_point_has_clock_ = true;
};

}  // namespace steptune
