// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/objectives.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Returns advice for a program that reports epochs and no smaller count, as the end of a sentence;
/// otherwise empty.
std::string advice_on_epochs(const Measurement& measurement) {
  if (measurement.total_samples > 0.0 || !measurement.metrics.contains("epoch")) return "";
  return R"text(; it reports only epochs: count each as a sample, with "unit": "epochs", "reports": )text"
         R"text({"metrics": [{"name": "samples", "regex": "(?i)epoch[^0-9]{0,3}([0-9]+(?:[.][0-9]+)?)"}]} )text"
         R"text(and their number as "samples" of "planned_run")text";
}

std::string why_no_time(const Measurement& measurement) {
  switch (measurement.status) {
    case MeasurementStatus::no_reports:
      return measurement.total_samples > 0.0
                 ? "too few progress reports to compute a speed from"
                 : "its output has no progress reports with steps or samples" +
                       advice_on_epochs(measurement);
    case MeasurementStatus::warming_up:
      return fmt::format("no steady state yet after {:.0f} measured steps: more steps are needed",
                         measurement.window_steps);
    case MeasurementStatus::not_steady:
      return fmt::format("no steady state: the speed still drifted after {:.0f} measured steps",
                         measurement.window_steps);
    case MeasurementStatus::steady:
      break;
  }
  return "the measured speed is not a positive number";
}

}  // namespace

tl::expected<std::vector<MeasuredValue>, std::string> objective_values(
    const StudySpec& study, const Measurement& measurement, double price_usd_per_hour,
    const Measurement* baseline) {
  std::vector<MeasuredValue> result;
  for (const Objective& objective : study.objectives) {
    if (!objective.is_timed()) {
      if (measurement.not_finite.contains(objective.metric)) {
        return tl::unexpected(
            fmt::format("the metric \"{}\" is not a finite number", objective.metric));
      }
      const auto found = measurement.metrics.find(objective.metric);
      if (found == measurement.metrics.end() || !std::isfinite(found->second)) {
        return tl::unexpected(
            fmt::format("the metric \"{}\" was not found in its output", objective.metric));
      }
      result.push_back({found->second, 0.0});
      continue;
    }
    const double rate_s = measurement.seconds_per_sample;
    if (measurement.status != MeasurementStatus::steady || !(rate_s > 0.0) ||
        !std::isfinite(rate_s)) {
      return tl::unexpected(why_no_time(measurement));
    }
    auto [value, error] = planned_time(study.planned_run, measurement, baseline);
    if (objective.is_cost()) {
      value = usage_usd(price_usd_per_hour, value);
      error = usage_usd(price_usd_per_hour, error);
    }
    result.push_back({value, std::isfinite(error) ? error : 0.0});
  }
  return result;
}

bool all_timed(const StudySpec& study) {
  return std::ranges::all_of(study.objectives, &Objective::is_timed);
}

std::optional<std::size_t> time_objective(const StudySpec& study) {
  const auto found = std::ranges::find_if(study.objectives, &Objective::is_time);
  if (found == study.objectives.end()) return std::nullopt;
  return static_cast<std::size_t>(found - study.objectives.begin());
}

double to_minimized(const Objective& objective, double value) {
  return objective.direction == Direction::maximize ? -value : value;
}

}  // namespace steptune
