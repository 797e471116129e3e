// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.hpp"

namespace steptune {

/// Most values of a parameter over which a scaling law is fitted.
inline constexpr std::uint64_t k_most_counts = 4096;
/// Smallest relative error of a measured time; also used if the error is unknown and launches do
/// not differ.
inline constexpr double k_least_time_error = 1e-3;

/// Laws for the time of fixed work on n equal machines, relative to the time on one machine. In the
/// formulas, s is the serial share and c the cost of communication.
///
/// - `amdahl`: s + (1 - s) / n. Amdahl, "Validity of the single processor approach to achieving
///   large scale computing capabilities", AFIPS 1967.
/// - `amdahl_linear`: Amdahl's law plus c (n - 1), the Universal Scalability Law. Gunther,
///   "A simple capacity model of massively parallel transaction systems", CMG 1993.
/// - `amdahl_log`: Amdahl's law plus c log2(n), for messages along a tree.
/// - `gustafson`: 1 / (n - s (n - 1)), for steps whose work grows with the machines. Gustafson,
///   "Reevaluating Amdahl's law", CACM 31(5), 1988.
/// - `gustafson_log`: Gustafson's law times 1 + c log2(n), for messages along a tree in each step.
///
/// No law has a term c (n - 1) / n for messages around a ring. Such a term has the form of a serial
/// share, so it is fitted as part of s.
enum class ScalingLaw { amdahl, amdahl_linear, amdahl_log, gustafson, gustafson_log };
/// True if the law has a separate term for communication.
[[nodiscard]] bool communicates(ScalingLaw law);

/// Parts of the time on a given number of machines, relative to the time on one machine, or as
/// shares that add up to 1.
struct TimeParts {
  double serial = 0.0;
  double parallel = 1.0;
  double communication = 0.0;
  [[nodiscard]] double total() const { return serial + parallel + communication; }
};

/// A law with its parameters.
struct ScalingCurve {
  ScalingLaw law = ScalingLaw::amdahl;
  double one_s = 1.0;          ///< time on one machine
  double serial = 0.0;         ///< s, in [0, 1]
  double communication = 0.0;  ///< c, not negative
  /// Returns the time on `count` machines; `count` must be at least 1.
  [[nodiscard]] double time_s(double count) const;
  /// Returns the shares of that time.
  [[nodiscard]] TimeParts shares(double count) const;
};

/// Measured time on one number of machines.
struct ScalingPoint {
  double count = 1.0;           ///< number of machines, at least 1; different for each point
  double time_s = 0.0;          ///< positive
  double relative_error = 0.0;  ///< standard error as a share of the time; positive
};

/// A law fitted to points.
struct ScalingFit {
  ScalingCurve best;
  /// Curves inside and on the border of the 95 % likelihood region. The smallest and the largest
  /// value of a quantity over these curves are the ends of its profile likelihood interval.
  std::vector<ScalingCurve> region;
  double chi_squared = 0.0;         ///< chi-squared of the best curve
  double chi_squared_limit = 0.0;   ///< greatest chi-squared within the region
  double degrees_of_freedom = 0.0;  ///< points minus parameters of the law, at least 0
  /// Akaike criterion for small samples. nullopt if there are too few points to compare this law.
  std::optional<double> aicc;
  double weight = 0.0;  ///< Akaike weight among the laws that can be compared

  [[nodiscard]] Estimate estimate(const std::function<double(const ScalingCurve&)>& quantity) const;
};

/// Returns the quantity's value under the first law. The interval covers the intervals of the
/// first law and of all laws that the points do not rule out. The points rule out a law if its
/// chi-squared is above the limit of the law that fits best. `fits` must not be empty.
[[nodiscard]] Estimate estimate_by_plausible_laws(
    std::span<const ScalingFit> fits, const std::function<double(const ScalingCurve&)>& quantity);

/// Returns the last of `counts` (numbers of machines) up to which added machines are worth their
/// price. From one count to the next, each added machine must add at least `min_efficiency` times
/// the speed per machine at the first count. `counts` must ascend and not be empty.
[[nodiscard]] double knee_of(const ScalingCurve& curve, std::span<const double> counts,
                             double min_efficiency);

/// Fits all laws to the points and returns them, the best supported law first. With fewer than 4
/// points, no law can be compared, and `amdahl` is first. Returns no fit for fewer than 2 points.
///
/// Uses weighted least squares in the logarithm of time, with s in [0, 1] and 0 <= c <= 10.
/// Compares laws by the Akaike criterion for small samples (Hurvich and Tsai, "Regression and time
/// series model selection in small samples", Biometrika 76(2), 1989). A law with k parameters is
/// compared if there are at least k + 2 points. Otherwise it comes after the compared laws and has
/// weight 0.
///
/// `error_degrees_of_freedom` says how well the points' errors are known, in degrees of freedom;
/// positive. Infinite means exactly known errors. If it is finite and the points scatter more than
/// their errors, the intervals are widened.
[[nodiscard]] std::vector<ScalingFit> fit_scaling_laws(std::span<const ScalingPoint> points,
                                                       double error_degrees_of_freedom);

}  // namespace steptune
