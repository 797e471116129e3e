// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The values that a trial's guards judge, by `judged_metric`.
using GuardedValues = std::map<std::string, double>;

/// Name under which the value that a guard judges stands among a trial's metrics: the metric's own,
/// or `loss@20000` for one that is judged at a number of samples.
[[nodiscard]] std::string judged_metric(const Guard& guard);

/// Takes down what a running trial's guards judge: the value at the first report at or after
/// `after_samples`, so that trials are compared at the same amount of training however far they
/// run; without `after_samples` the latest value.
void capture_guarded(const std::vector<Guard>& guards, const Measurement& current,
                     GuardedValues& values);

/// True if every guard's value is known, or can only be known at the end (`peak_memory_bytes`).
[[nodiscard]] bool all_captured(const std::vector<Guard>& guards, const GuardedValues& values);

/// When a guard is asked.
enum class GuardMoment {
  running,  ///< values that are missing or may still change violate nothing
  ended,    ///< values that are missing violate: an unknown loss is not a good loss
};

/// The guard that a trial violates, as a sentence for people; nothing if it respects all.
/// `baseline` is the baseline's trial, or null for the baseline itself; ratios to a value that it
/// has not reported are not judged. `peak_memory_bytes` may be guarded like any metric.
[[nodiscard]] std::optional<std::string> violated_guard(const std::vector<Guard>& guards,
                                                        const GuardedValues& values,
                                                        std::optional<double> peak_memory_bytes,
                                                        const TrialRecord* baseline,
                                                        GuardMoment moment);

/// Metrics that the study compares with the baseline's but that the baseline has not reported.
[[nodiscard]] std::vector<std::string> metrics_missing_in_baseline(const std::vector<Guard>& guards,
                                                                   const TrialRecord& baseline);

}  // namespace steptune
