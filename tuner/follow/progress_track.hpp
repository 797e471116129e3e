// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/follow/promise.hpp"

namespace steptune {

/// Progress of a run at one time.
struct TrackPoint {
  double samples = 0.0;
  double time_s = 0.0;
};

/// Start and size of a deviation from the promised rate.
struct Deviation {
  TrackPoint since;
  /// Seconds per sample from `since` on, divided by the promised seconds per sample.
  double ratio = 1.0;
};

/// Progress of a whole run in at most 1024 points. In a long run, keeps every second, fourth,
/// eighth, ... report. If several points have about the same time, rates use only the last one.
/// This happens with a pipe that is flushed now and then, or with a clock of whole seconds.
class ProgressTrack {
 public:
  /// Adds a point. Ignores a point that does not advance in samples, or that goes back in time.
  void add(TrackPoint point);
  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] const TrackPoint& front() const { return points_.front(); }
  [[nodiscard]] const TrackPoint& back() const { return latest_; }

  /// Returns the mean seconds per sample from the first point at or after `from_s` to the end. The
  /// 95 % interval is computed from up to 20 batch means. Returns nullopt if there are fewer than
  /// 5.
  [[nodiscard]] std::optional<Interval95> rate_since(double from_s) const;

  /// Returns the rate over the last `seconds`, or over the last ten intervals if these reach back
  /// further. Ignores points before `from_s`.
  [[nodiscard]] std::optional<Interval95> rate_of_last(double seconds, double from_s) const;

  /// Returns the point at which the mean began to differ from `promised`: the maximum-likelihood
  /// estimate (D. V. Hinkley, "Inference about the change-point from cumulative sum tests",
  /// Biometrika 58(3), 1971). Returns nullopt if the rate since that point hardly differs from
  /// `promised`. The difference must exceed the root of the sum of two squares: three standard
  /// errors, and the half-width of `promised`. Ignores points before `from_s`.
  [[nodiscard]] std::optional<Deviation> deviation(const Interval95& promised, double from_s) const;

 private:
  /// Returns `points_` with only the last of several points at about the same time
  /// (`distinct_points`).
  [[nodiscard]] const std::vector<TrackPoint>& distinct() const;

  std::vector<TrackPoint> points_;
  /// Result of `distinct` for the current `points_`; unset until it is needed.
  mutable std::optional<std::vector<TrackPoint>> distinct_;
  TrackPoint latest_;
  std::size_t stride_ = 1;
  std::size_t reports_ = 0;
};

}  // namespace steptune
