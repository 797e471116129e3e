// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/report/html/page_frame.hpp"
#include "tuner/report/study_report.hpp"

namespace steptune {

/// One page that needs nothing else: its scripts, styles and data are in it, and it loads nothing.
/// What it says is readable without JavaScript; charts and sorting need it. Texts of the study
/// (names, values, log lines) appear as text, whatever they contain. With `live` it is a page of a
/// server, which differs in that alone.
[[nodiscard]] std::string html_report(const StudyReport& report, const LivePage* live = nullptr);

}  // namespace steptune
