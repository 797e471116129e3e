// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/acquisition.hpp"
#include "search/searchers/bayes/power_law_process.hpp"

namespace steptune::bayes {

/// What one trial tells of a part of a step, in logarithms.
struct PartTarget {
  enum class Kind {
    known,    ///< `value`, with the variance of its noise
    at_most,  ///< no more than `value.mean`: hidden behind something that took as long
    nothing   ///< the part took no time at all
  };
  Kind kind = Kind::known;
  Normal value;
};

/// Where a part takes no time: where one dimension has one of these values (communication on one
/// device).
struct ZeroRule {
  std::size_t first = 0;  ///< feature of the dimension
  std::size_t last = 0;   ///< one past
  std::vector<std::vector<double>> values;

  [[nodiscard]] bool applies(std::span<const double> features) const;
};

/// Predicts the logarithm of a part.
struct PartModel {
  PowerLawProcess process;
  double centre = 0.0;
  double log_of_nothing = 0.0;
  std::optional<ZeroRule> zero;

  /// For rows [first, last), each by itself.
  [[nodiscard]] std::vector<Normal> predict(const Matrix& rows, std::size_t first,
                                            std::size_t last) const;
};

/// Learns a part (or what a composition of parts leaves out) as a power law. What is hidden enters
/// as the normal that turns the prediction of the others into its truncation (one pass of
/// expectation propagation; Minka 2001): left out, it would leave only the trials in which the part
/// took long. Hyperparameters are fitted at fixed numbers of trials, to those trials alone: what is
/// believed is a function of the trials.
class PartLearner {
 public:
  explicit PartLearner(const FeatureGroups& groups) : groups_(groups) {}

  struct Learnt {
    std::shared_ptr<const PartModel> model;
    std::vector<Normal> leave_one_out;  ///< of each trial, given all others; without its noise
  };
  /// From targets of the rows of `rows`, hyperparameters from the first `fitted`. `pending` count
  /// as observed at what is predicted for them. Nothing where too little is known.
  [[nodiscard]] std::optional<Learnt> learn(const Matrix& rows,
                                            const std::vector<PartTarget>& targets,
                                            std::size_t fitted, double log_of_nothing,
                                            const Matrix& pending);

 private:
  FeatureGroups groups_;
  std::size_t fitted_ = 0;  ///< rows that hyperparameters were fitted to; 0: never
  PowerLawHyperparameters hyperparameters_;
};

}  // namespace steptune::bayes
