// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/search_end.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/machine_drift.hpp"
#include "tuner/verdict/payback.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

// Decisions of the loop about a study as a whole, with the numbers behind them. `Recorder` logs and
// stores them. docs/internals/history.md lists kinds and numbers.

/// Returns a `guard` decision: the limits of a guard, once the baseline has been measured.
[[nodiscard]] StudyDecision guard_decision(const Guard& guard, const TrialRecord& baseline);

/// Returns a `drift` decision: the estimated speed of the machine after a sentinel.
[[nodiscard]] StudyDecision drift_decision(const TrialRecord& sentinel, const MachineDrift& drift);

/// Returns a `payback` decision: the searcher's suggestion is expected to cost more than it saves.
/// `trial`: the number that the suggestion would have had.
[[nodiscard]] StudyDecision payback_decision(std::int64_t trial, const PaybackRule& rule);

/// Kinds of decisions. The history stores the names, so they must not change.
inline constexpr const char* k_end_decision = "end";
inline constexpr const char* k_search_on_decision = "search_on";
inline constexpr const char* k_recommend_decision = "recommend";
/// The study continues after its budget, search, `try`, measuring or planned run was changed
/// (`run_loop`).
inline constexpr const char* k_changed_decision = "changed";
[[nodiscard]] bool is_of_change(const StudyDecision& decision);

/// Returns an `end` decision: why the search ended, with the time and money spent.
[[nodiscard]] StudyDecision end_decision(const SearchEnd& end, const Spending& spending);
/// Returns a `search_on` decision: the confirming runs left time, so the search continues.
[[nodiscard]] StudyDecision search_on_decision(const Spending& spending);

/// Returns a `finalist` decision: fresh runs will confirm this configuration. `run`: the first
/// fresh run.
[[nodiscard]] StudyDecision finalist_decision(const TrialRecord& run, const Standing& standing);
/// Returns a `judge` decision: the verdict on a finalist after its fresh run `run`.
[[nodiscard]] StudyDecision judged_decision(const TrialRecord& run, const Finalist& finalist);
/// Returns an `exclude` decision: a fresh run failed, so its configuration cannot win.
[[nodiscard]] StudyDecision excluded_decision(const TrialRecord& run);

/// Returns a `recommend` decision: the recommendation at the end.
[[nodiscard]] StudyDecision recommended_decision(const LoopResult& result);

}  // namespace steptune
