// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json_record.hpp"
#include "tuner/analysis/bottleneck.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {

/// Returns `data`, `host to device`, ...; `other parts` for nullopt.
[[nodiscard]] std::string stage_title(std::optional<StepStage> stage);
/// Returns the stages of a step and the time of each stage. The column `parts` has the program's
/// own names for the parts of a stage.
[[nodiscard]] TextTable stage_table(const Bottleneck& bottleneck, bool with_parts);
/// Returns how the step time depends on each parameter if all other parameters keep this trial's
/// values. `now` is this trial's value, `best` the fastest value. `gain left`: speed-up from `now`
/// to `best`. `worst to best`: speed-up from the slowest value to the fastest, left out unless
/// `with_range`. If `is_cut`, names and values are cut to fit a terminal.
[[nodiscard]] TextTable response_table(const Bottleneck& bottleneck, bool with_range, bool is_cut);

/// Returns the finding in a sentence, its evidence, the stages of a step, and the settings that
/// change its time. Ends with a newline. Wraps sentences at the terminal's width. Drops the last
/// column of a table that is wider than the terminal.
[[nodiscard]] std::string bottleneck_text(const Bottleneck& bottleneck, const TextStyle& style);
template <>
const JsonRecord<Bottleneck>& json_record<Bottleneck>();

}  // namespace steptune
