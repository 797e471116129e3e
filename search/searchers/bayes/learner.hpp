// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/searchers/bayes/hyperparameters.hpp"
#include "search/searchers/bayes/output_transform.hpp"

namespace steptune::bayes {

/// A fitted Gaussian process of one quantity, with the transform of its values.
struct Model {
  GaussianProcess process;
  OutputTransform transform;
  double weight = 1.0;  ///< how far it is to be believed beside the others
};

/// Weight of a belief beside another one whose evidence per example is higher by minus
/// `evidence_gap`.
[[nodiscard]] double belief_weight(double evidence_gap, std::size_t examples);
/// Beliefs this much less likely than the likeliest are not worth their time.
inline constexpr double k_negligible = 0.05;

/// Log density of `values`, which `model` rests on, each given all others, per value.
[[nodiscard]] double evidence_of(const Model& model, std::span<const double> values);

/// Learns one quantity (an objective, a part of it, feasibility) from examples that arrive one by
/// one. What it believes is a function of the sequence of examples alone: hyperparameters are
/// fitted at fixed numbers of examples, from scratch at some of them and from the last ones in
/// between, so that a learner fed all at once believes the same as one asked after each example.
class Learner {
 public:
  /// `positive`: values are worth trying on a log scale. `dimensions`: parameters that vary.
  Learner(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  void add(std::span<const double> features, double value, double standard_error);
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] std::span<const double> standard_errors() const { return standard_errors_; }
  [[nodiscard]] const Matrix& features() const { return features_; }

  /// What is worth believing after all examples and, where `pending` has rows, after their
  /// predicted values as if they had been observed: at least one model and at most `most`, the
  /// likeliest first, weights adding up to 1. Needs at least one example.
  [[nodiscard]] std::vector<Model> models(const Matrix& pending, std::size_t most);
  /// The likeliest of them.
  [[nodiscard]] Model model(const Matrix& pending);

  /// Models condition on at most this many examples and those since the last fit.
  static constexpr std::size_t k_model_limit = 1000;

 private:
  /// A process that rests on a representative choice of the examples up to a fit, built at once,
  /// and on all later ones, appended.
  struct Conditioned {
    std::size_t built_from = 0;  ///< examples
    std::size_t examples = 0;    ///< built from and appended
    std::vector<std::size_t> rows;
    /// Of the values up to the fit: scales the noise of all rows. Targets follow all values.
    OutputTransform noise_transform;
    GaussianProcess process;
  };

  /// One prior under one transform.
  struct Belief {
    std::size_t prior = 0;
    Warp warp = Warp::none;
    std::size_t examples = 0;  ///< how many it was fitted to; 0: never
    Hyperparameters hyperparameters;
    /// Log density of the values, each given the others, per value: what beliefs compare by.
    double evidence = 0.0;
    /// Conditioned on all examples that were there when it was last wanted.
    std::optional<Conditioned> conditioned;
  };

  void make_beliefs();
  /// Places of the beliefs, the likeliest first.
  [[nodiscard]] std::vector<std::size_t> order() const;
  void advance();
  void advance(Belief& belief, std::size_t place) const;
  void fit_afresh(Belief& belief, std::size_t count) const;
  void refit(Belief& belief, std::size_t count) const;
  void fit(Belief& belief, std::size_t count, std::size_t limit,
           const std::vector<Hyperparameters>& starts, int evaluations) const;
  [[nodiscard]] Model condition(Belief& belief, const Matrix& pending) const;
  void keep_up(Belief& belief) const;
  [[nodiscard]] TrainingSet training_set(const OutputTransform& transform,
                                         std::span<const std::size_t> rows) const;
  [[nodiscard]] std::vector<std::size_t> representative_rows(std::size_t count,
                                                             std::size_t limit) const;

  FeatureGroups groups_;
  std::vector<Prior> priors_;
  bool positive_;
  Matrix features_;
  std::vector<double> values_;
  std::vector<double> standard_errors_;
  std::vector<Belief> beliefs_;
};

}  // namespace steptune::bayes
