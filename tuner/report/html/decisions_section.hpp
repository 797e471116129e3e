// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/report/study_report.hpp"

namespace steptune {

/// What was decided about the study as a whole, and the numbers behind it: a row per decision, of
/// many the first and the latest.
[[nodiscard]] std::string decisions_table(const StudyReport& report);

}  // namespace steptune
