// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.hpp"

namespace steptune {

/// Laws for the time of fixed work on n equal machines, relative to the time on one machine. s is
/// the serial share, c the cost of communication.
///
/// Amdahl, "Validity of the single processor approach to achieving large scale computing
/// capabilities", AFIPS 1967: s + (1 - s) / n. Plus c (n - 1), it is the Universal Scalability Law
/// of Gunther, "A simple capacity model of massively parallel transaction systems", CMG 1993. Plus
/// c log2(n), it models messages along a tree. The traffic of a ring, c (n - 1) / n, has the form
/// of a serial share and counts as part of s.
///
/// Gustafson, "Reevaluating Amdahl's law", CACM 31(5), 1988: 1 / (n - s (n - 1)), for steps whose
/// work grows with the machines. Times 1 + c log2(n), it models messages along a tree in each step.
enum class ScalingLaw { amdahl, amdahl_linear, amdahl_log, gustafson, gustafson_log };
/// True if the law has a separate term for communication.
[[nodiscard]] bool communicates(ScalingLaw law);

/// Shares of the time at one count; they add up to 1.
struct TimeShares {
  double serial = 0.0;
  double parallel = 1.0;
  double communication = 0.0;
};

/// A law with its parameters.
struct ScalingCurve {
  ScalingLaw law = ScalingLaw::amdahl;
  double one_s = 1.0;          ///< time on one machine
  double serial = 0.0;         ///< s, in [0, 1]
  double communication = 0.0;  ///< c, not negative
  /// Returns the time at `count`, which is at least 1.
  [[nodiscard]] double time_s(double count) const;
  [[nodiscard]] TimeShares shares(double count) const;
};

/// Measured time at one count.
struct ScalingPoint {
  double count = 1.0;           ///< at least 1; different for each point
  double time_s = 0.0;          ///< positive
  double relative_error = 0.0;  ///< standard error as a share of the time; positive
};

/// A law fitted to points.
struct ScalingFit {
  ScalingCurve best;
  /// Curves on the border of and within the 95 % likelihood region. A quantity's least and greatest
  /// value over these curves are its profile likelihood interval.
  std::vector<ScalingCurve> region;
  double chi_squared = 0.0;         ///< chi-squared of the best curve
  double chi_squared_limit = 0.0;   ///< greatest chi-squared within the region
  double degrees_of_freedom = 0.0;  ///< number of points minus number of parameters
  /// nullopt if there are too few points to compare this law with others.
  std::optional<double> aicc;
  double weight = 0.0;  ///< Akaike weight among the laws that can be compared

  [[nodiscard]] Estimate estimate(const std::function<double(const ScalingCurve&)>& quantity) const;
};

/// Returns the quantity's value under the first law, with an interval that covers it under any law
/// that the points cannot rule out: the union of the intervals of all laws whose chi-squared is
/// within the limit of the closest-fitting law. `fits` must not be empty.
[[nodiscard]] Estimate estimate_by_any(std::span<const ScalingFit> fits,
                                       const std::function<double(const ScalingCurve&)>& quantity);

/// Returns the last of `counts` up to which every added machine pays: it adds at least
/// `min_efficiency` times the speed that each machine has at the first count. `counts` ascend and
/// are not empty.
[[nodiscard]] double knee_of(const ScalingCurve& curve, std::span<const double> counts,
                             double min_efficiency);

/// Fits all laws to the points and returns the best supported law first. Weighted least squares in
/// the logarithm of time, with s in [0, 1] and 0 <= c <= 10; compared by the Akaike criterion for
/// small samples (Hurvich and Tsai, "Regression and time series model selection in small samples",
/// Biometrika 76(2), 1989). A law with k parameters is compared if there are at least k + 2 points.
/// With fewer points it is fitted, placed behind the compared laws, and cannot be ruled out.
/// Returns no fit for fewer than 2 points.
///
/// `error_degrees_of_freedom` says how well the common scale of the errors is known; positive, may
/// be infinite. Points that scatter more than their errors widen the intervals.
[[nodiscard]] std::vector<ScalingFit> fit_scaling_laws(std::span<const ScalingPoint> points,
                                                       double error_degrees_of_freedom);

}  // namespace steptune
