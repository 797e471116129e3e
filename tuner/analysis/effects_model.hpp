// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.hpp"
#include "search/space/search_space.hpp"
#include "tuner/analysis/effect_basis.hpp"

namespace steptune {

/// One measured value of a configuration.
struct EffectSample {
  Point point;  ///< `SearchSpace::encode`
  double value = 0.0;
  /// Error of the measurement, without the unexplained variation; 0: none.
  double standard_error = 0.0;
};

/// Effect of one parameter alone, or the additional effect of two parameters together.
struct EffectGroup {
  std::size_t first = 0;  ///< index in `SearchSpace::parameters`
  std::optional<std::size_t> second;
};

/// Returns the mean of a posterior distribution, given its draws.
[[nodiscard]] double mean_of_draws(const std::vector<double>& draws);
/// Returns mean and 95 % interval of a posterior distribution, given its draws.
[[nodiscard]] Estimate estimate_of(std::vector<double> draws);

/// Effects of parameters on measured values: the functional analysis of variance of Hooker,
/// "Generalized functional ANOVA diagnostics", JCGS 16(3), 2007, and of Hutter, Hoos and
/// Leyton-Brown, "An efficient approach for assessing hyperparameter importance", ICML 2014, to
/// second order. Instead of their forest it uses a Bayesian regression on orthonormal functions
/// (Sudret, "Global sensitivity analysis using polynomial chaos expansions", Reliability
/// Engineering and System Safety 93(7), 2008). If effects are smooth, the regression needs far
/// fewer trials. A spike-and-slab prior on each effect (Xu and Ghosh, "Bayesian variable selection
/// and estimation for group lasso", Bayesian Analysis 10(4), 2015) allows the conclusion that a
/// parameter has no effect. Gibbs sampling draws from the posterior distribution; each draw is a
/// set of effects.
///
/// A parameter with a condition (`when`) has no effect in configurations in which it is inactive.
/// Immutable; the same samples give the same draws.
class EffectsModel {
 public:
  /// Fits the model. Returns nullopt if no parameter differs among the samples, all values are
  /// equal, or there are fewer than `k_fewest_samples`.
  [[nodiscard]] static std::optional<EffectsModel> fit(const SearchSpace& space,
                                                       std::span<const EffectSample> samples);
  static constexpr std::size_t k_fewest_samples = 8;

  /// Effects of the parameters that differ among the samples, and of their pairs.
  [[nodiscard]] const std::vector<EffectGroup>& groups() const { return groups_; }
  [[nodiscard]] bool varied(std::size_t parameter) const { return bases_[parameter].size() > 0; }
  [[nodiscard]] std::size_t draw_count() const { return draws_.size(); }

  /// Share of each group in the variance of values over the space, for each draw. Constraints may
  /// make effects correlated. No share includes the variance that correlated effects have in
  /// common.
  [[nodiscard]] const std::vector<std::vector<double>>& shares() const { return shares_; }
  /// Returns the value at a point minus the mean over the samples, for each draw.
  [[nodiscard]] std::vector<double> values_at(const Point& point) const;
  /// Returns the effect of one parameter alone at a position, for each draw.
  [[nodiscard]] std::vector<double> main_effect(std::size_t parameter, double position) const;
  [[nodiscard]] const EffectBasis& basis(std::size_t parameter) const { return bases_[parameter]; }
  /// Mean of the samples' values, weighted by their errors.
  [[nodiscard]] double mean_value() const { return mean_; }
  /// Standard deviation of configurations' values around the model, for each draw.
  [[nodiscard]] const std::vector<double>& unexplained() const { return unexplained_; }
  /// Share of the samples' variance that the effects explain: 1 minus the unexplained share.
  [[nodiscard]] Estimate explained() const { return explained_; }

 private:
  /// A column: a function of the first parameter, times a function of the second parameter.
  struct Product {
    std::size_t first = 0;
    std::size_t second = 0;
    double degree = 1.0;
  };
  using Products = std::vector<Product>;

  EffectsModel() = default;
  void choose_groups(const SearchSpace& space, std::span<const EffectSample> samples,
                     const std::vector<bool>& varies, const std::vector<std::size_t>& paired);
  /// Writes the values of all groups' functions at a point to a row of `width_` numbers.
  void features(const Point& point, std::span<double> row) const;
  void sample_posterior(std::span<const EffectSample> samples);
  void compute_shares(const SearchSpace& space, std::span<const EffectSample> samples);

  std::vector<EffectBasis> bases_;  ///< one for each parameter; empty if it did not vary
  std::vector<EffectGroup> groups_;
  std::vector<Products> products_;  ///< columns of each group
  std::size_t width_ = 0;
  double mean_ = 0.0;
  std::vector<double> feature_means_;
  std::vector<std::vector<double>> draws_;  ///< coefficients
  std::vector<double> unexplained_;
  Estimate explained_;
  std::vector<std::vector<double>> shares_;
};

}  // namespace steptune
