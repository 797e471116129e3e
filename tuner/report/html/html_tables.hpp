// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/report/study_report.hpp"

namespace steptune {

// Parts of the page that are tables, as HTML.

/// The recommended configuration beside the baseline's, a row per parameter.
[[nodiscard]] std::string configuration_table(const StudyReport& report);
/// All trials, with raw values beside what is shown, by which the page sorts.
[[nodiscard]] std::string trials_table(const StudyReport& report);
/// Trials, time and money by what they were for.
[[nodiscard]] std::string bill_table(const StudyReport& report);
/// The machine of each run of the tuner and the libraries of its programs; what changed between
/// them is marked.
[[nodiscard]] std::string machine_table(const StudyReport& report);

}  // namespace steptune
