// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Number of suggestions in a row that must not pay before the search ends. A single suggestion may
/// not pay because the model fits badly.
inline constexpr int k_unpaid_suggestions = 3;

/// True if saving and price can be compared: the first objective is `time` or `cost` of a planned
/// run of known length.
[[nodiscard]] bool payback_applies(const StudySpec& study);

/// Returns the share of the planned run after which the tuning has paid for itself. This is the
/// cost of tuning divided by the saving of the whole run, in seconds for `time` and USD for `cost`.
/// Above 1, one planned run does not pay for the tuning. Returns nullopt if nothing is saved or
/// `payback_applies` is false.
[[nodiscard]] std::optional<double> payback_share(const StudySpec& study, double baseline_objective,
                                                  double incumbent_objective, double tuning_s,
                                                  double tuning_usd);

/// Returns the on-demand price per hour of a trial that runs alone. On the tuner's own machine,
/// this is the price of the whole machine. Parallel trials are each billed a share of that price.
[[nodiscard]] double usd_per_hour_alone(const StudySpec& study, const Configuration& configuration);

/// Returns the cost of a study's tuning: its trials and the machines that were kept for them
/// (`overhead_usd`). If trials run on the tuner's own machine, that machine costs money for the
/// whole tuning time.
[[nodiscard]] double tuning_cost_usd(const StudySpec& study, double trials_usd, double overhead_usd,
                                     double elapsed_s);

/// Rule that ends the search when another trial no longer pays. This is so if several suggestions
/// in a row are each expected to save less on the planned run than a trial costs. The rule follows
/// Xie et al. 2025, "Cost-aware stopping for Bayesian optimization", who use the log expected
/// improvement per cost.
class PaybackRule {
 public:
  /// `unpaid_in_a_row`: the count when the former run of the tuner ended.
  explicit PaybackRule(int unpaid_in_a_row = 0) : unpaid_in_a_row_(unpaid_in_a_row) {}

  /// True if the search is to stop before it tries this suggestion. `expected_improvement`: from
  /// the searcher, as a share of the best value; nullopt if there is no model yet. Never stops
  /// without a model or without an incumbent.
  [[nodiscard]] bool stops(const StudySpec& study, std::optional<double> expected_improvement,
                           const Standing& standing);

  /// Return the expected saving of the latest suggestion on the planned run, and the price of a
  /// trial. Both are in the unit of the first objective; 0 if they were not compared.
  [[nodiscard]] double saving() const { return saving_; }
  [[nodiscard]] double price() const { return price_; }

  /// Returns how many of the latest suggestions in a row were not expected to pay. The history
  /// stores this number with the study.
  [[nodiscard]] int unpaid_in_a_row() const { return unpaid_in_a_row_; }

 private:
  int unpaid_in_a_row_;
  double saving_ = 0.0;
  double price_ = 0.0;
};

}  // namespace steptune
