// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json_record.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/study_analysis.hpp"

namespace steptune {

/// Returns `62 % (55-69)`, or `-` for a parameter that did not vary.
[[nodiscard]] std::string share_text(const ParameterImportance& parameter);
[[nodiscard]] std::string share_text(const Estimate& share);
/// Returns the parameter's own effect: `best 8, 2.41x (2.20-2.60) from 0`. Empty if unknown.
[[nodiscard]] std::string effect_text(const ParameterImportance& parameter,
                                      const Importance& importance, const ObjectiveView& view);
/// Returns `1.92x (1.80-2.05)`, or a difference if the objective has no ratios.
[[nodiscard]] std::string gain_text(const Estimate& gain, bool logarithmic);
/// Returns `workers 0 -> 8, prefetch - -> 4`.
[[nodiscard]] std::string changes_text(const AblationStep& step);
/// Returns `4.43x: workers 1.92, precision 1.45; no measurable effect from the rest`.
[[nodiscard]] std::string ablation_headline(const AblationPath& path);
/// True if the step's interval excludes "no change".
[[nodiscard]] bool excludes_no_change(const AblationStep& step, bool logarithmic);

/// Returns shares for each objective and for failures, the strongest pairs, and the path from
/// baseline to best. Ends with a newline. On a narrow terminal, first drops the column of effects,
/// then objectives from the last on.
[[nodiscard]] std::string importance_text(const StudyImportance& importance,
                                          const TextStyle& style);
template <>
const JsonRecord<Estimate>& json_record<Estimate>();
[[nodiscard]] Json importance_json(const StudyImportance& importance);

}  // namespace steptune
