// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_runner/live/attached_runner.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/trial_reports.hpp"
#include "tuner/loop/trial_targets.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Factor for a trial that takes turns with the baseline in a shared program. The baseline takes
/// half of the time, so the trial may take twice as long. The trial's window may be half as long,
/// because both sides are measured at the same time.
inline constexpr double k_with_turns = 2.0;

/// State of a running trial, for the rules that judge it.
struct TrialView {
  const StudySpec& study;
  const TrialRecord& record;
  const TrialTargets& targets;
  const TrialReports& reports;
  double usd_per_hour = 0.0;  ///< expected price of the planned run
  /// Null until the baseline has been measured. Time limits do not need it.
  const TrialRecord* baseline = nullptr;

  [[nodiscard]] const Measurement& measurement() const { return reports.measurement(); }
  /// Returns the baseline's measurement; null if there is none.
  [[nodiscard]] const Measurement* baseline_measurement() const {
    return baseline != nullptr && baseline->measurement ? &*baseline->measurement : nullptr;
  }
  /// True if the trial is measured in a program shared with other trials.
  [[nodiscard]] bool shares_program() const { return record.placement.contains(k_shared_program); }
  /// True if the trial is also measured in turns with the baseline.
  [[nodiscard]] bool takes_turns() const {
    return shares_program() && follows_first_trial(record.purpose);
  }
};

}  // namespace steptune
