// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/cpu_clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace steptune {
namespace {

/// A smaller difference explains nothing that is found as a changed level.
constexpr double k_least_log_change = 0.02;
constexpr double k_least_share_explained = 0.5;
constexpr std::size_t k_least_spans = 3;
constexpr double k_standard_errors = 3.0;

struct Level {
  std::size_t count = 0;
  double mean_hz = 0.0;
  double squared_error = 0.0;  ///< of the mean
};

/// Of the spans that lie wholly between the two times.
Level level_between(std::span<const CpuClockSpan> spans, double from_s, double to_s) {
  Level level;
  double squares = 0.0;
  for (const CpuClockSpan& span : spans) {
    if (span.from_s < from_s || span.to_s > to_s) continue;
    ++level.count;
    const double difference = span.clock_hz - level.mean_hz;
    level.mean_hz += difference / static_cast<double>(level.count);
    squares += difference * (span.clock_hz - level.mean_hz);
  }
  if (level.count < 2) return level;
  const auto count = static_cast<double>(level.count);
  level.squared_error = squares / (count - 1.0) / count;
  return level;
}

}  // namespace

std::optional<CpuClock> cpu_clock_between(std::span<const CpuClockSpan> spans, double from_s,
                                          double to_s) {
  double seconds = 0.0;
  double cycles = 0.0;
  double lowest_hz = std::numeric_limits<double>::infinity();
  for (const CpuClockSpan& span : spans) {
    const double within_s = std::min(span.to_s, to_s) - std::max(span.from_s, from_s);
    if (!(within_s > 0.0)) continue;
    seconds += within_s;
    cycles += within_s * span.clock_hz;
    lowest_hz = std::min(lowest_hz, span.clock_hz);
  }
  if (!(seconds > 0.0)) return std::nullopt;
  return CpuClock{cycles / seconds, lowest_hz};
}

std::vector<CpuClockSpan> thinned(std::span<const CpuClockSpan> spans, std::size_t most) {
  if (spans.size() <= most) return {spans.begin(), spans.end()};
  const std::size_t each = (spans.size() + most - 1) / most;
  std::vector<CpuClockSpan> kept;
  for (std::size_t begin = 0; begin < spans.size(); begin += each) {
    const auto some = spans.subspan(begin, std::min(each, spans.size() - begin));
    const double from_s = some.front().from_s;
    const double to_s = some.back().to_s;
    const auto clock = cpu_clock_between(some, from_s, to_s);
    kept.push_back({from_s, to_s, clock ? clock->mean_hz : some.front().clock_hz});
  }
  return kept;
}

std::optional<CpuClockChange> explaining_clock_change(std::span<const CpuClockSpan> spans,
                                                      double from_s, double at_s, double to_s,
                                                      double ratio) {
  const Level before = level_between(spans, from_s, at_s);
  const Level after = level_between(spans, at_s, to_s);
  if (before.count < k_least_spans || after.count < k_least_spans) return std::nullopt;
  // Steps take longer as the clock falls.
  const double explained = std::log(before.mean_hz / after.mean_hz);
  const double change = std::log(ratio);
  const double certain = k_standard_errors * std::sqrt(before.squared_error + after.squared_error);
  if (explained * change <= 0.0 || std::abs(explained) < k_least_log_change ||
      std::abs(explained) < k_least_share_explained * std::abs(change) ||
      std::abs(before.mean_hz - after.mean_hz) < certain) {
    return std::nullopt;
  }
  return CpuClockChange{before.mean_hz, after.mean_hz};
}

}  // namespace steptune
