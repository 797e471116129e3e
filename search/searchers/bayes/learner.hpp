// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/gaussian_process.hpp"
#include "search/searchers/bayes/hyperparameters.hpp"
#include "search/searchers/bayes/output_transform.hpp"

namespace steptune::bayes {

/// Two beliefs about lengthscales take turns, because neither is right for every space.
inline constexpr std::size_t k_turns = 2;

/// A fitted Gaussian process of one quantity, with the transform of its values.
struct Model {
  GaussianProcess process;
  OutputTransform transform;
};

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
  [[nodiscard]] const Matrix& features() const { return features_; }

  /// The model of all examples and, where `pending` has rows, of their predicted values as if they
  /// had been observed. Needs at least one example.
  [[nodiscard]] Model model(std::size_t turn, const Matrix& pending);

  /// Models condition on at most this many examples.
  static constexpr std::size_t k_model_limit = 1000;

 private:
  struct Belief {
    std::size_t examples = 0;  ///< how many it was fitted to; 0: never
    Warp warp = Warp::none;
    Hyperparameters hyperparameters;
    /// Log density of the values, each given the others, per value: what transforms compare by.
    double evidence = 0.0;
  };

  void advance(std::size_t turn);
  void fit_afresh(Belief& belief, std::size_t turn, std::size_t count) const;
  void refit(Belief& belief, std::size_t turn, std::size_t count) const;
  [[nodiscard]] Belief fitted(Warp warp, std::size_t turn, std::size_t count) const;
  [[nodiscard]] TrainingSet training_set(const OutputTransform& transform,
                                         std::span<const std::size_t> rows) const;
  [[nodiscard]] std::vector<std::size_t> representative_rows(std::size_t count,
                                                             std::size_t limit) const;

  FeatureGroups groups_;
  std::array<Prior, k_turns> priors_;
  bool positive_;
  Matrix features_;
  std::vector<double> values_;
  std::vector<double> standard_errors_;
  std::array<Belief, k_turns> beliefs_;
};

}  // namespace steptune::bayes
