// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/next_trial.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tuner/loop/budget.hpp"
#include "tuner/loop/disturbed_trial.hpp"
#include "tuner/loop/sentinel.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/setting_changes.hpp"

namespace steptune {
namespace {

ConfirmLimits confirm_limits(const StudyRun& run) {
  const Spending so_far = run.spending();
  const std::size_t runs = run.confirmation().runs_in_next_round();
  ConfirmLimits limits{can_pay_confirming_round(run.parts.study, so_far, runs), k_most_finalists};
  while (limits.together > 1 && !can_pay_finalists(run.parts.study, so_far, limits.together))
    --limits.together;
  return limits;
}

}  // namespace

std::optional<TrialRecord> next_sentinel(const StudyRun& run, bool search_is_over) {
  // Some studies have no sentinels. If machines come and go, the first run of the baseline had
  // another machine. If trials run side by side, a sentinel would be slower than the first run,
  // which ran alone. In a running program, each trial takes turns with the baseline, so no sentinel
  // is needed.
  if (!run.runs_one_at_a_time() || run.parts.study.trials == TrialsIn::attached ||
      !sentinel_is_due(run.parts.study, run.standing(), search_is_over)) {
    return std::nullopt;
  }
  if (search_is_over) {
    Spending with_it = run.spending();
    with_it.elapsed_s += expected_sentinel_s(run.parts.study, run.standing());
    // The confirmation of one finalist is worth more than a better estimate of the drift.
    if (!can_pay_finalists(run.parts.study, with_it, 1)) return std::nullopt;
  }
  return run.new_trial(TrialPurpose::sentinel, "sentinel", run.parts.study.baseline);
}

std::optional<TrialRecord> next_hint(const StudyRun& run) {
  for (const Configuration& hint : run.parts.study.search.hints) {
    const bool tried = std::ranges::any_of(run.standing().trials(), [&](const TrialRecord& trial) {
      return trial.configuration == hint &&
             !may_start_longer(run.parts.study, trial, run.standing().baseline());
    });
    if (!tried) return run.new_trial(TrialPurpose::hint, "try", hint);
  }
  return std::nullopt;
}

std::optional<TrialRecord> next_disturbed(const StudyRun& run) {
  // Trials that run side by side always disturb each other. Trials in turns are corrected for other
  // programs.
  if (!run.runs_one_at_a_time() || was_in_search_round(run.standing().trials())) {
    return std::nullopt;
  }
  const TrialRecord* disturbed = trial_to_measure_again(run.parts.study, run.standing());
  if (disturbed == nullptr) return std::nullopt;
  return run.new_trial(TrialPurpose::search, fmt::format("trial {} again", disturbed->number),
                       disturbed->configuration);
}

std::optional<TrialRecord> next_reduction(const StudyRun& run) {
  const bool is_open = std::ranges::any_of(run.standing().trials(), [](const TrialRecord& trial) {
    return trial.origin == k_fewest_changes && !is_final(trial.status);
  });
  // After a confirmation, the search looks for something faster, not for fewer changes.
  if (is_open || run.confirmed) return std::nullopt;
  auto reduced = fewer_changes(run.parts.study, run.standing());
  if (!reduced) return std::nullopt;
  return run.new_trial(TrialPurpose::search, k_fewest_changes, *std::move(reduced));
}

std::optional<TrialRecord> next_confirmation(const StudyRun& run) {
  const auto step = run.confirmation().next_step(confirm_limits(run));
  if (!step) return std::nullopt;
  TrialRecord trial = run.new_trial(step->purpose, "confirm", step->configuration);
  trial.confirm_pair = step->round;
  return trial;
}

}  // namespace steptune
