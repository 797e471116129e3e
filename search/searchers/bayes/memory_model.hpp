// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "search/searcher.hpp"
#include "search/searchers/bayes/feature_map.hpp"
#include "search/searchers/bayes/learner.hpp"
#include "search/searchers/bayes/matrix.hpp"

namespace steptune::bayes {

/// Fits `values` by sums of the columns of `terms` with non-negative coefficients, and returns the
/// coefficients. Minimises the squares of relative errors. All terms must be non-negative, and all
/// values positive.
[[nodiscard]] std::vector<double> fit_non_negative(const Matrix& terms,
                                                   std::span<const double> values);

/// Returns the sum of terms times their coefficients; a tiny positive number instead of 0.
[[nodiscard]] double sum_of_terms(std::span<const double> terms,
                                  std::span<const double> coefficients);

/// Divides each value by its prediction from coefficients that are fitted to all other values.
/// Returns these ratios, each limited to the range from 1/1000 to 1000. 1: exact prediction.
[[nodiscard]] std::vector<double> left_out_ratios(const Matrix& terms,
                                                  std::span<const double> values);

/// Returns the terms of a study's memory law for a row of features, the constant 1 first. May be
/// called from several threads. Empty: the study declares no terms.
using MemoryTerms = std::function<std::vector<double>(std::span<const double> features)>;

/// Returns the terms for rows of `feature_map`. A negative term, or one without a value, counts as
/// 0. `space` must outlive the result.
[[nodiscard]] MemoryTerms memory_terms(const SearchSpace& space, const FeatureMap& feature_map,
                                       const std::vector<MemoryTerm>& terms);

/// Part of a peak that the terms explain. Without terms this part is 1, and the Gaussian process
/// predicts the whole peak.
class ExplainedPeak {
 public:
  ExplainedPeak() = default;
  /// `coefficients`: one for each term, in bytes.
  ExplainedPeak(MemoryTerms terms, std::vector<double> coefficients)
      : terms_(std::move(terms)), coefficients_(std::move(coefficients)) {}

  [[nodiscard]] double bytes(std::span<const double> features) const;

 private:
  MemoryTerms terms_;
  std::vector<double> coefficients_;
};

/// Predicts if a trial fits into memory, from the peak memory of trials that did. The limit is
/// uncertain. It is at least every measured peak, and probably below the predicted need of each
/// trial that ran out of memory. If terms and the size of the memory are known, the limit is near
/// that size.
class MemoryForecast {
 public:
  /// `model` predicts peaks divided by their explained parts. `limits` are possible limits in
  /// bytes; `probabilities` has the probability of each.
  MemoryForecast(Model model, ExplainedPeak explained, std::vector<double> limits,
                 std::vector<double> probabilities)
      : model_(std::move(model)),
        explained_(std::move(explained)),
        limits_(std::move(limits)),
        probabilities_(std::move(probabilities)) {}

  /// Returns the logarithms of the probabilities that rows [first, last) fit into memory.
  [[nodiscard]] std::vector<double> log_probabilities(const Matrix& features, std::size_t first,
                                                      std::size_t last) const;

 private:
  Model model_;
  ExplainedPeak explained_;
  std::vector<double> limits_;
  std::vector<double> probabilities_;
};

class MemoryModel {
 public:
  /// See `Learner`.
  MemoryModel(const FeatureGroups& groups, std::size_t dimensions, MemoryTerms terms = {});

  void add_peak(std::span<const double> features, double peak_bytes);
  void add_out_of_memory(std::span<const double> features);

  /// Sets the size of the memory, which is used only if the study declares terms.
  void set_limit(double bytes) { limit_bytes_ = bytes; }

  /// True if the study declares terms.
  [[nodiscard]] bool has_terms() const { return terms_ != nullptr; }

  /// Returns nullopt if the limit is unknown and no trial ran out of memory, or if too few trials
  /// reported their peak. Also returns nullopt if the peaks explain the outcomes no better than a
  /// constant probability does. In that case the peaks may belong to the wrong memory (the host's,
  /// although the GPU's ran out).
  [[nodiscard]] std::optional<MemoryForecast> forecast();

 private:
  FeatureGroups groups_;
  std::size_t dimensions_;
  MemoryTerms terms_;
  std::optional<double> limit_bytes_;
  Learner peaks_;
  Matrix exhausted_;
};

}  // namespace steptune::bayes
