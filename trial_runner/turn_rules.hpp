// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// Length of a turn of an interleaved trial. The load of other users on a shared machine changes
/// within seconds, so turns are shorter than a second. The first 30 ms, in which caches fill, are a
/// small part of 0.5 s.
inline constexpr double k_turn_s = 0.5;
/// Smallest number of reports in a turn: between two reports lies at least one whole step.
inline constexpr std::int64_t k_least_turn_reports = 2;

}  // namespace steptune
