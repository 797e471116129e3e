// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/budget.hpp"

namespace steptune {

// The diagnostic log (common/log.hpp) has one line for each decision of the loop: `event key=value
// ...`, with the numbers behind the decision. docs/internals/cli.md, "Log events", lists events and
// keys.

/// Logs `suggest`: the searcher's proposal for trial `number`. If the searcher has a model, adds
/// the expected improvement, as a share of the first objective's best value so far.
void log_suggested(std::int64_t number, const Suggestion& suggestion);

/// Logs `launch`: the trial that starts next, and its purpose.
void log_launch(const TrialRecord& trial);

/// Logs `continue` (level debug) or `stop`: the scheduler's decision and its measurements.
void log_scheduled(const TrialEstimate& estimate, const StopDecision& decision);

/// Logs `ended`: status, values and cost of a trial.
void log_ended(const TrialRecord& trial);

/// Logs a decision about the study (`study_decisions.hpp`): `kind trial=... key=value ... (text)`.
void log_decision(const StudyDecision& decision);

/// Logs `spent` (level debug): the spending that is compared with the budget before each search
/// trial.
void log_spending(const Spending& spending);

/// Logs `note`: a notice of the runner, mostly about its machines.
void log_note(std::string_view text);

}  // namespace steptune
