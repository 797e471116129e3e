// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/final_measurement.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/clauses.hpp"
#include "common/text.hpp"
#include "tuner/loop/progress_bound.hpp"
#include "tuner/loop/time_limits.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Includes the `silent_s` seconds without a step, at the end of the trial, in its slowest possible
/// rate. A long run may not keep the rate from before the silence.
void count_silent_end(double silent_s, Measurement& measurement) {
  if (!(silent_s > 0.0) || !(measurement.window_samples > 0.0)) return;
  measurement.slowest_seconds_per_sample =
      std::max(measurement.slowest_seconds_per_sample,
               (measurement.window_s + silent_s) / measurement.window_samples);
  measurement.silent_s = silent_s;
  add_clause(
      measurement.remark,
      fmt::format(
          "no step was reported in its last {}: it hangs, or does work that it does not report",
          format_duration(silent_s)));
}

/// Returns the samples that this run processed. If the program continues from a checkpoint, its
/// counter also has the samples before the checkpoint.
double own_samples(const Measurement& measurement) {
  if (measurement.whole_run) return measurement.total_samples;
  const double steps_s = measurement.warmup_s - measurement.warmup_excess_s + measurement.window_s;
  const double seen = steps_s / measurement.seconds_per_sample;
  return seen > 0.0 ? std::min(seen, measurement.total_samples) : measurement.total_samples;
}

/// True if the program probably did all its work: it came at least half as far as the baseline. A
/// program that gives up after a few steps may also exit with status 0.
bool is_as_long(const Measurement& whole_run, const Measurement* baseline) {
  if (baseline == nullptr) return true;
  const auto steps = [](const Measurement& measurement) {
    return own_samples(measurement) * measurement.window_steps / measurement.window_samples;
  };
  return own_samples(whole_run) >= k_least_of_expected * own_samples(*baseline) ||
         steps(whole_run) >= k_least_of_expected * steps(*baseline);
}

Measurement measurement_at_limit(const TrialView& trial, const TrialEndCause& cause) {
  Measurement measurement =
      unsteady_at_limit(trial.measurement(), trial.reports.progress(), time_end_s(cause, trial));
  add_clause(measurement.remark, cause.reason);
  count_silent_end(silent_end_s(cause, trial), measurement);
  if (cause.at_s >= before_wall_s(trial) && measurement.remark.empty()) {
    measurement.remark =
        fmt::format("cut short by \"limits.wall\" ({}) after {:.0f} steps",
                    format_duration(trial.study.limits.wall_s), measurement.window_steps);
  }
  return measurement;
}

}  // namespace

Measurement final_measurement(const TrialView& trial, const TrialEndCause& cause,
                              const Outcome& outcome) {
  const bool by_itself = cause.request == EndRequest::none &&
                         outcome.kind == OutcomeKind::completed && !trial.shares_program();
  if (by_itself) {
    Measurement whole_run = trial.reports.whole_run(trial.reports.started_s() + outcome.duration_s);
    if (is_as_long(whole_run, trial.baseline_measurement())) return whole_run;
  }
  if (is_time_limit(cause.request)) return measurement_at_limit(trial, cause);
  return cause.measured.value_or(trial.measurement());
}

}  // namespace steptune
