// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// True if saving and price can be compared: the first objective is `time` or `cost` of a planned
/// run whose length is known.
[[nodiscard]] bool payback_applies(const StudySpec& study);

/// The share of the planned run after which the tuning has paid for itself: what the tuning took
/// over what the whole run saves, in seconds for `time` and USD for `cost`. Above 1 it does not pay
/// in one run; nothing if it saves nothing or `payback_applies` is false.
[[nodiscard]] std::optional<double> payback_share(const StudySpec& study, double baseline_objective,
                                                  double incumbent_objective, double tuning_s,
                                                  double tuning_usd);

/// The on-demand price of what a trial that runs alone has to itself: on the tuner's own machine
/// all of it, of which trials side by side are each billed a share.
[[nodiscard]] double usd_per_hour_alone(const StudySpec& study, const Configuration& configuration);

/// What a study's tuning has cost: its trials, the machines that were kept for them
/// (`overhead_usd`), and, where trials run on the tuner's own machine, that machine for as long as
/// the tuning took, whatever ran on it meanwhile.
[[nodiscard]] double tuning_cost_usd(const StudySpec& study, double trials_usd, double overhead_usd,
                                     double elapsed_s);

/// Ends the search when trying no longer pays: the expected saving on the planned run is below the
/// price of one more trial, several suggestions in a row (Xie et al. 2025, "Cost-aware stopping for
/// Bayesian optimization"; there with the log expected improvement per cost).
class PaybackRule {
 public:
  /// `unpaid_in_a_row`: what it was when a former run of the tuner ended.
  explicit PaybackRule(int unpaid_in_a_row = 0) : unpaid_in_a_row_(unpaid_in_a_row) {}

  /// True if the search is to stop before this suggestion is tried. `expected_improvement` is the
  /// searcher's, as a share of the best value; nothing (no model yet) never stops, nor does a
  /// standing without an incumbent.
  [[nodiscard]] bool stops(const StudySpec& study, std::optional<double> expected_improvement,
                           const Standing& standing);

  /// What the latest suggestion was expected to save on the planned run, and the price of a trial,
  /// in the unit of the first objective; 0 where they were not compared.
  [[nodiscard]] double saving() const { return saving_; }
  [[nodiscard]] double price() const { return price_; }

  /// The latest suggestions in a row that were not expected to pay: it is stored with the study.
  [[nodiscard]] int unpaid_in_a_row() const { return unpaid_in_a_row_; }

 private:
  int unpaid_in_a_row_;
  double saving_ = 0.0;
  double price_ = 0.0;
};

}  // namespace steptune
