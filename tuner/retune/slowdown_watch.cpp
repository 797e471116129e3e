// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/slowdown_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/interval.hpp"
#include "tuner/retune/night_prediction.hpp"

namespace steptune {
namespace {

constexpr std::array k_shifts{1.0, 2.0, 4.0};
/// A score that one quiet night in forty exceeds, and a factor that is a tenth of the way.
constexpr double k_suspicious_score = 2.0;
constexpr double k_suspicious_share = 0.05;

/// Evidence that a score has become larger, for each shift; and since when.
class Detector {
 public:
  void add(std::int64_t night, double score) {
    for (std::size_t i = 0; i < k_shifts.size(); ++i) {
      if (!(evidence_[i] > 1.0)) {
        evidence_[i] = 1.0;
        since_[i] = night;
      }
      evidence_[i] *= std::exp(k_shifts[i] * score - 0.5 * k_shifts[i] * k_shifts[i]);
    }
  }

  [[nodiscard]] double evidence() const {
    double sum = 0.0;
    for (const double each : evidence_)
      sum += each;
    return sum / static_cast<double>(evidence_.size());
  }

  /// Of the shift that explains most.
  [[nodiscard]] std::int64_t since() const {
    return since_[static_cast<std::size_t>(std::ranges::max_element(evidence_) -
                                           evidence_.begin())];
  }

 private:
  std::array<double, k_shifts.size()> evidence_{1.0, 1.0, 1.0};
  std::array<std::int64_t, k_shifts.size()> since_{};
};

struct Detectors {
  Detector slower;  ///< the incumbent
  Detector faster;
  Detector lost;  ///< against the baseline

  [[nodiscard]] double evidence() const { return 0.5 * (slower.evidence() + lost.evidence()); }
  [[nodiscard]] std::int64_t since() const {
    return slower.evidence() > lost.evidence() ? slower.since() : lost.since();
  }
};

std::span<const NightTimes> nights_from(std::span<const NightTimes> nights, std::int64_t first) {
  const auto at =
      std::ranges::find_if(nights, [&](const NightTimes& night) { return night.night >= first; });
  return nights.subspan(static_cast<std::size_t>(at - nights.begin()));
}

Slowdown slowdown_since(std::span<const NightTimes> nights, std::int64_t since,
                        const WatchOptions& options) {
  const auto after = nights_from(nights, since);
  const auto before = nights.first(nights.size() - after.size());
  const NightShift incumbent = shift_between(before, after, NightStatistic::incumbent, options);
  Slowdown slowdown;
  slowdown.since = since;
  slowdown.ratio = std::exp(incumbent.mean);
  slowdown.low = std::exp(incumbent.mean - k_z_95 * incumbent.standard_error);
  slowdown.high = std::exp(incumbent.mean + k_z_95 * incumbent.standard_error);
  if (nights.back().baseline.empty()) return slowdown;
  const NightShift ratio = shift_between(before, after, NightStatistic::ratio, options);
  slowdown.baseline_ratio = std::exp(incumbent.mean - ratio.mean);
  slowdown.scope =
      ratio.mean > 0.5 * incumbent.mean ? SlowdownScope::configuration : SlowdownScope::shared;
  return slowdown;
}

}  // namespace

SlowdownWatch watch_for_slowdown(std::span<const NightTimes> nights, const WatchOptions& options) {
  SlowdownWatch watch;
  Detectors detectors;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < nights.size(); ++i) {
    watch = {};
    const auto past = nights.subspan(begin, i - begin);
    const NightTimes& night = nights[i];
    const double time = score_of(past, night, NightStatistic::incumbent, options);
    const double ratio = score_of(past, night, NightStatistic::ratio, options);
    detectors.slower.add(night.night, time);
    detectors.faster.add(night.night, -time);
    detectors.lost.add(night.night, ratio);
    watch.evidence = detectors.evidence();
    watch.suspicious = std::max(time, ratio) > k_suspicious_score ||
                       watch.evidence > k_suspicious_share * options.alarm;
    std::optional<std::int64_t> changed;
    if (watch.evidence >= options.alarm) {
      const Slowdown slowdown =
          slowdown_since(nights.subspan(begin, i + 1 - begin), detectors.since(), options);
      const bool is_slower = std::log(slowdown.ratio) > 0.5 * std::log1p(options.least_slowdown);
      if (is_slower) watch.slowdown = slowdown;
      watch.lead_shrank = !is_slower;
      changed = detectors.since();
    } else if (detectors.faster.evidence() >= options.alarm) {
      changed = detectors.faster.since();
    }
    if (!changed) continue;
    begin = i + 1 - nights_from(nights.first(i + 1), *changed).size();
    detectors = {};
  }
  return watch;
}

}  // namespace steptune
