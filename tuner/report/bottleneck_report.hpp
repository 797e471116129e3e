// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/analysis/bottleneck.hpp"
#include "tuner/report/leaderboard.hpp"

namespace steptune {

/// `data`, `host to device`; `other parts`.
[[nodiscard]] std::string stage_title(std::optional<StepStage> stage);
/// `612.4 us`, `1.5 ms`: of a stage, per sample.
[[nodiscard]] std::string seconds_text(double seconds);

/// The finding in a sentence, what it rests on, the stages of a step, and what the time answers to;
/// ends with a newline. Sentences are broken at the terminal's width, tables leave their last
/// column out.
[[nodiscard]] std::string bottleneck_text(const Bottleneck& bottleneck, const TextStyle& style);
[[nodiscard]] Json bottleneck_json(const Bottleneck& bottleneck);

}  // namespace steptune
