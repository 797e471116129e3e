// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/machine_drift.hpp"

namespace steptune {

/// Warns the user about trials that have ended. Gives some warnings only once.
class TrialWarnings {
 public:
  /// Both arguments outlive the object.
  TrialWarnings(const StudySpec& study, LoopListener& listener)
      : study_(&study), listener_(&listener) {}

  /// Warns of a trial that was completed without a steady state.
  void of_ended(const TrialRecord& trial);
  /// Warns if the machine's speed has changed significantly.
  void of_drift(const MachineDrift& drift) const;
  /// Warns of a configuration that failed when it was confirmed.
  void of_refuted(const TrialRecord& trial) const;
  /// Warns of guards that the measured baseline violates, or that cannot be compared with it. Also
  /// warns of metrics of the baseline that are not finite numbers.
  void of_baseline(const TrialRecord& baseline) const;

 private:
  const StudySpec* study_;
  LoopListener* listener_;
  bool warned_of_whole_runs_ = false;
};

}  // namespace steptune
