// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/report/study_analysis.hpp"
#include "tuner/report/study_scaling.hpp"

namespace steptune {

// The functions below make the page's sections about all trials together.

/// Returns the shares of the variance by parameter and by pair, the trials that they come from, and
/// the path from baseline to best.
[[nodiscard]] std::string importance_html(const StudyImportance& importance);
/// Returns the finding, the stages of a step, and the settings that change its time.
[[nodiscard]] std::string bottleneck_html(const Bottleneck& bottleneck);
/// Adds the bar charts `importance` (one for each objective, and failures), `ablation` and
/// `bottleneck`.
void add_analysis_data(Json& json, const StudyAnalysis& analysis);

/// Returns the law that explains the scaling curve, and a row for each count.
[[nodiscard]] std::string scaling_html(const StudyScaling& study);
/// Returns the data of the scaling chart: points with intervals, and the law's curve with its
/// interval.
[[nodiscard]] Json scaling_data(const StudyScaling& study);

}  // namespace steptune
