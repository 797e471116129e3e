// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Returns time, kind and trial of each decision, with its numbers and its reason below. Lines have
/// at most `width` columns (0: no limit).
[[nodiscard]] std::string decisions_text(const std::vector<StudyDecision>& decisions,
                                         std::size_t width);
[[nodiscard]] Json decisions_json(const std::vector<StudyDecision>& decisions);

}  // namespace steptune
