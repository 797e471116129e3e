// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "search/searchers/bayes/bayes_searcher.hpp"

namespace steptune::bayes {

struct BayesSearcher::Outlook {
  /// What is believed, the likeliest first, with weights that add up to 1.
  std::vector<Model> models;
  Posterior others;           ///< of each measured trial as all others have it; may be empty
  std::vector<double> noise;  ///< of each of those; of the same size
  double best = 0.0;          ///< target that improvement is measured from

  /// What all figures here are targets of.
  [[nodiscard]] const OutputTransform& transform() const { return models[0].transform; }
  /// A target of one of the models as a target of `transform`.
  [[nodiscard]] Normal translated(const Model& model, const Normal& target) const;
  /// Mean and variance of what the models say, one each, together.
  [[nodiscard]] Normal mixture(const std::vector<Normal>& each) const;

  /// The full value of a trial as all others have it.
  [[nodiscard]] Normal from_others(const Courses::Course* course, const Matrix& features) const;
  /// As its own way so far has it.
  [[nodiscard]] std::optional<Normal> from_itself(const Courses& courses,
                                                  const CoursePoint& now) const;
  /// See `log_improvement_rate`; `now` is what is believed of the full value at `reached`, where
  /// `paid` of a full trial's price have been paid.
  [[nodiscard]] std::optional<double> log_rate(const Courses& courses, const Normal& prior,
                                               const Normal& now, double reached, double paid,
                                               double value) const;
};

}  // namespace steptune::bayes
