// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/machine_drift.hpp"

namespace steptune {

/// What the user is warned of as trials run and end. Says some of it once only.
class TrialWarnings {
 public:
  /// Both outlive the object.
  TrialWarnings(const StudySpec& study, LoopListener& listener)
      : study_(&study), listener_(&listener) {}

  /// Of one that was completed without a steady state.
  void of_ended(const TrialRecord& trial);
  /// Of a machine that is no longer as fast as it was; nothing where that is not significant.
  void of_drift(const MachineDrift& drift) const;
  /// Of a configuration that failed when it was confirmed.
  void of_refuted(const TrialRecord& trial) const;
  /// Of guards that the measured baseline violates, or that cannot be checked against it, and of
  /// its metrics that are no finite numbers.
  void of_baseline(const TrialRecord& baseline) const;

 private:
  const StudySpec* study_;
  LoopListener* listener_;
  bool told_of_whole_runs_ = false;
};

}  // namespace steptune
