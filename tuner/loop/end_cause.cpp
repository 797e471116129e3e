// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/end_cause.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/clauses.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "tuner/loop/budget.hpp"

namespace steptune {
namespace {

std::string no_start_text(double waited_s, const StudySpec& study, const TrialTargets& targets) {
  const BudgetSpec& budget = study.budget;
  const std::string may_take =
      fmt::format("longer than a start-up may take with a {}",
                  budget.time_of_usd ? "budget of " + format_usd(*budget.time_of_usd)
                                     : "tuning time of " + format_duration(*budget.time_s));
  const std::string waited = format_duration(waited_s);
  // The program may hang or start slowly, so the text names both explanations.
  if (targets.longest_trial_s > 0.0 && waited_s > targets.longest_trial_s) {
    return fmt::format(
        "no step reported within {}, longer than any other trial took as a whole: it hangs, or "
        "starts slowly ({})",
        waited, may_take);
  }
  return fmt::format("no step reported within {}: {}", waited, may_take);
}

/// Returns the variables that the study and the knobs set for a configuration.
std::map<std::string, std::string> variables_of(const StudySpec& study,
                                                const Configuration& configuration) {
  RenderedCommand command = render_command(study, configuration);
  if (!command.hook) return command.environment;
  set_hook_variables(*command.hook, command.environment);
  command.environment.erase(k_python_hook_variable);
  return command.environment;
}

/// Returns the cause as text for people: its own reason, or the time limit in words.
std::string reason_of(const TrialEndCause& cause, const TrialView& trial) {
  if (!cause.reason.empty()) return cause.reason;
  switch (cause.request) {
    case EndRequest::slow_start:
      return no_start_text(cause.waited_s, trial.study, trial.targets);
    case EndRequest::silent:
      return fmt::format(
          "hung: no step reported for {}, longer than any other trial took as a whole",
          format_duration(cause.waited_s));
    case EndRequest::budget:
      return time_over_text(trial.study.budget);
    default:
      return "";
  }
}

}  // namespace

std::string variables_unlike_baseline(const StudySpec& study, const Configuration& configuration) {
  const auto usual = variables_of(study, study.baseline);
  std::vector<std::string> unlike;
  for (const auto& [name, text] : variables_of(study, configuration)) {
    const auto same = usual.find(name);
    if (same == usual.end() || same->second != text) unlike.push_back(name + "=" + text);
  }
  if (unlike.empty()) return "";
  return fmt::format(
      "it set {}, and the baseline did not: if that hangs again, remove the value "
      "from the study file",
      fmt::join(unlike, " "));
}

double time_end_s(const TrialEndCause& cause, const TrialView& trial) {
  return trial.takes_turns() ? trial.reports.reported_s() : cause.at_s;
}

double silent_end_s(const TrialEndCause& cause, const TrialView& trial) {
  if (!is_time_limit(cause.request) || trial.reports.in_phase() || trial.shares_program()) {
    return 0.0;
  }
  const double silent_s = cause.at_s - trial.reports.progressed_s();
  // If the silence is longer than all the time before it, the program may hang.
  const double before_s = trial.reports.progressed_s() - trial.reports.started_s();
  return silent_s > before_s ? silent_s : 0.0;
}

TrialEndCause settled_cause(TrialEndCause cause, const Outcome& outcome, const TrialView& trial) {
  // Two trials may need the same port, lock file or memory. A trial may also wait for another trial
  // that is stopped. Alone, the trial may succeed.
  const bool in_turns = trial.targets.interleaved_round > 0;
  const bool failed = outcome.kind != OutcomeKind::completed &&
                      outcome.kind != OutcomeKind::stopped && outcome.kind != OutcomeKind::lost;
  if (in_turns && failed && cause.request == EndRequest::none) {
    cause = {EndRequest::interleaved, "it failed while other trials ran"};
  } else if (in_turns && cause.request == EndRequest::slow_start) {
    cause = {EndRequest::interleaved,
             fmt::format("no step reported within {} while other trials ran",
                         format_duration(cause.waited_s))};
  }
  if (outcome.had_enough && cause.request == EndRequest::none) {
    cause =
        TrialEndCause{.request = EndRequest::job,
                      .reason = outcome.was_slow ? k_slow_in_job : "its time in the job was over",
                      .at_s = trial.reports.started_s() + outcome.duration_s};
  }
  const double silent_s = silent_end_s(cause, trial);
  // The program continued to report, but the tuner rejected these reports. So its earlier rate does
  // not count.
  if (silent_s > 0.0 && !outcome.detail.empty()) {
    cause = {EndRequest::silent, fmt::format("no step was recognised for {}: {}",
                                             format_duration(silent_s), outcome.detail)};
  }
  // Lines that were not understood are no sign that the program hangs.
  const bool may_hang = cause.reason.empty() && (cause.request == EndRequest::silent ||
                                                 cause.request == EndRequest::slow_start);
  cause.reason = reason_of(cause, trial);
  if (may_hang) {
    add_clause(cause.reason, variables_unlike_baseline(trial.study, trial.record.configuration));
  }
  return cause;
}

}  // namespace steptune
