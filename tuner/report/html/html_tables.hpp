// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/report/study_report.hpp"

namespace steptune {

// The functions below return the page's tables as HTML.

/// Returns a table of the recommended configuration and the baseline's, with a row for each
/// parameter.
[[nodiscard]] std::string configuration_table(const StudyReport& report);
/// Returns a table of all trials. The page sorts rows by the raw values that the cells also
/// contain.
[[nodiscard]] std::string trials_table(const StudyReport& report);
/// Returns a table of the number of trials, the time and the money for each purpose.
[[nodiscard]] std::string bill_table(const StudyReport& report);
/// Returns a table of the machine of each run of the tuner, and of the libraries of its programs.
/// Marks changes.
[[nodiscard]] std::string machine_table(const StudyReport& report);
/// Returns a table of decisions about the whole study, with their numbers. If there are many, shows
/// the first and the latest.
[[nodiscard]] std::string decisions_table(const StudyReport& report);

}  // namespace steptune
