// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// Length of a turn of an interleaved trial. Neighbours on shared machines come and go within
/// seconds, so turns are shorter than that. The first 30 ms, in which caches fill, are a small part
/// of 0.5 s.
inline constexpr double k_turn_s = 0.5;
/// Least reports in a turn. A turn has at least one whole step: the step between two reports.
inline constexpr std::int64_t k_least_turn_reports = 2;

}  // namespace steptune
