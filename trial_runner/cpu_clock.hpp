// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace steptune {

/// How high the clocks of a trial's CPUs were for about a second: of those that computed for half
/// of it or more, weighted by how long. CPUs that wait lower their clocks by themselves.
struct CpuClockSpan {
  double from_s = 0.0;  ///< since the trial's start
  double to_s = 0.0;
  double clock_hz = 0.0;  ///< mean
};

/// The same over a longer time.
struct CpuClock {
  double mean_hz = 0.0;
  double lowest_hz = 0.0;  ///< of a second
};

/// Of the spans that lie between the two times, at least in part; nothing where there is none.
[[nodiscard]] std::optional<CpuClock> cpu_clock_between(std::span<const CpuClockSpan> spans,
                                                        double from_s, double to_s);

/// Neighbours made one where there are more than `most` (at least 1).
[[nodiscard]] std::vector<CpuClockSpan> thinned(std::span<const CpuClockSpan> spans,
                                                std::size_t most);

/// What the clocks did at a time when the steps became `ratio` times as long.
struct CpuClockChange {
  double before_hz = 0.0;
  double after_hz = 0.0;
};
/// From the mean of `from_s` to `at_s` to that of `at_s` to `to_s`, seconds since the trial's
/// start, where the difference explains half of the ratio or more (on a logarithmic scale) and is
/// none of chance: three seconds or more on both sides, and three standard errors apart.
[[nodiscard]] std::optional<CpuClockChange> explaining_clock_change(
    std::span<const CpuClockSpan> spans, double from_s, double at_s, double to_s, double ratio);

}  // namespace steptune
