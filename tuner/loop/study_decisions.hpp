// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/confirm.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/machine_drift.hpp"
#include "tuner/loop/payback.hpp"
#include "tuner/loop/standing.hpp"

namespace steptune {

// What the loop decides about a study as a whole, with the numbers behind it, as `Recorder` logs
// and keeps it. Kinds and numbers are listed in docs/history.md.

/// `guard`: what a guard asks for, now that the baseline has been measured.
[[nodiscard]] StudyDecision guard_decision(const Guard& guard, const TrialRecord& baseline);

/// `drift`: how fast the machine is believed to be, after a run of the baseline in the search.
[[nodiscard]] StudyDecision drift_decision(const TrialRecord& sentinel, const MachineDrift& drift);

/// `payback`: a suggestion that is expected to cost more than it saves. `trial`: that it was to be.
[[nodiscard]] StudyDecision payback_decision(std::int64_t trial, const PaybackRule& rule);

/// Persistent names.
inline constexpr const char* k_end_decision = "end";
inline constexpr const char* k_search_on_decision = "search_on";
inline constexpr const char* k_recommend_decision = "recommend";
/// The study goes on with another budget, search or measuring than before (`run_loop`).
inline constexpr const char* k_changed_decision = "changed";
[[nodiscard]] bool is_of_change(const StudyDecision& decision);

/// `end`: why nothing is searched any more, and how time and money are divided.
[[nodiscard]] StudyDecision end_decision(LoopEnd end, std::optional<BudgetLimit> spent,
                                         const std::string& reason, const Spending& spending);
/// `search_on`: fresh runs left time, so that the search goes on.
[[nodiscard]] StudyDecision search_on_decision(const Spending& spending);

/// `finalist`: which configuration fresh runs are to confirm. `run`: its first one.
[[nodiscard]] StudyDecision finalist_decision(const TrialRecord& run, const Standing& standing);
/// `judge`: what its fresh runs say after one of them, `run`.
[[nodiscard]] StudyDecision judged_decision(const TrialRecord& run, const Finalist& finalist);
/// `exclude`: a fresh run failed, so that its configuration is no winner.
[[nodiscard]] StudyDecision excluded_decision(const TrialRecord& run);

/// `recommend`: what the user is told in the end.
[[nodiscard]] StudyDecision recommended_decision(const LoopResult& result);

}  // namespace steptune
