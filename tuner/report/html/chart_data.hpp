// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/json.hpp"
#include "tuner/report/study_report.hpp"

namespace steptune {

/// What the page's charts are drawn from: objectives, parameters, a short array per trial, and the
/// trials' traces as differences between points, rounded to four digits, with the latest decisions
/// about each. Keys: charts.js.
[[nodiscard]] Json chart_data(const StudyReport& report);

}  // namespace steptune
