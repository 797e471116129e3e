// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/json.hpp"
#include "tuner/report/study_report.hpp"

namespace steptune {

/// Returns the data of the page's charts: objectives, parameters, a short array for each trial, and
/// the trials' traces with their latest decisions. Traces are stored as differences between points,
/// rounded to four digits. charts.js reads the keys.
[[nodiscard]] Json chart_data(const StudyReport& report);

}  // namespace steptune
