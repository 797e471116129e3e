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
  /// Seconds per sample since then, divided by the promised seconds per sample.
  double ratio = 1.0;
};

/// Progress of a whole run, however long it is, in at most 1024 points that are equally many
/// reports apart. Of points that come together (a pipe that is flushed now and then, a clock of
/// whole seconds) the last one counts.
class ProgressTrack {
 public:
  /// Adds a point. Ignores a point that does not advance in samples, or that goes back in time.
  void add(TrackPoint point);
  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] const TrackPoint& front() const { return points_.front(); }
  [[nodiscard]] const TrackPoint& back() const { return latest_; }

  /// Returns the mean seconds per sample from the first point at or after `from_s` to the end. The
  /// 95 % interval follows from up to 20 batch means; nullopt if there are fewer than 5.
  [[nodiscard]] std::optional<Interval95> rate_since(double from_s) const;

  /// Returns the rate over the last `seconds`, or over the last ten intervals if these reach back
  /// further. Ignores points before `from_s`.
  [[nodiscard]] std::optional<Interval95> rate_of_last(double seconds, double from_s) const;

  /// Returns the point from which on the mean differs from `promised`: the maximum-likelihood
  /// estimate (D. V. Hinkley, "Inference about the change-point from cumulative sum tests",
  /// Biometrika 58(3), 1971). Returns nullopt unless the rate since then differs by more than three
  /// standard errors and the promise's half-width, added in quadrature. Ignores points before
  /// `from_s`.
  [[nodiscard]] std::optional<Deviation> deviation(const Interval95& promised, double from_s) const;

 private:
  /// Returns the points that did not come together.
  [[nodiscard]] const std::vector<TrackPoint>& distinct() const;

  std::vector<TrackPoint> points_;
  /// Distinct points of the current `points_`; unset until they are needed after a change.
  mutable std::optional<std::vector<TrackPoint>> distinct_;
  TrackPoint latest_;
  std::size_t stride_ = 1;
  std::size_t reports_ = 0;
};

}  // namespace steptune
