// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/decision_log.hpp"

#include <fmt/ranges.h>

#include "common/log.hpp"

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

void log_drift(const TrialRecord& trial, const MachineDrift& drift) {
  if (!logs(LogLevel::info)) return;
  const MachineLevel level = drift.at(trial.number);
  log_line(LogLevel::info, "drift trial={} runs={} significant={} log_ratio={:.4g} error={:.3g}",
           trial.number, drift.runs(), drift.is_significant(), level.log_ratio,
           level.standard_error);
}

void log_judged(const Finalist& finalist) {
  if (!logs(LogLevel::info)) return;
  const SpeedUp& speed_up = finalist.speed_up;
  log_line(LogLevel::info,
           "judge verdict={} settled={} pairs={} ratio={:.4g} low={:.4g} high={:.4g} "
           "low_if_buffered={:.4g} ({})",
           to_text(finalist.verdict), finalist.settled, speed_up.pairs, speed_up.ratio,
           speed_up.low, speed_up.high, speed_up.low_if_buffered, finalist.configuration.text());
}

void log_spending(const Spending& spending) {
  log_line(LogLevel::debug,
           "spent trials={} elapsed_s={:.3f} usd={:.6g} least_trial_s={:.3f} "
           "least_trial_usd={:.6g} confirm_pair_s={:.3f} confirm_pair_usd={:.6g}",
           spending.search_trials, spending.elapsed_s, spending.usd, spending.least_trial_s,
           spending.least_trial_usd, spending.confirm_pair_s, spending.confirm_pair_usd);
}

void log_end(std::string_view end, std::string_view reason) {
  log_line(LogLevel::info, "end of={} reason={}", end, reason);
}

void log_note(std::string_view text) {
  log_line(LogLevel::info, "note {}", text);
}

}  // namespace steptune
