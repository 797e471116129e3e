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
  double weight = 1.0;  ///< weight relative to the other models
};

/// Returns the weight of a model relative to the best model. `evidence_gap` is its evidence per
/// example minus the best model's, so it is not positive.
[[nodiscard]] double candidate_weight(double evidence_gap, std::size_t examples);
/// With fewer trials, an earlier study or the peaks of memory teach too little to be used.
inline constexpr std::size_t k_fewest_examples = 5;
/// Models with a lower relative weight are not used, because they are not worth their time.
inline constexpr double k_negligible = 0.05;

/// Returns the mean log density of the model's `values`, each predicted from all others.
[[nodiscard]] double evidence_of(const Model& model, std::span<const double> values);

/// Learns one quantity (an objective, a part of it, memory) from examples that arrive one by one.
/// The result depends only on the sequence of examples: hyperparameters are fitted at fixed numbers
/// of examples. Some fits start from scratch, other fits from the last one. The result does not
/// depend on when models are requested.
class Learner {
 public:
  /// If `positive` is true, all values are positive, and a logarithmic scale is tried, too.
  /// `dimensions` is the number of parameters that vary.
  Learner(const FeatureGroups& groups, std::size_t dimensions, bool positive);

  void add(std::span<const double> features, double value, double standard_error);
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] std::span<const double> standard_errors() const { return standard_errors_; }
  [[nodiscard]] const Matrix& features() const { return features_; }

  /// Returns at least one and at most `most` models, the likeliest first, with weights that add up
  /// to 1. `pending` has the features of running trials; models treat their predicted values as if
  /// they were observed. Needs at least one example.
  [[nodiscard]] std::vector<Model> models(const Matrix& pending, std::size_t most);
  /// Returns the likeliest model.
  [[nodiscard]] Model model(const Matrix& pending);

  /// Models use at most this many examples, plus those since the last fit.
  static constexpr std::size_t k_model_limit = 1000;
  /// Number of examples at which hyperparameters are fitted first.
  static constexpr std::size_t k_first_fit = 3;

 private:
  /// A process built from a representative selection of the examples up to a fit. Later examples
  /// are appended to it.
  struct Conditioned {
    std::size_t built_from = 0;  ///< number of examples it was built from
    std::size_t examples = 0;    ///< number of examples built from and appended
    std::vector<std::size_t> rows;
    /// Transform computed from the values up to the fit. It scales the noise of all rows, but
    /// targets use a transform of all values.
    OutputTransform noise_transform;
    GaussianProcess process;
  };

  /// One prior combined with one transform.
  struct ModelCandidate {
    std::size_t prior = 0;
    Warp warp = Warp::none;
    std::size_t examples = 0;  ///< number of examples of the last fit; 0 if never fitted
    Hyperparameters hyperparameters;
    /// Mean log density of the values, each predicted from all others; compares candidates.
    double evidence = 0.0;
    /// Process that has learned all examples up to the last request.
    std::optional<Conditioned> conditioned;
  };

  void make_candidates();
  /// Indices of the candidates, the likeliest first.
  [[nodiscard]] std::vector<std::size_t> order() const;
  /// Makes all fits of hyperparameters that are due at the current number of examples.
  void advance();
  void advance(ModelCandidate& candidate, std::size_t place) const;
  void fit_afresh(ModelCandidate& candidate, std::size_t count) const;
  void refit(ModelCandidate& candidate, std::size_t count) const;
  void fit(ModelCandidate& candidate, std::size_t count, std::size_t limit,
           const std::vector<Hyperparameters>& starts, int evaluations) const;
  [[nodiscard]] Model condition(ModelCandidate& candidate, const Matrix& pending) const;
  /// Updates the candidate's process to all examples.
  void keep_up(ModelCandidate& candidate) const;
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
  std::vector<ModelCandidate> candidates_;
};

}  // namespace steptune::bayes
