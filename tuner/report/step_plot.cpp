// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/step_plot.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_height = 6;
/// Widths of labels with a blank at the end. The wide one is for steps that take minutes, or less
/// than 0.1 ms.
constexpr std::size_t k_label_width = std::string_view("0.123 ms ").size();
constexpr std::size_t k_wide_label_width = std::string_view("14 min 20 s ").size();
/// Least width of a plot in columns, with room for the legend.
constexpr std::size_t k_narrowest = 36;
/// If the largest value exceeds the smallest by more than this factor, heights are logarithmic.
constexpr double k_linear_ratio = 8.0;

/// Returns the mean seconds per step in each of `count` equal parts of the trial's time; NaN before
/// the first report.
std::vector<double> column_values(const std::vector<TracePoint>& points, std::size_t count) {
  const double width_s = points.back().at_s / static_cast<double>(count);
  std::vector<double> seconds(count, 0.0);
  std::vector<double> weighed(count, 0.0);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double from_s = points[i - 1].at_s;
    const double to_s = points[i].at_s;
    const double per_step = (to_s - from_s) / (points[i].steps - points[i - 1].steps);
    if (!(to_s > from_s) || !std::isfinite(per_step)) continue;
    auto column = static_cast<std::size_t>(from_s / width_s);
    for (; column < count && static_cast<double>(column) * width_s < to_s; ++column) {
      const double begin_s = std::max(from_s, static_cast<double>(column) * width_s);
      const double end_s = std::min(to_s, static_cast<double>(column + 1) * width_s);
      seconds[column] += std::max(0.0, end_s - begin_s);
      weighed[column] += std::max(0.0, end_s - begin_s) * per_step;
    }
  }
  for (std::size_t i = 0; i < count; ++i)
    weighed[i] = seconds[i] > 0.0 ? weighed[i] / seconds[i] : k_nan;
  return weighed;
}

/// Returns the width of the labels. Column means lie between the values of the points, so checking
/// the points is enough.
std::size_t label_width(const std::vector<TracePoint>& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double seconds = points[i].at_s - points[i - 1].at_s;
    const double steps = points[i].steps - points[i - 1].steps;
    if (!(seconds > 0.0) || !(steps > 0.0)) continue;
    if (seconds >= 60.0 * steps || seconds < 1e-4 * steps) return k_wide_label_width;
  }
  return k_label_width;
}

std::string ruler(const TrialTrace& trace, const std::optional<Measurement>& measurement,
                  std::size_t count) {
  const double width_s = trace.progress.points.back().at_s / static_cast<double>(count);
  std::string line(count, ' ');
  const auto mark = [&](double from_s, double to_s, char sign) {
    for (std::size_t i = 0; i < count; ++i) {
      const double begin_s = static_cast<double>(i) * width_s;
      if (begin_s + width_s > from_s && begin_s < to_s) line[i] = sign;
    }
  };
  if (measurement && measurement->window_s > 0.0) {
    const double begin_s = measurement->window_begin_s() - trace.spared_startup_s;
    mark(0.0, begin_s, '.');
    mark(begin_s, begin_s + measurement->window_s, '=');
  }
  for (const TracePhase& phase : trace.progress.phases)
    mark(phase.from_s, phase.to_s, 'P');
  for (const DisturbedTime& time : trace.disturbed)
    mark(time.from_s, time.to_s, '!');
  return line;
}

/// Returns the legend of the signs in `line`, wrapped to the length of `line`.
std::vector<std::string> legend_of(const std::string& line) {
  std::vector<std::string> lines;
  const auto add = [&](char sign, const char* meaning) {
    if (line.find(sign) == std::string::npos) return;
    const std::string entry = fmt::format("{} {}", sign, meaning);
    constexpr std::string_view k_gap = "   ";
    if (lines.empty() || lines.back().size() + k_gap.size() + entry.size() > line.size()) {
      lines.push_back(entry);
    } else {
      lines.back() += std::string(k_gap) + entry;
    }
  };
  add('.', "start-up and warm-up");
  add('=', "measured window");
  add('P', "phase");
  add('!', "disturbed");
  return lines;
}

}  // namespace

std::string step_plot(const TrialTrace& trace, const std::optional<Measurement>& measurement,
                      std::size_t width) {
  const auto& points = trace.progress.points;
  if (points.size() < 3 || width < k_narrowest || !(points.back().at_s > 0.0)) return {};
  const std::size_t margin = label_width(points);
  const std::size_t count = width - margin;
  const std::vector<double> values = column_values(points, count);
  double low = k_infinity;
  double high = 0.0;
  for (const double value : values) {
    if (!(value > 0.0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(high > 0.0)) return {};
  const bool is_log = high > k_linear_ratio * low;
  const double base = is_log ? 0.8 * low : 0.0;
  const auto share = [&](double value) {
    return is_log ? std::log(value / base) / std::log(high / base) : value / high;
  };
  std::string text;
  for (std::size_t row = k_height; row > 0; --row) {
    const char* blanks = "";
    std::string label = row == k_height ? format_duration(high) : blanks;
    if (row == 1) label = is_log ? format_duration(low) : "0";
    std::string line = fmt::format("{:>{}} ", label, margin - 1);
    for (const double value : values) {
      const double filled =
          value > 0.0 ? std::max(1.0, share(value) * static_cast<double>(k_height)) : 0.0;
      line += filled > static_cast<double>(row) - 0.5 ? '#' : ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string marks = ruler(trace, measurement, count);
  const std::string end = format_duration(points.back().at_s);
  text += fmt::format("{:>{}} {}\n", "", margin - 1, marks);
  text += fmt::format("{:>{}} 0{:>{}}\n", "", margin - 1, end, count - 1);
  for (const std::string& line : legend_of(marks))
    text += fmt::format("{:>{}} {}\n", "", margin - 1, line);
  return text;
}

}  // namespace steptune
