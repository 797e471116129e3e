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
  double standard_error = 0.0;  ///< of the value, beside what the model leaves unexplained; 0: none
};

/// An effect: of one parameter by itself, or what two do together beyond that.
struct EffectGroup {
  std::size_t first = 0;  ///< index in `SearchSpace::parameters`
  std::optional<std::size_t> second;
};

/// Mean and 95 % interval of a posterior distribution, of which there is one value per draw.
[[nodiscard]] Estimate estimate_of(std::vector<double> draws);

/// What measured values say of the effects of parameters: the functional analysis of variance of
/// Hooker, "Generalized functional ANOVA diagnostics", JCGS 16(3), 2007, and of Hutter, Hoos and
/// Leyton-Brown, "An efficient approach for assessing hyperparameter importance", ICML 2014, to
/// second order. In place of their forest a Bayesian regression on orthonormal functions (Sudret,
/// "Global sensitivity analysis using polynomial chaos expansions", Reliability Engineering and
/// System Safety 93(7), 2008), which needs far fewer trials where effects are smooth, and whose
/// spike-and-slab prior on each effect (Xu and Ghosh, "Bayesian variable selection and estimation
/// for group lasso", Bayesian Analysis 10(4), 2015) can say that a parameter does nothing. The
/// posterior distribution is drawn from by Gibbs sampling; each draw is a set of effects.
///
/// Inactive parameters (`when`) have no effect where they are inactive. Immutable; the same samples
/// give the same draws.
class EffectsModel {
 public:
  /// Nothing where no parameter differs among the samples, all values are equal, or there are fewer
  /// than `k_fewest_samples`.
  [[nodiscard]] static std::optional<EffectsModel> fit(const SearchSpace& space,
                                                       std::span<const EffectSample> samples);
  static constexpr std::size_t k_fewest_samples = 8;

  /// Of the parameters that differ among the samples, and of their pairs.
  [[nodiscard]] const std::vector<EffectGroup>& groups() const { return groups_; }
  [[nodiscard]] bool varied(std::size_t parameter) const { return bases_[parameter].size() > 0; }
  [[nodiscard]] std::size_t draw_count() const { return draws_.size(); }

  /// Each group's share of the variance of values over the space, by draw. With constraints effects
  /// may be correlated; their common variance is in no share.
  [[nodiscard]] const std::vector<std::vector<double>>& shares() const { return shares_; }
  /// Value at a point less the mean over the samples, by draw.
  [[nodiscard]] std::vector<double> values_at(const Point& point) const;
  /// The effect of one parameter by itself at a position, by draw.
  [[nodiscard]] std::vector<double> main_effect(std::size_t parameter, double position) const;
  [[nodiscard]] const EffectBasis& basis(std::size_t parameter) const { return bases_[parameter]; }
  /// Mean of the samples' values, weighted by their errors.
  [[nodiscard]] double mean_value() const { return mean_; }
  /// What a configuration's value differs from the model by (standard deviation), by draw.
  [[nodiscard]] const std::vector<double>& unexplained() const { return unexplained_; }
  /// Variance of the samples that the effects explain, as a share: one less that which is left to
  /// each single sample.
  [[nodiscard]] Estimate explained() const { return explained_; }

 private:
  /// A column: a function of the first parameter, times one of the second.
  struct Product {
    std::size_t first = 0;
    std::size_t second = 0;
    double degree = 1.0;
  };
  using Products = std::vector<Product>;

  EffectsModel() = default;
  void choose_groups(const SearchSpace& space, std::span<const EffectSample> samples,
                     const std::vector<bool>& varies, const std::vector<std::size_t>& paired);
  /// All groups' functions at a point, in a row of `width_`.
  void features(const Point& point, std::span<double> row) const;
  void sample_posterior(std::span<const EffectSample> samples);
  void compute_shares(const SearchSpace& space, std::span<const EffectSample> samples);

  std::vector<EffectBasis> bases_;  ///< per parameter; empty where it did not vary
  std::vector<EffectGroup> groups_;
  std::vector<Products> products_;  ///< per group: the columns that it has in a row
  std::size_t width_ = 0;
  double mean_ = 0.0;
  std::vector<double> feature_means_;
  std::vector<std::vector<double>> draws_;  ///< coefficients
  std::vector<double> unexplained_;
  Estimate explained_;
  std::vector<std::vector<double>> shares_;
};

}  // namespace steptune
