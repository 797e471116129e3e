// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/report/study_analysis.hpp"

namespace steptune {

// What is concluded from all trials together, as parts of the page.

/// Shares of variance by parameter and pair, what they rest on, and the path from baseline to best.
[[nodiscard]] std::string importance_html(const StudyImportance& importance);
/// The finding, the stages of a step, and what its time depends on.
[[nodiscard]] std::string bottleneck_html(const Bottleneck& bottleneck);
/// Their bars: `importance` (one chart per objective, and failures), `ablation`, `bottleneck`.
void add_analysis_data(Json& json, const StudyAnalysis& analysis);

}  // namespace steptune
