// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/report/html/page_frame.hpp"
#include "tuner/report/study_report.hpp"

namespace steptune {

/// Returns one page that contains its scripts, styles and data, and loads nothing. The page's texts
/// are readable without JavaScript; only charts and sorting need JavaScript. Texts of the study
/// (names, values, log lines) appear as text, even if they contain markup. With `live`, returns a
/// server's page instead (`LivePage`).
[[nodiscard]] std::string html_report(const StudyReport& report, const LivePage* live = nullptr);

}  // namespace steptune
