// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/confirm.hpp"
#include "tuner/loop/machine_drift.hpp"

namespace steptune {

// The diagnostic log (common/log.hpp): one line for each decision of the loop, `event key=value
// ...` with the numbers behind it. Events and keys are listed in docs/cli.md.

/// `suggest`: what the searcher proposes for trial `number`, and by how much it expects the first
/// objective to be better than the best so far (a share; left out where it has no model).
void log_suggested(std::int64_t number, const Suggestion& suggestion);

/// `launch`: which trial is started next, and why.
void log_launch(const TrialRecord& trial);

/// `continue` (level debug) or `stop`: what the scheduler decided, and on what measurements.
void log_scheduled(const TrialEstimate& estimate, const StopDecision& decision);

/// `ended`: what became of a trial.
void log_ended(const TrialRecord& trial);

/// `drift`: how fast the machine is believed to be, after a run of the baseline in the search.
void log_drift(const TrialRecord& trial, const MachineDrift& drift);

/// `judge`: what the fresh runs of a finalist say, after each of its pairs.
void log_judged(const Finalist& finalist);

/// `spent` (level debug): what the budget is compared with before each trial of the search.
void log_spending(const Spending& spending);

/// `end`: why nothing is searched any more.
void log_end(std::string_view end, std::string_view reason);

/// `note`: what a runner tells, of its machines above all.
void log_note(std::string_view text);

}  // namespace steptune
