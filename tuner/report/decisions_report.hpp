// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// For each decision when, of what kind and about which trial it was; below it the numbers and what
/// is said of them, in lines of at most `width` columns (0: one line each).
[[nodiscard]] std::string decisions_text(const std::vector<StudyDecision>& decisions,
                                         std::size_t width);
[[nodiscard]] Json decisions_json(const std::vector<StudyDecision>& decisions);

}  // namespace steptune
