// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "search/space/expression.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// `Knob::part` of knobs of Python's garbage collector. Its time is also counted in other parts.
inline constexpr const char* k_collector_part = "gc";
/// Metric of the share of a step in which Python's garbage collector runs.
inline constexpr const char* k_collector_share = "gc_share";

/// Returns the largest speed-up of the program's step by a knob, as a ratio. Applies Amdahl's law
/// to the largest share of the step that the knob can save in the parts that it affects. Returns
/// nullopt if the survey saw no parts.
[[nodiscard]] std::optional<double> possible_gain(const Knob& knob, const Survey& survey,
                                                  const Facts& facts);

/// Returns the largest speed-up of the step by any loader setting. It is measured with cached
/// batches, or follows from Amdahl's law: 1 / (1 - share of waiting for data). Returns nullopt if
/// the survey saw neither.
[[nodiscard]] std::optional<double> loading_ceiling(const Survey& survey);

/// False if the survey shows that no loader setting makes a step `least` times faster.
[[nodiscard]] bool loading_can_gain(const Survey& survey, double least);

/// Returns `data loading costs 78 % of a step: at most 4.5 times as fast without it`; empty if
/// there is no ceiling.
[[nodiscard]] std::string ceiling_text(const Survey& survey);

/// True if loading mostly waits (for a network, storage or a timer) while CPUs are idle; false if
/// it computes. Returns nullopt if the program's processes were not observed.
[[nodiscard]] std::optional<bool> loading_waits(const Survey& survey);

/// Returns a count that the program has today (`num_workers`, `num_threads`); nullopt if unknown.
[[nodiscard]] std::optional<std::int64_t> count_today(const HookLog& log, const char* knob);

/// Estimates the share of time in which the training loader's workers are busy. Returns nullopt if
/// there are no workers or their queue is unknown.
[[nodiscard]] std::optional<double> busy_workers(const Survey& survey);

}  // namespace steptune
