// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/report/html/page_frame.hpp"
#include "tuner/serve/study_figures.hpp"

namespace steptune {

/// Returns the page of all studies, the latest first, with links to their pages.
[[nodiscard]] std::string index_page(const std::vector<StudyFigures>& studies,
                                     const LivePage& live);

/// Returns a page that only shows an error.
[[nodiscard]] std::string problem_page(const std::string& title, const std::string& text);

}  // namespace steptune
