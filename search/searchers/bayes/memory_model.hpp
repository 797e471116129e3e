// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Predicts if a trial fits into memory, from the peak memory of trials that did. The limit is
/// unknown. It is above every measured peak, and below the predicted need of each trial that ran
/// out of memory.
class MemoryForecast {
 public:
  /// `model` predicts peaks. `limits` are possible limits, as targets of that model;
  /// `probabilities` has the probability of each.
  MemoryForecast(Model model, std::vector<double> limits, std::vector<double> probabilities)
      : model_(std::move(model)),
        limits_(std::move(limits)),
        probabilities_(std::move(probabilities)) {}

  /// Returns the logarithms of the probabilities that rows [first, last) fit into memory.
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

  /// Returns nullopt if no trial ran out of memory, or if too few trials reported their peak. Also
  /// returns nullopt if the peaks explain the outcomes no better than a constant probability does.
  /// In that case the peaks may belong to the wrong memory (the host's, although the GPU's ran
  /// out).
  [[nodiscard]] std::optional<MemoryForecast> forecast();

 private:
  Learner peaks_;
  Matrix exhausted_;
};

}  // namespace steptune::bayes
