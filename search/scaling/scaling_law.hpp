// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.hpp"

namespace steptune {

/// How the time of the same work depends on the number n of equal machines, in units of the time on
/// one machine. s is the serial share, c what communicating costs.
///
/// Amdahl, "Validity of the single processor approach to achieving large scale computing
/// capabilities", AFIPS 1967: s + (1 - s) / n. With c (n - 1) it is the Universal Scalability Law
/// of Gunther, "A simple capacity model of massively parallel transaction systems", CMG 1993; with
/// c log2(n) the messages of a tree. What a ring moves, c (n - 1) / n, has the form of a serial
/// share and is part of s.
///
/// Gustafson, "Reevaluating Amdahl's law", CACM 31(5), 1988: 1 / (n - s (n - 1)), where the work of
/// a step grows with the machines; times 1 + c log2(n), the messages of a tree in each step.
enum class ScalingLaw { amdahl, amdahl_linear, amdahl_log, gustafson, gustafson_log };
/// Whether the law has a term of its own for communication.
[[nodiscard]] bool communicates(ScalingLaw law);

/// Shares of the time at some count; they add up to 1.
struct TimeShares {
  double serial = 0.0;
  double parallel = 1.0;
  double communication = 0.0;
};

/// A law with its numbers.
struct ScalingCurve {
  ScalingLaw law = ScalingLaw::amdahl;
  double one_s = 1.0;          ///< time on one machine
  double serial = 0.0;         ///< s, in [0, 1]
  double communication = 0.0;  ///< c, not negative
  /// `count` is at least 1.
  [[nodiscard]] double time_s(double count) const;
  [[nodiscard]] TimeShares shares(double count) const;
};

/// The time at one count.
struct ScalingPoint {
  double count = 1.0;           ///< at least 1; each count once
  double time_s = 0.0;          ///< positive
  double relative_error = 0.0;  ///< standard error as a share of the time; positive
};

/// A law fitted to points.
struct ScalingFit {
  ScalingCurve best;
  /// Curves on the border and within the 95 % likelihood region of one quantity: the least and the
  /// greatest value of a quantity over them are its profile likelihood interval.
  std::vector<ScalingCurve> region;
  double chi_squared = 0.0;         ///< of the best curve
  double chi_squared_limit = 0.0;   ///< the greatest within the region
  double degrees_of_freedom = 0.0;  ///< points less parameters
  /// Nothing where the points are too few to compare the law with others.
  std::optional<double> aicc;
  double weight = 0.0;  ///< Akaike weight among the laws that can be compared

  [[nodiscard]] Estimate estimate(const std::function<double(const ScalingCurve&)>& quantity) const;
};

/// A quantity by the first law, with an interval that holds whichever of the laws is true: the
/// union of the intervals of all that the points cannot rule out (those that cannot be compared,
/// and those with at least a twentieth of the first one's weight). `fits` is not empty.
[[nodiscard]] Estimate estimate_by_any(std::span<const ScalingFit> fits,
                                       const std::function<double(const ScalingCurve&)>& quantity);

/// The last of `counts`, from the first on, to which every further machine pays: adds at least
/// `min_efficiency` of the speed that each of the first count's has. `counts` rise; not empty.
[[nodiscard]] double knee_of(const ScalingCurve& curve, std::span<const double> counts,
                             double min_efficiency);

/// The laws fitted to the points, the one that they support most first: weighted
/// least squares in the logarithm of time with s in [0, 1] and 0 <= c <= 10, compared by the Akaike
/// criterion for small samples (Hurvich and Tsai, "Regression and time series model selection in
/// small samples", Biometrika 76(2), 1989). A law with k parameters is compared from k + 2 points
/// on; with fewer it is fitted, behind those that are compared, and cannot be ruled out. None with
/// fewer than 2 points.
///
/// `error_degrees_of_freedom`: that the common scale of the errors is known with; positive, may be
/// infinite. Points that scatter more than their errors widen the intervals.
[[nodiscard]] std::vector<ScalingFit> fit_scaling_laws(std::span<const ScalingPoint> points,
                                                       double error_degrees_of_freedom);

}  // namespace steptune
