// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// One fresh run of the incumbent and one of the baseline, next to each other in time.
struct ConfirmPair {
  const TrialRecord* incumbent = nullptr;
  const TrialRecord* baseline = nullptr;
};

/// The pairs that confirm `configuration`: both runs completed, in order. Pairs of other incumbents
/// (before a larger budget found a better one) are left out.
[[nodiscard]] std::vector<ConfirmPair> confirmed_pairs(const StudySpec& study,
                                                       const std::vector<TrialRecord>& trials,
                                                       const Configuration& configuration);

/// What is to be run next to confirm `configuration`.
struct ConfirmStep {
  TrialPurpose purpose = TrialPurpose::confirm_incumbent;
  int pair = 1;
};
/// Nothing when `pairs` pairs have been begun and ended, or a run of either has failed. Incumbent
/// and baseline take turns, A B A B: what drifts (heat, neighbours) meets both.
[[nodiscard]] std::optional<ConfirmStep> next_confirm_step(const StudySpec& study,
                                                           const std::vector<TrialRecord>& trials,
                                                           const Configuration& configuration,
                                                           int pairs);

/// True for a fresh run of an incumbent that failed or was infeasible: its configuration is no
/// winner.
[[nodiscard]] bool refutes(const TrialRecord& trial);

/// The speed-up that pairs show: geometric mean of the ratios, with Student's t interval of their
/// logarithms, which fresh processes and interleaving make honest. A single pair has no spread, and
/// its interval comes from those within the two runs. No pairs: ratio 1 with `pairs` 0.
[[nodiscard]] SpeedUp speed_up_of_pairs(const StudySpec& study,
                                        const std::vector<ConfirmPair>& pairs);

/// The same from one run of each, as the search measured them; `pairs` is 0.
[[nodiscard]] SpeedUp speed_up_of_trials(const StudySpec& study, const TrialRecord& incumbent,
                                         const TrialRecord& baseline);

}  // namespace steptune
