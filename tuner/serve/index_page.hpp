// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/report/html/page_frame.hpp"
#include "tuner/serve/study_figures.hpp"

namespace steptune {

/// The page of all studies, the latest first, each with a link to its own.
[[nodiscard]] std::string index_page(const std::vector<StudyFigures>& studies,
                                     const LivePage& live);

/// A page that only says what is wrong.
[[nodiscard]] std::string problem_page(const std::string& title, const std::string& text);

}  // namespace steptune
