// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/guards.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "common/interval.hpp"

namespace steptune {
namespace {

constexpr const char* k_not_finite = "{} is not a finite number";

bool compares_with_baseline(const Guard& guard) {
  return guard.max_ratio_to_baseline || guard.min_ratio_to_baseline;
}

std::optional<double> find(const std::map<std::string, double>& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) return std::nullopt;
  return found->second;
}

std::optional<GuardedValue> baseline_value(const Guard& guard, const TrialRecord* baseline) {
  if (baseline == nullptr) return std::nullopt;
  if (is_memory_guard(guard)) {
    if (!baseline->peak_memory_bytes) return std::nullopt;
    return GuardedValue{*baseline->peak_memory_bytes};
  }
  if (!baseline->measurement) return std::nullopt;
  const auto value = find(baseline->measurement->metrics, judged_metric(guard));
  if (!value) return std::nullopt;
  return GuardedValue{
      *value, find(baseline->measurement->metric_errors, judged_metric(guard)).value_or(0.0)};
}

/// True if a value is beyond its limit by more than its error explains. `by`: distance from the
/// limit. If the true value is at the limit, returns true with probability `k_error_95`.
bool is_shown(double by, const GuardedValue& value, double limit_error) {
  const double error = std::hypot(value.standard_error, limit_error);
  if (!(error > 0.0) || !(value.degrees_of_freedom > 0.0)) return by > 0.0;
  const boost::math::students_t distribution(value.degrees_of_freedom);
  return by > boost::math::quantile(distribution, 1.0 - k_error_95) * error;
}

std::string value_text(const GuardedValue& value) {
  return value.standard_error > 0.0
             ? fmt::format("{:.6g} +-{:.2g}", value.value, k_z_95 * value.standard_error)
             : fmt::format("{:.6g}", value.value);
}

std::optional<std::string> violation(const Guard& guard, const GuardedValue& value,
                                     const std::optional<GuardedValue>& baseline) {
  const std::string name = judged_metric(guard);
  if (!std::isfinite(value.value)) return fmt::format(k_not_finite, name);
  if (guard.max && is_shown(value.value - *guard.max, value, 0.0)) {
    return fmt::format("{} is {}, above the limit of {:.6g}", name, value_text(value), *guard.max);
  }
  if (guard.min && is_shown(*guard.min - value.value, value, 0.0)) {
    return fmt::format("{} is {}, below the limit of {:.6g}", name, value_text(value), *guard.min);
  }
  if (!baseline) return std::nullopt;
  const auto beyond = [&](double multiple, double sign) {
    return is_shown(sign * (value.value - multiple * baseline->value), value,
                    std::abs(multiple) * baseline->standard_error);
  };
  for (const auto& [ratio, sign, side] : {std::tuple(guard.max_ratio_to_baseline, 1.0, "above"),
                                          std::tuple(guard.min_ratio_to_baseline, -1.0, "below")}) {
    if (!ratio) continue;
    const double multiple = multiple_of_baseline(*ratio, baseline->value);
    if (!beyond(multiple, sign)) continue;
    return fmt::format("{} is {}, {} {:.6g} times the baseline's {}", name, value_text(value), side,
                       multiple, value_text(*baseline));
  }
  return std::nullopt;
}

std::optional<std::string> not_finite(const Guard& guard, const GuardedValues& values) {
  const auto value = values.find(judged_metric(guard));
  if (value == values.end() || std::isfinite(value->second.value)) return std::nullopt;
  return fmt::format(k_not_finite, value->first);
}

/// Returns the baseline's peak of memory that the system cannot reclaim. If this is unknown,
/// returns the whole peak, or 0 if that is unknown, too.
double unreclaimable_bytes(const TrialRecord* baseline) {
  if (baseline == nullptr) return 0.0;
  if (baseline->peak_unreclaimable_bytes) return *baseline->peak_unreclaimable_bytes;
  return baseline->peak_memory_bytes.value_or(0.0);
}

std::string missing(const Guard& guard, const UnitName& unit) {
  if (guard.after_samples > 0.0) {
    return fmt::format(
        "the guard on {} could not be checked: the trial did not report it after {:.0f} {}",
        guard.metric, guard.after_samples, unit.plural);
  }
  return fmt::format("the guard on {} could not be checked: the trial did not report it",
                     guard.metric);
}

}  // namespace

GuardLimit limit_of(const Guard& guard, const TrialRecord& baseline) {
  GuardLimit limit{judged_metric(guard), guard.max, guard.min, std::nullopt};
  const auto value = baseline_value(guard, &baseline);
  if (!value) return limit;
  limit.baseline = value->value;
  if (guard.max_ratio_to_baseline) {
    const double most =
        multiple_of_baseline(*guard.max_ratio_to_baseline, value->value) * value->value;
    limit.max = std::min(limit.max.value_or(most), most);
  }
  if (guard.min_ratio_to_baseline) {
    const double least =
        multiple_of_baseline(*guard.min_ratio_to_baseline, value->value) * value->value;
    limit.min = std::max(limit.min.value_or(least), least);
  }
  return limit;
}

std::optional<std::string> violated_guard(const std::vector<Guard>& guards,
                                          const GuardedValues& values,
                                          std::optional<double> peak_memory_bytes,
                                          const TrialRecord* baseline, GuardMoment moment,
                                          const UnitName& unit) {
  for (const Guard& guard : guards) {
    if (moment == GuardMoment::running && !(guard.after_samples > 0.0)) continue;
    if (guard.over_launches) {
      if (auto violated = not_finite(guard, values)) return violated;
      continue;
    }
    const auto found = values.find(judged_metric(guard));
    std::optional<GuardedValue> value;
    if (is_memory_guard(guard)) {
      if (peak_memory_bytes) value = GuardedValue{*peak_memory_bytes};
    } else if (found != values.end()) {
      value = found->second;
    }
    if (value) {
      if (auto violated = violation(guard, *value, baseline_value(guard, baseline))) {
        return violated;
      }
    } else if (moment == GuardMoment::ended) {
      return missing(guard, unit);
    }
  }
  return std::nullopt;
}

std::optional<std::string> missing_headroom(double max_share, const Outcome& outcome,
                                            const TrialRecord* baseline) {
  if (!(max_share < 1.0)) return std::nullopt;
  const auto fault_text = [&](double share, const char* memory) {
    return fmt::format(
        "takes {:.0f} % of the {}, more than \"limits.memory_share\" ({:.0f} %): a long run needs "
        "headroom",
        100.0 * share, memory, 100.0 * max_share);
  };
  const std::optional<GpuUse>& gpu = outcome.gpu;
  const double of_gpu = gpu && gpu->most_other_processes == 0 ? gpu->peak_memory_share : 0.0;
  // The baseline's share may include memory of other programs. Count all of it as the baseline's.
  const double baselines_of_gpu =
      baseline != nullptr && baseline->gpu ? baseline->gpu->peak_memory_share : 0.0;
  if (of_gpu > max_share && !(baselines_of_gpu > max_share))
    return fault_text(of_gpu, "GPU's memory");
  if (!outcome.peak_unreclaimable_bytes || !(outcome.usable_memory_bytes.value_or(0.0) > 0.0)) {
    return std::nullopt;
  }
  const double of_memory = *outcome.peak_unreclaimable_bytes / *outcome.usable_memory_bytes;
  const double baselines_of_memory = unreclaimable_bytes(baseline) / *outcome.usable_memory_bytes;
  if (of_memory > max_share && !(baselines_of_memory > max_share)) {
    return fault_text(of_memory, "memory that it may use");
  }
  return std::nullopt;
}

bool was_judged(const std::vector<Guard>& guards, const TrialRecord& trial) {
  return std::ranges::all_of(guards, [&](const Guard& guard) {
    return is_memory_guard(guard) ||
           (trial.measurement && trial.measurement->metrics.contains(judged_metric(guard)));
  });
}

std::vector<std::string> metrics_missing_in_baseline(const std::vector<Guard>& guards,
                                                     const TrialRecord& baseline) {
  std::vector<std::string> names;
  for (const Guard& guard : guards) {
    if (guard.over_launches) continue;
    if (compares_with_baseline(guard) && !baseline_value(guard, &baseline)) {
      names.push_back(judged_metric(guard));
    }
  }
  return names;
}

}  // namespace steptune
