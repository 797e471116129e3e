// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/document/node.hpp"
#include "common/units.hpp"

namespace steptune {

/// Range of a number without bounds.
inline constexpr document::Range k_any_number{-1e300, 1e300};
/// Most bytes that are read of a text file, such as a configuration file or a program's source, and
/// of a program's help or output: 1 MiB.
inline constexpr std::size_t k_most_text_bytes = std::size_t{1} << 20U;
/// Most trials of a study without a budget.
inline constexpr std::int64_t k_default_trials = 40;
/// Most configurations that a study with `measure.confirm_all` compares, and commands of `judge`.
inline constexpr std::size_t k_most_judged = 8;
/// Shortest and longest tuning time: `budget.time` and `--time`.
inline constexpr double k_shortest_budget_s = 1.0;
inline constexpr double k_longest_budget_s = 366.0 * k_day_s;
/// Largest share by which a configuration may be slower: `measure.confirm_slowdown` and
/// `judge --fail-if`.
inline constexpr double k_most_slowdown = 10.0;

}  // namespace steptune
