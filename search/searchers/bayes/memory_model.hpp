// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "search/searchers/bayes/learner.hpp"

namespace steptune::bayes {

/// Whether a trial will fit into memory, from the peak memory of those that did. The limit itself
/// is not known: it lies above every peak that was seen and, as far as the model of peaks can tell,
/// below what the trials needed that ran out.
class MemoryForecast {
 public:
  /// `model` of the peaks; `limits`, as targets of that model, with their probabilities.
  MemoryForecast(Model model, std::vector<double> limits, std::vector<double> probabilities)
      : model_(std::move(model)),
        limits_(std::move(limits)),
        probabilities_(std::move(probabilities)) {}

  /// Logarithm of the probability that rows [first, last) fit.
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

  /// Nothing while no trial ran out of memory, while too few told their peak, or where the peaks
  /// do not explain who ran out better than the share of those that did: a figure that is not of
  /// the memory that is short (the host's, where the GPU's ran out) must not excuse a failure.
  [[nodiscard]] std::optional<MemoryForecast> forecast();

 private:
  Learner peaks_;
  Matrix exhausted_;
};

}  // namespace steptune::bayes
