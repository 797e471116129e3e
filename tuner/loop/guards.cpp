// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/guards.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace steptune {
namespace {

constexpr const char* k_peak_memory = "peak_memory_bytes";

bool is_memory(const Guard& guard) {
  return guard.metric == k_peak_memory;
}
bool compares_with_baseline(const Guard& guard) {
  return guard.max_ratio_to_baseline || guard.min_ratio_to_baseline;
}

std::optional<double> find(const std::map<std::string, double>& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) return std::nullopt;
  return found->second;
}

std::optional<double> baseline_value(const Guard& guard, const TrialRecord* baseline) {
  if (baseline == nullptr) return std::nullopt;
  if (is_memory(guard)) return baseline->peak_memory_bytes;
  if (!baseline->measurement) return std::nullopt;
  return find(baseline->measurement->metrics, judged_metric(guard));
}

std::optional<std::string> violation(const Guard& guard, double value,
                                     std::optional<double> baseline) {
  const std::string name = judged_metric(guard);
  if (!std::isfinite(value)) return fmt::format("{} is not a finite number", name);
  if (guard.max && value > *guard.max) {
    return fmt::format("{} is {:.6g}, above the limit of {:.6g}", name, value, *guard.max);
  }
  if (guard.min && value < *guard.min) {
    return fmt::format("{} is {:.6g}, below the limit of {:.6g}", name, value, *guard.min);
  }
  if (!baseline) return std::nullopt;
  if (guard.max_ratio_to_baseline && value > *baseline * *guard.max_ratio_to_baseline) {
    return fmt::format("{} is {:.6g}, above {:.6g} times the baseline's {:.6g}", name, value,
                       *guard.max_ratio_to_baseline, *baseline);
  }
  if (guard.min_ratio_to_baseline && value < *baseline * *guard.min_ratio_to_baseline) {
    return fmt::format("{} is {:.6g}, below {:.6g} times the baseline's {:.6g}", name, value,
                       *guard.min_ratio_to_baseline, *baseline);
  }
  return std::nullopt;
}

std::string missing(const Guard& guard) {
  if (guard.after_samples > 0.0) {
    return fmt::format(
        "the guard on {} could not be checked: the trial did not report it after {:.0f} samples",
        guard.metric, guard.after_samples);
  }
  return fmt::format("the guard on {} could not be checked: the trial did not report it",
                     guard.metric);
}

}  // namespace

std::string judged_metric(const Guard& guard) {
  if (is_memory(guard) || !(guard.after_samples > 0.0)) return guard.metric;
  return fmt::format("{}@{:.0f}", guard.metric, guard.after_samples);
}

void capture_guarded(const std::vector<Guard>& guards, const Measurement& current,
                     GuardedValues& values) {
  for (const Guard& guard : guards) {
    const auto value = current.not_finite.contains(guard.metric)
                           ? std::optional(std::numeric_limits<double>::quiet_NaN())
                           : find(current.metrics, guard.metric);
    if (!value || current.total_samples < guard.after_samples) continue;
    if (guard.after_samples > 0.0) {
      values.try_emplace(judged_metric(guard), *value);
    } else {
      values[guard.metric] = *value;
    }
  }
}

bool all_captured(const std::vector<Guard>& guards, const GuardedValues& values) {
  return std::ranges::all_of(guards, [&](const Guard& guard) {
    return is_memory(guard) || values.contains(judged_metric(guard));
  });
}

std::optional<std::string> violated_guard(const std::vector<Guard>& guards,
                                          const GuardedValues& values,
                                          std::optional<double> peak_memory_bytes,
                                          const TrialRecord* baseline, GuardMoment moment) {
  for (const Guard& guard : guards) {
    if (moment == GuardMoment::running && !(guard.after_samples > 0.0)) continue;
    const auto value = is_memory(guard) ? peak_memory_bytes : find(values, judged_metric(guard));
    if (value) {
      auto told = violation(guard, *value, baseline_value(guard, baseline));
      if (told) return told;
    } else if (moment == GuardMoment::ended) {
      return missing(guard);
    }
  }
  return std::nullopt;
}

std::vector<std::string> metrics_missing_in_baseline(const std::vector<Guard>& guards,
                                                     const TrialRecord& baseline) {
  std::vector<std::string> names;
  for (const Guard& guard : guards) {
    if (compares_with_baseline(guard) && !baseline_value(guard, &baseline)) {
      names.push_back(judged_metric(guard));
    }
  }
  return names;
}

}  // namespace steptune
