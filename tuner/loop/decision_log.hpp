// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"

namespace steptune {

// The diagnostic log (common/log.hpp): one line for each decision of the loop, `event key=value
// ...` with the numbers behind it. Events and keys are listed in docs/cli.md, "Log events".

/// `suggest`: what the searcher proposes for trial `number`, and by how much it expects the first
/// objective to be better than the best so far (a share; left out where it has no model).
void log_suggested(std::int64_t number, const Suggestion& suggestion);

/// `launch`: which trial is started next, and why.
void log_launch(const TrialRecord& trial);

/// `continue` (level debug) or `stop`: what the scheduler decided, and on what measurements.
void log_scheduled(const TrialEstimate& estimate, const StopDecision& decision);

/// `ended`: what became of a trial.
void log_ended(const TrialRecord& trial);

/// What was decided about the study (`study_decisions.hpp`): `kind trial=... key=value ... (text)`.
void log_decision(const StudyDecision& decision);

/// `spent` (level debug): what the budget is compared with before each trial of the search.
void log_spending(const Spending& spending);

/// `note`: what a runner tells, of its machines above all.
void log_note(std::string_view text);

}  // namespace steptune
