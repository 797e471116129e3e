// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// True if the values of a confirming run count: it completed, or it is a run of the baseline that
/// violates a guard. The baseline may violate guards, because the user runs it today.
[[nodiscard]] bool is_usable(const TrialRecord& run);

/// True if the run's values count and it has a value of each objective of the study.
[[nodiscard]] bool is_measured(const StudySpec& study, const TrialRecord& run);

/// True for a confirming run of the baseline that ended without values that count.
[[nodiscard]] bool is_failed_baseline(const TrialRecord& trial);

/// True if so many confirming runs of the baseline failed that nothing more is confirmed. One
/// failure may be an accident.
[[nodiscard]] bool baseline_has_failed(std::span<const TrialRecord> trials);

/// True for a confirming run of a finalist that failed or was infeasible. Its configuration cannot
/// win.
[[nodiscard]] bool refutes(const TrialRecord& trial);

/// Returns the confirming runs that count, in order. Failed runs of the baseline do not count. If
/// several runs have the same configuration and round, the least disturbed run counts. If several
/// were disturbed equally, the first counts. The pointers point into `trials`.
[[nodiscard]] std::vector<const TrialRecord*> counted_runs(const std::vector<TrialRecord>& trials);

}  // namespace steptune
