// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Predicts whether a trial fits into memory, from the peak memory of trials that did. The limit is
/// unknown: it is above every measured peak and below the predicted need of the trials that ran
/// out.
class MemoryForecast {
 public:
  /// `model` predicts the peaks. `limits` are targets of that model, with their probabilities.
  MemoryForecast(Model model, std::vector<double> limits, std::vector<double> probabilities)
      : model_(std::move(model)),
        limits_(std::move(limits)),
        probabilities_(std::move(probabilities)) {}

  /// Returns the logarithms of the probabilities that rows [first, last) fit.
  [[nodiscard]] std::vector<double> log_probabilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;

 private:
  Model model_;
  std::vector<double> limits_;
  std::vector<double> probabilities_;
};

class MemoryModel {
 public:
  /// See `Learner`.
  MemoryModel(const FeatureGroups& groups, std::size_t dimensions);

  void add_peak(std::span<const double> features, double peak_bytes);
  void add_out_of_memory(std::span<const double> features);

  /// Returns nullopt if no trial ran out of memory, if too few reported their peak, or if the peaks
  /// explain the outcomes no better than the share of failures does. The last case excludes peaks
  /// of the wrong memory (the host's, if the GPU's ran out).
  [[nodiscard]] std::optional<MemoryForecast> forecast();

 private:
  Learner peaks_;
  Matrix exhausted_;
};

}  // namespace steptune::bayes
