// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// How the times of reports are read.
namespace steptune {

/// Most stored points of a run. If there are more, every second point is dropped.
inline constexpr std::size_t k_max_points = 1024;
/// Negligible share of a run's time, or of its blocks. If all reports arrived within it, they came
/// at once; `follow` uses the promised time. A phase that took less is not worth a note. Also a
/// negligible share of a CPU's time, and a negligible change of a speed-up.
inline constexpr double k_negligible_share = 0.01;
/// Number of successive reports that show a restart, or another program. If two programs print at
/// the same time, their reports alternate, so they do not reach this number.
inline constexpr int k_reports_of_restart = 10;
/// Relative rounding error of differences between times as large as the run.
inline constexpr double k_rounding = 1e-9;

}  // namespace steptune
