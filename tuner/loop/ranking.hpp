// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// True for trials that may win: completed, finite objectives, no confirmation. Trials that the
/// scheduler stopped are ranked in leaderboards, but were stopped because others are better.
[[nodiscard]] bool may_win(const StudySpec& study, const TrialRecord& trial);

/// A value's 95 % interval, turned so that less is better.
struct ObjectiveInterval {
  double low = 0.0;
  double value = 0.0;
  double high = 0.0;
};
[[nodiscard]] ObjectiveInterval objective_interval(const StudySpec& study, const TrialRecord& trial,
                                                   std::size_t objective);
[[nodiscard]] bool overlap(const ObjectiveInterval& a, const ObjectiveInterval& b);

/// The incumbent among `candidates` by the first objective, or null if there is none. Among those
/// whose intervals overlap with the best one's and whose values are within the precision of
/// measuring of it, the cheaper one is preferred (where cost is the second objective and the
/// intervals tell the costs apart), then the smaller batch, then the better value: what cannot be
/// told apart by its speed is told apart by what it needs.
[[nodiscard]] const TrialRecord* choose_incumbent(
    const StudySpec& study, const std::vector<const TrialRecord*>& candidates);

/// Numbers of the candidates whose first objective cannot be told from the incumbent's, in order of
/// value; the incumbent itself and trials of its configuration are left out.
[[nodiscard]] std::vector<std::int64_t> tied_with(
    const StudySpec& study, const TrialRecord& incumbent,
    const std::vector<const TrialRecord*>& candidates);

/// Numbers of the candidates that no other one dominates (at least as good in every objective and
/// better in one), in order of the first objective; empty for a single objective.
[[nodiscard]] std::vector<std::int64_t> pareto_front(
    const StudySpec& study, const std::vector<const TrialRecord*>& candidates);

}  // namespace steptune
