// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/report/study_report.hpp"

namespace steptune {

/// Returns a table of decisions about the whole study, with their numbers. If there are many, shows
/// the first and the latest.
[[nodiscard]] std::string decisions_table(const StudyReport& report);

}  // namespace steptune
