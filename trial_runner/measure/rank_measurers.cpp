// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/rank_measurers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/median.hpp"

namespace steptune {
namespace {

/// Bounds memory and time: each rank has its own `Measurer`.
constexpr std::size_t k_most_ranks = 64;
/// The lower end of a rank's unknown interval is assumed to lie this share below its mean.
constexpr double k_unsure = 0.05;
/// Share of a step beyond which extra time for data is noticeable.
constexpr double k_noticeable = 0.05;
/// Name of the part for which ranks are compared (`stragglers`).
constexpr const char* k_data = "data";

double lower_end(const Measurement& m) {
  if (!std::isfinite(m.seconds_per_sample)) return 0.0;
  return m.status == MeasurementStatus::steady ? m.seconds_per_sample - m.half_width_s
                                               : (1.0 - k_unsure) * m.seconds_per_sample;
}

double upper_end(const Measurement& m) {
  return m.seconds_per_sample + m.half_width_s;
}

/// Returns the rank that sets the pace of the whole trial.
int slowest(const std::map<int, const Measurement*>& ranks) {
  int chosen = ranks.begin()->first;
  for (const auto& [rank, measurement] : ranks) {
    const Measurement& slowest_yet = *ranks.at(chosen);
    const bool comparable = slowest_yet.status == MeasurementStatus::steady;
    if (comparable && lower_end(*measurement) > upper_end(slowest_yet)) chosen = rank;
  }
  return chosen;
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
  if (!(share >= k_noticeable)) return std::nullopt;
  return fmt::format("rank {} spends {:.0f} % of each step more on data than the other ranks",
                     worst->first, 100.0 * share);
}

}  // namespace

void RankMeasurers::add(const Report& report) {
  const int rank = report.global_rank.value_or(0);
  if (!ranks_.contains(rank) && ranks_.size() >= k_most_ranks) {
    // An ignored rank changes only the remark.
    if (rank > unheeded_rank_) {
      unheeded_rank_ = rank;
      combine();
    }
    return;
  }
  ranks_.try_emplace(rank, options_).first->second.add(report);
  if (ranks_.size() > 1) combine();
}

const Measurement& RankMeasurers::current() const {
  static const Measurement k_none;
  if (ranks_.empty()) return k_none;
  return ranks_.size() > 1 ? combined_ : ranks_.begin()->second.current();
}

std::optional<ProgressPoint> RankMeasurers::latest() const {
  return ranks_.empty() ? std::nullopt : ranks_.begin()->second.latest();
}

Measurement RankMeasurers::whole_run(double ended_s) const {
  if (ranks_.empty()) return {};
  std::map<int, Measurement> whole_runs;
  for (const auto& [rank, measurer] : ranks_)
    whole_runs.emplace(rank, measurer.whole_run(ended_s));
  if (whole_runs.size() == 1) return std::move(whole_runs.begin()->second);
  std::map<int, const Measurement*> measured;
  for (const auto& [rank, whole_run] : whole_runs)
    measured.emplace(rank, &whole_run);
  return combination_of(measured);
}

void RankMeasurers::combine() {
  std::map<int, const Measurement*> measured;
  for (const auto& [rank, measurer] : ranks_)
    measured.emplace(rank, &measurer.current());
  combined_ = combination_of(measured);
}

Measurement RankMeasurers::combination_of(const std::map<int, const Measurement*>& measured) const {
  Measurement combined = *measured.at(slowest(measured));
  const Measurement& first = *measured.begin()->second;
  combined.metrics = first.metrics;
  combined.not_finite = first.not_finite;
  add_clause(combined.remark, stragglers(measured));
  if (unheeded_rank_ < 0) return combined;
  add_clause(combined.remark,
             fmt::format("only the first {} ranks that report are measured: reports of "
                         "others, up to rank {}, are ignored",
                         k_most_ranks, unheeded_rank_));
  return combined;
}

std::string stragglers(const std::map<int, const Measurement*>& ranks) {
  if (ranks.size() < 2) return "";
  std::string text;
  const int last = slowest(ranks);
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
