// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/median.hpp"
#include "trial_runner/measure/half_widths.hpp"

namespace steptune {
namespace {

/// Name of the part for which ranks are compared (`stragglers`).
constexpr const char* k_data = "data";

double lower_end(const Measurement& m) {
  if (!std::isfinite(m.seconds_per_sample)) return 0.0;
  return m.status == MeasurementStatus::steady
             ? m.seconds_per_sample - m.half_width_s
             : (1.0 - k_noticeable_difference) * m.seconds_per_sample;
}

double upper_end(const Measurement& m) {
  return m.seconds_per_sample + m.half_width_s;
}

std::optional<std::string> late_in_data(const std::map<int, const Measurement*>& ranks) {
  std::map<int, double> seconds;
  for (const auto& [rank, measurement] : ranks) {
    const auto part = measurement->parts.find(k_data);
    if (part != measurement->parts.end()) seconds.emplace(rank, part->second);
  }
  if (seconds.size() < 2) return std::nullopt;
  const auto worst =
      std::ranges::max_element(seconds, {}, [](const auto& of_rank) { return of_rank.second; });
  std::vector<double> others;
  for (const auto& [rank, each] : seconds) {
    if (rank != worst->first) others.push_back(each);
  }
  const double step = ranks.at(worst->first)->step_seconds_per_sample;
  const double share = (worst->second - *median(std::move(others))) / step;
  if (!(share >= k_noticeable_difference)) return std::nullopt;
  return fmt::format("rank {} spends {:.0f} % of each step more on data than the other ranks",
                     worst->first, 100.0 * share);
}

}  // namespace

int slowest_rank(const std::map<int, const Measurement*>& ranks) {
  int chosen = ranks.begin()->first;
  for (const auto& [rank, measurement] : ranks) {
    const Measurement& slowest_yet = *ranks.at(chosen);
    const bool comparable = slowest_yet.status == MeasurementStatus::steady;
    if (comparable && lower_end(*measurement) > upper_end(slowest_yet)) chosen = rank;
  }
  return chosen;
}

std::string stragglers(const std::map<int, const Measurement*>& ranks) {
  if (ranks.size() < 2) return "";
  std::string text;
  const int last = slowest_rank(ranks);
  const Measurement& first = *ranks.begin()->second;
  if (last != ranks.begin()->first) {
    const double ratio = ranks.at(last)->seconds_per_sample / first.seconds_per_sample;
    text = fmt::format("rank {} is {:.0f} % slower than rank {}", last, 100.0 * (ratio - 1.0),
                       ranks.begin()->first);
  }
  if (const auto late = late_in_data(ranks)) add_clause(text, *late);
  return text.empty() ? "" : "straggler: " + text;
}

}  // namespace steptune
