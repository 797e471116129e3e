// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Name under which trials report the gradient noise scale, in samples.
inline constexpr const char* k_gradient_noise_scale = "gradient_noise_scale";

/// Seconds and USD of the planned run.
struct PlannedFigures {
  std::optional<double> seconds;
  std::optional<double> usd;
};

/// Returns both figures from `objectives`, the values of a trial of `configuration`. If only time
/// or only cost is an objective, computes the other figure from the price. A figure stays unset if
/// neither is an objective, or if there is no price.
[[nodiscard]] PlannedFigures planned_figures(const StudySpec& study,
                                             const Configuration& configuration,
                                             const std::vector<double>& objectives);

/// Sets `Recommendation::least_samples_ratio` and `most_samples_ratio`, if a trial has reported the
/// gradient noise scale. A ratio is the number of samples that the recommended batch size needs,
/// divided by the number for the baseline's batch size.
///
/// A run at batch size B needs (1 + B / B_noise) / (1 + B_0 / B_noise) times the samples of a run
/// at B_0. Here B_0 is the baseline's batch size, and B_noise the gradient noise scale. B_noise
/// grows during training, so the early value that a trial reports gives one end of a range. The
/// other end is 1. S. McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, eq.
/// 2.11.
void set_samples_ratio(const StudySpec& study, const Standing& standing,
                       Recommendation& recommendation);

/// Returns how the machine drifted during the search, as text for people; nullopt if it did not
/// drift.
[[nodiscard]] std::optional<std::string> drift_note(const MachineDrift& drift);

/// Returns notes about the planned run of `recommendation`, one sentence each. They name
/// assumptions that no trial has shown, and other doubts:
/// - phases that no trial showed;
/// - limits on time or cost that the planned run may miss, or that are kept but are no objective;
/// - a batch size that differs from the baseline's, and the planned run with the samples that it
///   needs;
/// - counts that may not be steps;
/// - fresh runs that may hang;
/// - a machine that drifted;
/// - why an infeasible baseline is not kept.
[[nodiscard]] std::vector<Note> plan_notes(const StudySpec& study, const Standing& standing,
                                           const Recommendation& recommendation);

}  // namespace steptune
