// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/study_analysis.hpp"

namespace steptune {

/// `62 % (55-69)`; `-` for a parameter that did not vary.
[[nodiscard]] std::string share_text(const ParameterImportance& parameter);
[[nodiscard]] std::string share_text(const Estimate& share);
/// `best 8, 2.41x (2.20-2.60) from 0`: what the parameter does by itself. Empty where nothing is
/// known.
[[nodiscard]] std::string effect_text(const ParameterImportance& parameter,
                                      const Importance& importance, const ObjectiveView& view);
/// `1.92x (1.80-2.05)`; differences where the objective has no ratios.
[[nodiscard]] std::string gain_text(const Estimate& gain, bool logarithmic);
/// `workers 0 -> 8, prefetch - -> 4`
[[nodiscard]] std::string changes_text(const AblationStep& step);
/// `4.43x: workers 1.92, precision 1.45; no measurable effect from the rest`
[[nodiscard]] std::string ablation_headline(const AblationPath& path);
/// Whether the interval tells the step from no change.
[[nodiscard]] bool is_told_from_nothing(const AblationStep& step, bool logarithmic);

/// Shares per objective and of failures, strongest pairs, and the path from baseline to best; ends
/// with a newline. Where it is wider than the terminal, the effects and then further objectives
/// give way.
[[nodiscard]] std::string importance_text(const StudyImportance& importance,
                                          const TextStyle& style);
/// `{"mean": 1.9, "low_95": 1.8, "high_95": 2.0}`
[[nodiscard]] Json estimate_json(const Estimate& estimate);
[[nodiscard]] Json importance_json(const StudyImportance& importance);

}  // namespace steptune
