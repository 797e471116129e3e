// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/report/study_report.hpp"

namespace steptune {

// The functions below return the page's tables as HTML.

/// Returns the recommended configuration beside the baseline's, a row for each parameter.
[[nodiscard]] std::string configuration_table(const StudyReport& report);
/// Returns a table of all trials. The page sorts rows by the raw values that the cells also
/// contain.
[[nodiscard]] std::string trials_table(const StudyReport& report);
/// Returns numbers of trials, time and money by purpose.
[[nodiscard]] std::string bill_table(const StudyReport& report);
/// Returns the machine of each run of the tuner and the libraries of its programs; marks changes.
[[nodiscard]] std::string machine_table(const StudyReport& report);
/// Returns a table of decisions about the whole study, with their numbers. If there are many, shows
/// the first and the latest.
[[nodiscard]] std::string decisions_table(const StudyReport& report);

}  // namespace steptune
