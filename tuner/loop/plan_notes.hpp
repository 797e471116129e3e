// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/loop/loop.hpp"
#include "tuner/loop/standing.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The name under which trials report the gradient noise scale, in samples.
inline constexpr const char* k_gradient_noise_scale = "gradient_noise_scale";

/// Seconds and USD of the planned run.
struct PlannedFigures {
  std::optional<double> seconds;
  std::optional<double> usd;
};

/// Both as `objectives`, values of a trial of `configuration`, tell them: of what is no objective
/// by the price. Nothing where neither is one, or there is no price.
[[nodiscard]] PlannedFigures planned_figures(const StudySpec& study,
                                             const Configuration& configuration,
                                             const std::vector<double>& objectives);

/// How many times the samples of the baseline's batch size the recommended one needs
/// (`Recommendation::least_samples_ratio` and `most_samples_ratio`), where a trial has reported the
/// gradient noise scale.
///
/// A run at batch B needs (1 + B / B_noise) / (1 + B_0 / B_noise) times the samples of one at B_0.
/// B_noise grows during training, so what a trial reports at the begin is the end of a range whose
/// other end is 1. S. McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, eq.
/// 2.11.
void set_samples_ratio(const StudySpec& study, const Standing& standing,
                       Recommendation& recommendation);

/// How the machine drifted while the search went on, for people; nothing if it did not.
[[nodiscard]] std::optional<std::string> drift_note(const MachineDrift& drift);

/// What the planned run of `recommendation` rests on and no trial has shown: phases that were not
/// seen, limits of the plan within its interval, another batch size than the baseline's and what
/// the plan takes with the samples that it needs, counts that may be no steps, fresh runs that
/// may hang, a machine that drifted; why an infeasible
/// baseline is not kept; whether a limit is kept that the objectives do not show. One sentence
/// each.
[[nodiscard]] std::vector<Note> plan_notes(const StudySpec& study, const Standing& standing,
                                           const Recommendation& recommendation);

}  // namespace steptune
