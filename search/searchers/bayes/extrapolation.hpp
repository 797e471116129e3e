// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "search/searchers/bayes/acquisition.hpp"

namespace steptune::bayes {

/// A value on the way of one trial, in units in which values of different fidelity differ by a sum.
struct CoursePoint {
  double fidelity = 1.0;  ///< in (0, 1]
  double value = 0.0;
  double noise_variance = 0.0;  ///< of the measurement
};

/// What the value of a full trial will be, judged from a trial's value so far alone: learned from
/// how the values of trials went on from one point of their way to the next. With the logarithm of
/// the fidelity a value drifts (the rate depends linearly on the value itself and on the fidelity:
/// Bayesian linear regression) and wanders (Brownian motion). Trials are stopped for what they have
/// shown already, so that what they went on to do, given that, is an unbiased sample.
class Extrapolation {
 public:
  /// One step on the way of a trial, `from` at the lower fidelity.
  void add(const CoursePoint& from, const CoursePoint& to);
  /// Learns from all steps added; needs `ready`.
  void fit();
  [[nodiscard]] double decay() const { return decay_; }

  /// False while there are too few steps to learn from.
  [[nodiscard]] bool ready() const { return steps_.size() >= 3; }
  struct Full {
    double mean = 0.0;
    double own_variance = 0.0;     ///< of what this trial will do by itself
    double common_variance = 0.0;  ///< of what all trials have in common and is not known yet
  };
  /// The value of the full trial.
  [[nodiscard]] Full full(const CoursePoint& now) const;

 private:
  static constexpr std::size_t k_terms = 3;
  using Terms = std::array<double, k_terms>;
  struct Step {
    CoursePoint from;
    CoursePoint to;
  };
  /// A step in units: a response that depends linearly on the terms, wanders and is noisy.
  struct Example {
    Terms terms{};
    double response = 0.0;
    double spread = 0.0;
    double noise_variance = 0.0;
  };

  [[nodiscard]] Terms terms_of(double from_fidelity, double value, double to_fidelity) const;

  [[nodiscard]] double spread_of(double from_fidelity, double to_fidelity) const;
  [[nodiscard]] std::vector<Example> examples() const;
  void regress(const std::vector<Example>& examples);
  double fit_with_decay();

  double decay_ = 0.0;  ///< power of the fidelity by which trials wander ever less
  std::vector<Step> steps_;
  double centre_ = 0.0;  ///< of the values
  double unit_ = 1.0;    ///< spread of the values that trials begin with
  Terms coefficients_{};
  std::array<Terms, k_terms> covariance_{};
  double wander_ = 1.0;  ///< variance per unit of log fidelity, in squared units
};

}  // namespace steptune::bayes
