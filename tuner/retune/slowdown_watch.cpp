// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/slowdown_watch.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "common/interval.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "tuner/retune/night_prediction.hpp"

namespace steptune {
namespace {

/// A night is suspicious if the larger of its two scores exceeds `k_significant_errors`. If nothing
/// has changed, about one night in 25 does so. It is also suspicious if the evidence exceeds this
/// share of the alarm's limit.
constexpr double k_suspicious_share = 0.05;
constexpr std::size_t k_most_nights = 120;

}  // namespace

void SlowdownWatcher::Detector::add(std::int64_t night, double score) {
  for (std::size_t i = 0; i < k_shifts.size(); ++i) {
    if (!(evidence_[i] > 1.0)) {
      evidence_[i] = 1.0;
      since_[i] = night;
    }
    evidence_[i] *= std::exp(k_shifts[i] * score - 0.5 * k_shifts[i] * k_shifts[i]);
  }
}

double SlowdownWatcher::Detector::evidence() const {
  double sum = 0.0;
  for (const double each : evidence_)
    sum += each;
  return sum / static_cast<double>(evidence_.size());
}

std::int64_t SlowdownWatcher::Detector::since() const {
  return since_[static_cast<std::size_t>(std::ranges::max_element(evidence_) - evidence_.begin())];
}

std::int64_t SlowdownWatcher::slower_since() const {
  return slower_.evidence() > lost_.evidence() ? slower_.since() : lost_.since();
}

SlowdownWatch SlowdownWatcher::add(NightTimes night) {
  SlowdownWatch watch;
  if (nights_.empty()) {
    nights_.push_back(std::move(night));
    return watch;
  }
  const double time_score = score_of(nights_, night, NightStatistic::incumbent, options_);
  const double ratio_score = score_of(nights_, night, NightStatistic::ratio, options_);
  slower_.add(night.night, time_score);
  faster_.add(night.night, -time_score);
  lost_.add(night.night, ratio_score);
  nights_.push_back(std::move(night));
  watch.evidence = 0.5 * (slower_.evidence() + lost_.evidence());
  watch.suspicious = std::max(time_score, ratio_score) > k_significant_errors ||
                     watch.evidence > k_suspicious_share * options_.alarm;
  if (watch.evidence >= options_.alarm) {
    const Slowdown slowdown = slowdown_since(slower_since());
    const bool is_slower = std::log(slowdown.ratio) > 0.5 * std::log1p(options_.least_slowdown);
    if (is_slower) watch.slowdown = slowdown;
    watch.lead_shrank = !is_slower;
    begin_anew(slower_since());
  } else if (faster_.evidence() >= options_.alarm) {
    begin_anew(faster_.since());
  }
  if (nights_.size() > k_most_nights) nights_.erase(nights_.begin());
  return watch;
}

void SlowdownWatcher::begin_anew(std::int64_t since) {
  std::erase_if(nights_, [&](const NightTimes& night) { return night.night < since; });
  slower_ = faster_ = lost_ = {};
}

Slowdown SlowdownWatcher::slowdown_since(std::int64_t since) const {
  const std::span nights(nights_);
  const auto first =
      std::ranges::find_if(nights, [&](const NightTimes& night) { return night.night >= since; });
  const auto count = static_cast<std::size_t>(first - nights.begin());
  const auto before = nights.first(count);
  const auto after = nights.subspan(count);
  const NightShift incumbent =
      shift_between(before, after, NightStatistic::incumbent, options_).value_or(NightShift{});
  Slowdown slowdown;
  slowdown.since = since;
  slowdown.ratio = std::exp(incumbent.mean);
  const double half_width = student_quantile_95(incumbent.freedom) * incumbent.standard_error;
  slowdown.low = std::exp(incumbent.mean - half_width);
  slowdown.high = std::exp(incumbent.mean + half_width);
  // The scope stays unknown if the baseline did not run tonight, or in no night before `since`.
  const auto ratio = shift_between(before, after, NightStatistic::ratio, options_);
  if (nights.back().baseline.empty() || !ratio) return slowdown;
  slowdown.baseline_ratio = std::exp(incumbent.mean - ratio->mean);
  slowdown.scope =
      ratio->mean > 0.5 * incumbent.mean ? SlowdownScope::configuration : SlowdownScope::shared;
  return slowdown;
}

}  // namespace steptune
