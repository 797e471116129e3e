// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "search/searchers/bayes/composition.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/part_learner.hpp"

namespace steptune::bayes {

/// Predictions of the logarithm of an objective: for each row equally likely normals of one
/// variance.
struct Mixture {
  std::size_t draws = 0;
  std::vector<double> means;      ///< `draws` for each row
  std::vector<double> variances;  ///< one for each row

  [[nodiscard]] std::size_t rows() const { return variances.size(); }
  /// The normal of the same mean and variance.
  [[nodiscard]] Normal moments(std::size_t row) const;
  /// Of that normal.
  [[nodiscard]] double log_density(std::size_t row, double log_value) const;
};

/// An objective as a composition of its parts (Astudillo and Frazier 2019, "Bayesian optimization
/// of composite functions"), times what that leaves out (a price, an overhead). Immutable; may be
/// used from several threads at once.
class CompositeModel {
 public:
  /// For rows [first, last) of features as the `FeatureMap` writes them; standard deviations, those
  /// of the parts included, are multiplied by `spread`.
  [[nodiscard]] Mixture predict(const Matrix& features, std::size_t first, std::size_t last,
                                double spread = 1.0) const;
  [[nodiscard]] const Composition& composition() const { return composition_; }
  /// Mean log density of the values, each given all others.
  [[nodiscard]] double evidence() const { return evidence_; }

 private:
  friend class CompositeLearner;

  /// Of predictions of the parts (all of a row, then the next row's) and of the remainder.
  [[nodiscard]] Mixture mix(const Matrix& features, std::size_t first,
                            const std::vector<Normal>& parts, const std::vector<Normal>& remainders,
                            double spread) const;

  Composition composition_;
  double softening_ = 0.0;
  double evidence_ = 0.0;
  std::vector<std::shared_ptr<const PartModel>> parts_;
  std::shared_ptr<const PartModel> remainder_;
  std::vector<FeatureScale> scales_;
  std::shared_ptr<const NormalDraws> draws_;
};

/// Learns the parts of a step from trials that report them, and how they make up the whole. What is
/// believed is a function of the sequence of trials alone.
class CompositeLearner {
 public:
  /// `scales`: by feature, see `FeatureMap`.
  CompositeLearner(const FeatureGroups& groups, std::vector<FeatureScale> scales);

  /// `parts` have the same names in every call, at least two; `value` is positive.
  void add(std::span<const double> features, double value, double standard_error,
           const std::map<std::string, double>& parts);
  /// One model per structure that can be told from the trials, the likeliest first. Needs at least
  /// four trials.
  [[nodiscard]] std::vector<CompositeModel> models(const Matrix& pending);

 private:
  struct Trial {
    double value = 0.0;
    double relative_error = 0.0;
    std::vector<double> parts;
  };
  /// What all learners of one call share.
  struct Context {
    Matrix rows;
    Matrix pending;
    std::size_t fitted = 0;
    double softening = 0.0;
    std::shared_ptr<const NormalDraws> draws;
  };

  [[nodiscard]] Context context(const Matrix& pending) const;
  [[nodiscard]] std::vector<Composition> compositions() const;
  [[nodiscard]] std::optional<PartLearner::Learnt> learn(const std::string& name,
                                                         const std::vector<PartTarget>& targets,
                                                         const Context& context);
  [[nodiscard]] std::vector<PartTarget> part_targets(std::size_t part, double softening) const;
  [[nodiscard]] std::vector<PartTarget> hidden_targets(const Composition& composition,
                                                       double softening) const;
  [[nodiscard]] std::vector<PartTarget> remainder_targets(const Composition& composition,
                                                          double softening) const;
  [[nodiscard]] CompositeModel assemble(const Composition& composition,
                                        const std::vector<PartLearner::Learnt>& parts,
                                        const PartLearner::Learnt& remainder,
                                        const Context& context) const;

  FeatureGroups groups_;
  std::vector<FeatureScale> scales_;
  Matrix features_;
  std::vector<Trial> trials_;
  std::vector<std::string> names_;
  std::map<std::string, PartLearner> learners_;
};

}  // namespace steptune::bayes
