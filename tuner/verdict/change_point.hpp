// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/interval.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// Probability at which `bisect` names a version.
inline constexpr double k_bisect_confidence = 1.0 - k_error_95;
/// Least time of a stage, in seconds. Even two versions that start at once need it: a first run of
/// 2 s each, and two pairs of fresh runs of 4 s each.
inline constexpr double k_least_stage_s = 20.0;

/// Returns true if a version is clearly slower than the good one: its slowdown exceeds two standard
/// errors. Returns false if the slowdown is more than two standard errors below 2 %, otherwise
/// nullopt. `slowdown`: logarithm of the ratio of both versions' times.
[[nodiscard]] std::optional<bool> is_slower(const MeasuredValue& slowdown);

/// Returns the slowdown that `judge` found for a version. Several looks and versions widen the
/// interval of `judge`. The error returned here is not widened (`SpeedUp::standard_error`), because
/// nothing is claimed yet. Returns nullopt if the error is not known.
[[nodiscard]] std::optional<MeasuredValue> slowdown_in_stage(const SpeedUp& speed_up);

/// Probabilities of the first slow version in a sequence of versions. All versions before it are as
/// fast as the good version. The first slow version and all later versions are slower by one
/// unknown factor. At the start, each version is equally likely to be the first slow one.
///
/// Follows probabilistic bisection (M. Horstein, "Sequential transmission using noiseless
/// feedback", IEEE Trans. Information Theory 9(3), 1963; M. V. Burnashev and K. Sh. Zigangirov, "An
/// interval estimation problem for controlled observations", Problems of Information Transmission
/// 10(3), 1974; R. Waeber, P. I. Frazier and S. G. Henderson, "Bisection search with noisy
/// responses", SIAM J. Control and Optimization 51(3), 2013). Unlike there, an answer is a measured
/// slowdown instead of yes or no, and one stage measures several versions.
class ChangePoint {
 public:
  /// `versions` is the number of versions after the good one, at least 1. The last one is the bad
  /// one.
  explicit ChangePoint(std::size_t versions);

  /// Measurement of a version in comparison with the good version.
  struct Observation {
    std::size_t version = 0;
    double slowdown = 0.0;  ///< logarithm of the ratio of their times
    double error = 0.0;     ///< its standard error, above 0
  };
  /// Adds the measurements of a stage, all compared with the same runs of the good version. Their
  /// errors have a common part, the error of the good version. Its variance is half of the variance
  /// of the most precise measurement, because both versions ran equally often. For example, if the
  /// good version was lucky, all slowdowns look larger, but their differences do not.
  void observe(std::vector<Observation> stage);
  /// Returns the mean slowdown of a version over its measurements; nullopt if there is none.
  [[nodiscard]] std::optional<MeasuredValue> measured(std::size_t version) const;
  /// Excludes a version from being measured, because it cannot be built or run.
  void skip(std::size_t version);

  /// Returns the probability of each version to be the first slow one.
  [[nodiscard]] std::vector<double> probabilities() const;
  /// Returns the version whose probability is at least `confidence`; nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> found(double confidence) const;
  /// Returns the smallest set of versions whose probabilities sum to at least `confidence`, in
  /// order.
  [[nodiscard]] std::vector<std::size_t> remaining(double confidence) const;
  /// True if measuring a version can exclude one of `remaining`. False if all versions that divide
  /// them were skipped.
  [[nodiscard]] bool can_narrow(double confidence) const;
  /// Returns at most `most` versions to measure next, in order. These are the versions that divide
  /// the probability into equal parts, and their predecessors if there is room. Empty if each of
  /// them was skipped.
  [[nodiscard]] std::vector<std::size_t> next(std::size_t most) const;
  /// Returns at most `most` versions to measure next, the bad one included. Used until it is known
  /// if the bad version is slower.
  [[nodiscard]] std::vector<std::size_t> next_with_bad(std::size_t most) const;
  /// Returns the seconds of the next stage if `left_s` of `whole_s` seconds are left. Assumes that
  /// each stage divides the number of versions by `k_most_judged`, and that one more stage
  /// confirms the result. All stages get the same time, but at least a sixth of the whole and
  /// `k_least_stage_s`. If the rest would be too short for another stage, the next stage gets all
  /// the time that is left.
  [[nodiscard]] double stage_s(double confidence, double left_s, double whole_s) const;
  /// Returns the estimate of the slowdown if `first` is the first slow version; nullopt if no slow
  /// version was measured.
  [[nodiscard]] std::optional<double> slowdown_from(std::size_t first) const;

 private:
  /// Estimate of the slowdown if `first` is the first slow version, as two sums. `weights` is the
  /// estimate's inverse variance, and `weighted` is the estimate times `weights`.
  struct Evidence {
    double weighted = 0.0;  ///< at least 0
    double weights = 0.0;
  };
  [[nodiscard]] Evidence evidence_from(std::size_t first) const;
  /// Returns the logarithm of the likelihood, integrated over all slowdowns, except for a constant
  /// (Gelman et al., Bayesian Data Analysis, 3rd ed., section 14.8).
  [[nodiscard]] double log_likelihood(std::size_t first) const;

  std::vector<bool> is_skipped_;
  std::vector<std::vector<Observation>> stages_;
};

}  // namespace steptune
