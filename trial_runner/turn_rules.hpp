// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// Length of a turn of an interleaved trial. The load of other users on a shared machine changes
/// within seconds. Beside two neighbours, intervals are 10 to 30 % narrower than with 0.5 s
/// (benchmarks/null_studies). Caches need the first 30 ms to fill, so turns are not shorter.
inline constexpr double k_turn_s = 0.25;
/// Smallest number of reports in a turn: between two reports lies at least one whole step.
inline constexpr std::int64_t k_least_turn_reports = 2;

}  // namespace steptune
