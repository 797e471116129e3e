// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/loop/guard_window.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Name under which the value that a guard judges stands among a trial's metrics: the metric's own,
/// or `loss@20000` for one that is judged at a number of samples.
[[nodiscard]] std::string judged_metric(const Guard& guard);
/// True for the guard on `peak_memory_bytes`, which the runner tells at the end.
[[nodiscard]] bool is_memory_guard(const Guard& guard);

/// When a guard is asked.
enum class GuardMoment {
  running,  ///< values that are missing or may still change violate nothing
  ended,    ///< values that are missing violate: an unknown loss is not a good loss
  again,    ///< ended, of a configuration that was judged before: values that are missing do not
};

/// The guard that a trial violates, as a sentence for people; nothing if it respects all.
/// `baseline` is the baseline's trial, or null for the baseline itself; ratios to a value that it
/// has not reported are not judged, and beside a negative value the limit lies on the same side of
/// it as beside a positive one: 1.02 of -5 is -4.9. `peak_memory_bytes` may be guarded like any
/// metric.
///
/// Non-inferiority: a value violates a limit where it is shown to be beyond it, with an error of at
/// most 5 % (Student's t, one-sided) that counts both the trial's and the baseline's; a value whose
/// error is not known counts as it is. A value that is not finite violates every guard.
[[nodiscard]] std::optional<std::string> violated_guard(const std::vector<Guard>& guards,
                                                        const GuardedValues& values,
                                                        std::optional<double> peak_memory_bytes,
                                                        const TrialRecord* baseline,
                                                        GuardMoment moment);

/// What a guard means once the baseline is known: the tighter of its limits. Absent: none, or of
/// what the baseline did not report.
struct GuardLimit {
  std::string metric;  ///< `judged_metric`
  std::optional<double> max;
  std::optional<double> min;
  std::optional<double> baseline;  ///< its value
};
[[nodiscard]] GuardLimit limit_of(const Guard& guard, const TrialRecord& baseline);

/// Why a trial leaves too little memory free to run for long: it took more than `max_share` of a
/// GPU's memory, or of the memory that its processes may use. Nothing where it leaves enough or
/// nothing is known. A GPU that others used too tells nothing, nor does memory of which the
/// baseline takes more than that share, too: such programs take all at once. 1 or more: never.
[[nodiscard]] std::optional<std::string> missing_headroom(double max_share, const Outcome& outcome,
                                                          const TrialRecord* baseline);

/// Whether a trial told what each guard judges: one that was given up for its speed, or had too
/// little time, may not have come so far.
[[nodiscard]] bool was_judged(const std::vector<Guard>& guards, const TrialRecord& trial);

/// Metrics that the study compares with the baseline's but that the baseline has not reported.
[[nodiscard]] std::vector<std::string> metrics_missing_in_baseline(const std::vector<Guard>& guards,
                                                                   const TrialRecord& baseline);

}  // namespace steptune
