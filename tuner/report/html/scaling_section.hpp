// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/report/study_scaling.hpp"

namespace steptune {

// The scaling curve as a section of the page.

/// Returns the law that explains the curve, and a row for each count.
[[nodiscard]] std::string scaling_html(const StudyScaling& study);
/// Returns the data of the chart: points with intervals, and the law's curve with its interval.
[[nodiscard]] Json scaling_data(const StudyScaling& study);

}  // namespace steptune
