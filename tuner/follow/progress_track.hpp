// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/follow/promise.hpp"

namespace steptune {

/// How far a run was, and when.
struct TrackPoint {
  double samples = 0.0;
  double time_s = 0.0;
};

/// From where on a run is not at its promised rate.
struct Deviation {
  TrackPoint since;
  double ratio = 1.0;  ///< seconds per sample from there on over those promised
};

/// The whole way of a run in at most 1024 points, however long it is; equally spaced in reports. Of
/// points that came together (a pipe that is flushed now and then, a clock of whole seconds) the
/// last tells, as the one that happened at that time.
class ProgressTrack {
 public:
  /// Points that do not go on, in samples or in time, are left out.
  void add(TrackPoint point);
  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] const TrackPoint& front() const { return points_.front(); }
  [[nodiscard]] const TrackPoint& back() const { return latest_; }

  /// Mean seconds per sample from the first point at or after `from_s` to the end, with the 95 %
  /// interval of up to 20 batch means; nothing where there are fewer than 5.
  [[nodiscard]] std::optional<Interval95> rate_since(double from_s) const;

  /// The same for the last `seconds`, or where these hold too few reports for the last ten points.
  [[nodiscard]] std::optional<Interval95> rate_of_last(double seconds, double from_s) const;

  /// Where the mean left `promised`: the maximum-likelihood estimate of the one point from which on
  /// it differs (D. V. Hinkley, "Inference about the change-point from cumulative sum tests",
  /// Biometrika 58(3), 1971), told if the rate from there on differs by more than three standard
  /// errors and more than the promise's interval. What came before `from_s` is not looked at.
  [[nodiscard]] std::optional<Deviation> deviation(const Interval95& promised, double from_s) const;

 private:
  /// Those between which time has passed.
  [[nodiscard]] const std::vector<TrackPoint>& distinct() const;

  std::vector<TrackPoint> points_;
  /// Of `points_` as they are; nothing: not asked for since these changed.
  mutable std::optional<std::vector<TrackPoint>> distinct_;
  TrackPoint latest_;
  std::size_t stride_ = 1;
  std::size_t reports_ = 0;
};

}  // namespace steptune
