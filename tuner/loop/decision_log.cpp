// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/decision_log.hpp"

#include <fmt/ranges.h>

#include "common/log.hpp"
#include "tuner/history/decision_text.hpp"

namespace steptune {
void log_suggested(std::int64_t number, const Suggestion& suggestion) {
  if (!logs(LogLevel::info)) return;
  log_line(LogLevel::info, "suggest trial={} origin={}{} ({})", number, suggestion.origin,
           suggestion.expected_improvement
               ? fmt::format(" expected_improvement={:.4g}", *suggestion.expected_improvement)
               : "",
           suggestion.configuration.text());
}

void log_launch(const TrialRecord& trial) {
  if (!logs(LogLevel::info)) return;
  log_line(LogLevel::info, "launch trial={} attempt={} purpose={}{} ({})", trial.number,
           trial.attempt, to_text(trial.purpose),
           trial.confirm_pair > 0 ? fmt::format(" pair={}", trial.confirm_pair) : "",
           trial.configuration.text());
}

void log_scheduled(const TrialEstimate& estimate, const StopDecision& decision) {
  log_line(decision.stop ? LogLevel::info : LogLevel::debug,
           "{} trial={} steps={:g} objectives={:.6g} half_widths={:.3g}{}{}",
           decision.stop ? "stop" : "continue", estimate.trial, estimate.resource,
           fmt::join(estimate.values, ","), fmt::join(estimate.half_widths, ","),
           decision.stop ? " reason=" : "", decision.reason);
}

void log_ended(const TrialRecord& trial) {
  if (!logs(LogLevel::info)) return;
  log_line(LogLevel::info,
           "ended trial={} attempt={} status={} objectives={:.6g} standard_errors={:.3g} "
           "spent_s={:.3f} spent_usd={:.6g}{}{}",
           trial.number, trial.attempt, to_text(trial.status), fmt::join(trial.objectives, ","),
           fmt::join(trial.standard_errors, ","), trial.spent_s, trial.spent_usd,
           trial.failure.empty() ? "" : " reason=", trial.failure);
}

void log_decision(const StudyDecision& decision) {
  if (!logs(LogLevel::info)) return;
  const std::string numbers = numbers_text(decision);
  log_line(LogLevel::info, "{}{}{}{}{}", decision.kind,
           decision.trial > 0 ? fmt::format(" trial={}", decision.trial) : "",
           numbers.empty() ? "" : " ", numbers,
           decision.text.empty() ? "" : fmt::format(" ({})", decision.text));
}

void log_spending(const Spending& spending) {
  log_line(LogLevel::debug,
           "spent trials={} elapsed_s={:.3f} usd={:.6g} least_trial_s={:.3f} "
           "least_trial_usd={:.6g} confirm_pair_s={:.3f} confirm_pair_usd={:.6g}",
           spending.search_trials, spending.elapsed_s, spending.usd, spending.least_trial_s,
           spending.least_trial_usd, spending.confirm_pair_s, spending.confirm_pair_usd);
}

void log_note(std::string_view text) {
  log_line(LogLevel::info, "note {}", text);
}

}  // namespace steptune
