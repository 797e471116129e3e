// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "search/space/expression.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// Part of the knob that acts on Python's garbage collector, whose time lies within other parts.
inline constexpr const char* k_collector_part = "gc";

/// The most that a knob can speed up the program's step, as a ratio: Amdahl's law over the parts of
/// the step that it acts on, and the most of them that it saves. Nothing if the survey saw no
/// parts.
[[nodiscard]] std::optional<double> possible_gain(const Knob& knob, const Survey& survey,
                                                  const Facts& facts);

/// The most that any loader setting can speed up the step: measured with kept batches, or by
/// Amdahl's law 1 / (1 - share of waiting for data). Nothing if the survey saw neither.
[[nodiscard]] std::optional<double> loading_ceiling(const Survey& survey);

/// True unless it is known that no loader setting makes a step `least` times as fast.
[[nodiscard]] bool loading_can_gain(const Survey& survey, double least);

/// `data loading costs 78 % of a step: at most 4.5 times as fast without it`; empty if there is
/// no ceiling.
[[nodiscard]] std::string ceiling_text(const Survey& survey);

/// True if loading mostly waits, for a network, storage or a timer, while CPUs are idle; false if
/// it computes. Nothing if the program's processes were not seen.
[[nodiscard]] std::optional<bool> loading_waits(const Survey& survey);

/// Share of a step in which Python's garbage collector runs; nothing if it was not measured.
[[nodiscard]] std::optional<double> collector_share(const Survey& survey);

/// A count that the training loader has today (`num_workers`, `prefetch_factor`); nothing if it is
/// not known.
[[nodiscard]] std::optional<std::int64_t> loader_count(const HookLog& log, const char* knob);

/// Batches that each worker loads ahead unless told otherwise: PyTorch's default.
inline constexpr std::int64_t k_default_prefetch_factor = 2;

/// Share of the time in which the workers of the training loader are busy, about. Nothing without
/// workers, or if their queue is not known.
[[nodiscard]] std::optional<double> busy_workers(const Survey& survey);

}  // namespace steptune
