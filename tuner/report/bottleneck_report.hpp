// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json_record.hpp"
#include "tuner/analysis/bottleneck.hpp"
#include "tuner/report/leaderboard.hpp"

namespace steptune {

/// Returns `data`, `host to device`, ...; `other parts` for nullopt.
[[nodiscard]] std::string stage_title(std::optional<StepStage> stage);
/// Returns the seconds of a stage per sample: `612.4 us`, `1.5 ms`.
[[nodiscard]] std::string seconds_text(double seconds);

/// Returns the finding in a sentence, its evidence, the stages of a step, and the settings that
/// change its time; ends with a newline. Wraps sentences at the terminal's width; tables drop their
/// last column.
[[nodiscard]] std::string bottleneck_text(const Bottleneck& bottleneck, const TextStyle& style);
template <>
const JsonRecord<Bottleneck>& json_record<Bottleneck>();

}  // namespace steptune
