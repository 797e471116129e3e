// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/machine_second.hpp"

#include <algorithm>
#include <cmath>

#include "common/numbers.hpp"
#include "trial_runner/measure/half_widths.hpp"

namespace steptune {
namespace {

/// Share of the changed step time that a figure must explain.
constexpr double k_least_share_explained = 0.5;
/// Fewest seconds from which the standard error of a mean is known well enough.
constexpr std::size_t k_least_seconds = 3;
/// Significant change in standard errors. More than two, because several figures are compared.
constexpr double k_standard_errors = 3.0;
/// Upper bound of the lost share, because log(1 - share) is infinite at 1.
constexpr double k_most_lost = 0.99;

struct Level {
  std::size_t count = 0;
  double mean = 0.0;
  double squared_error = 0.0;  ///< squared standard error of the mean
};

Level level_of(std::span<const MachineSecond> seconds, double MachineSecond::*figure) {
  Level level;
  double squares = 0.0;
  for (const MachineSecond& second : seconds) {
    const double value = second.*figure;
    if (!std::isfinite(value)) continue;
    ++level.count;
    const double difference = value - level.mean;
    level.mean += difference / static_cast<double>(level.count);
    squares += difference * (value - level.mean);
  }
  if (level.count < 2) return level;
  const auto count = static_cast<double>(level.count);
  level.squared_error = squares / (count - 1.0) / count;
  return level;
}

/// Returns the logarithm of the step speed that this value of the figure predicts, up to a
/// constant.
double log_speed(double MachineSecond::*figure, double value) {
  const bool is_clock =
      figure == &MachineSecond::cpu_clock_hz || figure == &MachineSecond::gpu_clock_hz;
  return std::log(is_clock ? value : 1.0 - std::min(value, k_most_lost));
}

/// True if the figure can be the cause of a changed step time. GPU use and slowed GPU clocks may be
/// effects of the change.
bool may_be_a_cause(double MachineSecond::*figure) {
  return figure != &MachineSecond::gpu_utilisation && figure != &MachineSecond::gpu_slowed;
}

}  // namespace

double mean_between(std::span<const MachineSecond> seconds, double MachineSecond::*figure,
                    double from_s, double to_s) {
  double known_s = 0.0;
  double sum = 0.0;
  for (const MachineSecond& second : seconds) {
    const double within_s = std::min(second.to_s, to_s) - std::max(second.from_s, from_s);
    if (!(within_s > 0.0) || !std::isfinite(second.*figure)) continue;
    known_s += within_s;
    sum += within_s * second.*figure;
  }
  return known_s > 0.0 ? sum / known_s : MachineSecond::k_unknown;
}

std::optional<CpuClock> cpu_clock_between(std::span<const MachineSecond> seconds, double from_s,
                                          double to_s) {
  const double mean_hz = mean_between(seconds, &MachineSecond::cpu_clock_hz, from_s, to_s);
  if (!std::isfinite(mean_hz)) return std::nullopt;
  double lowest_hz = k_infinity;
  for (const MachineSecond& second : seconds) {
    if (second.to_s > from_s && second.from_s < to_s && std::isfinite(second.cpu_clock_hz)) {
      lowest_hz = std::min(lowest_hz, second.cpu_clock_hz);
    }
  }
  return CpuClock{mean_hz, lowest_hz};
}

std::vector<MachineSecond> thinned(std::span<const MachineSecond> seconds, std::size_t most) {
  if (seconds.size() <= most) return {seconds.begin(), seconds.end()};
  const std::size_t each = (seconds.size() + most - 1) / most;
  std::vector<MachineSecond> kept;
  for (std::size_t begin = 0; begin < seconds.size(); begin += each) {
    const auto some = seconds.subspan(begin, std::min(each, seconds.size() - begin));
    MachineSecond& mean = kept.emplace_back();
    mean.from_s = some.front().from_s;
    mean.to_s = some.back().to_s;
    for (const MachineFigure& figure : k_machine_figures)
      mean.*figure.value = mean_between(some, figure.value, mean.from_s, mean.to_s);
  }
  return kept;
}

std::span<const MachineSecond> within(std::span<const MachineSecond> seconds, double from_s,
                                      double to_s) {
  const auto begin = std::ranges::find_if(
      seconds, [&](const MachineSecond& second) { return second.from_s >= from_s; });
  const auto end = std::find_if(begin, seconds.end(),
                                [&](const MachineSecond& second) { return second.to_s > to_s; });
  return {begin, end};
}

std::optional<MachineFigureChange> explaining_change(std::span<const MachineSecond> before,
                                                     std::span<const MachineSecond> after,
                                                     double ratio) {
  const double change = std::log(ratio);
  std::optional<MachineFigureChange> largest;
  double most_explained = 0.0;
  for (const MachineFigure& figure : k_machine_figures) {
    if (!may_be_a_cause(figure.value)) continue;
    const Level was = level_of(before, figure.value);
    const Level is = level_of(after, figure.value);
    if (was.count < k_least_seconds || is.count < k_least_seconds) continue;
    const double explained = log_speed(figure.value, was.mean) - log_speed(figure.value, is.mean);
    const double certain = k_standard_errors * std::sqrt(was.squared_error + is.squared_error);
    if (explained * change <= 0.0 || std::abs(explained) < k_usual_half_width ||
        std::abs(explained) < k_least_share_explained * std::abs(change) ||
        std::abs(was.mean - is.mean) < certain || std::abs(explained) <= most_explained) {
      continue;
    }
    most_explained = std::abs(explained);
    largest = MachineFigureChange{figure.name, was.mean, is.mean};
  }
  return largest;
}

}  // namespace steptune
