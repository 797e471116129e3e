// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/spending.hpp"

#include <algorithm>
#include <span>

#include "tuner/loop/budget.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/trial_price.hpp"

namespace steptune {
namespace {

/// Returns the seconds to the first step of a new trial, as measured for the trial `like`; 0 if
/// trials share a running program.
double paid_startup_s(const StudySpec& study, const TrialRecord* like) {
  const bool starts = study.trials != TrialsIn::attached;
  return starts && like != nullptr && like->measurement ? like->measurement->startup_s : 0.0;
}

/// Returns the seconds that a fresh run of a trial's configuration is expected to take.
double expected_fresh_run_s(const StudySpec& study, const TrialRecord& trial) {
  if (!trial.measurement) return latest_attempt_s(trial);
  const Measurement& measured = *trial.measurement;
  if (measured.whole_run) return latest_attempt_s(trial);
  const double window_s = window_for_precision_s(study.measure, trial);
  const double once_s = price_of_repeat(study.measure, trial).seconds;
  const double longer_s = once_s + (k_longer_window - 1.0) * window_s;
  if (!study.budget.time_s) return longer_s;
  // If noise keeps the run from the requested precision, the run takes its whole share of time.
  const double startup_s = paid_startup_s(study, &trial);
  const double share_s =
      startup_s + share_of_trial_s(study, TrialPurpose::confirm_incumbent, startup_s);
  return std::max(once_s, std::min(share_s, longer_s + window_s));
}

/// Returns the seconds that a fresh run takes at least if little time is left. A whole run without
/// a steady state cannot be shortened.
double least_fresh_run_s(const StudySpec& study, const TrialRecord& trial, double startup_s) {
  const double run_s = expected_fresh_run_s(study, trial);
  const double its_startup_s = std::max(startup_s, paid_startup_s(study, &trial));
  return is_steady(trial) || !is_whole_run(trial)
             ? std::min(run_s, its_startup_s + least_confirming_run_s(study))
             : run_s;
}

/// True if a confirmation may prove this trial to be faster than the baseline.
bool is_contender(const StudySpec& study, const TrialRecord& trial, const TrialRecord* baseline,
                  const TrialRecord* incumbent) {
  if (!is_ranked(trial.status) || baseline == nullptr) return false;
  if (trial.configuration == baseline->configuration) return false;
  // In a running program, confirm only the best trial. Another trial and its confirmation take
  // little time, which is a better use than confirming a slower trial.
  if (study.trials != TrialsIn::attached) return true;
  return incumbent != nullptr && trial.configuration == incumbent->configuration;
}

/// Estimates time and money of a confirming pair before there are confirming runs.
void expect_pair(const StudySpec& study, const TrialRecord* baseline, const TrialRecord* incumbent,
                 Spending& spending) {
  const double startup_s = paid_startup_s(study, baseline);
  for (const TrialRecord* side : {baseline, incumbent == nullptr ? baseline : incumbent}) {
    if (side == nullptr) continue;
    const double run_s = expected_fresh_run_s(study, *side);
    spending.confirm_pair_s += run_s;
    spending.ends_unsteady |= is_whole_run(*side) && !is_steady(*side);
    spending.least_confirm_pair_s += least_fresh_run_s(study, *side, startup_s);
    const double side_s = latest_attempt_s(*side);
    if (side_s > 0.0) spending.confirm_pair_usd += latest_attempt_usd(*side) * run_s / side_s;
  }
}

/// Sums over confirming runs.
struct FreshRuns {
  double count = 0.0;
  double seconds = 0.0;
  double usd = 0.0;

  void add(const TrialRecord& trial) {
    count += 1.0;
    seconds += latest_attempt_s(trial);
    usd += latest_attempt_usd(trial);
  }
};

/// Returns the spending on `trials`: all trials in `standing`, or a first part of them.
Spending spending_on(std::span<const TrialRecord> trials, const StudySpec& study,
                     const Standing& standing) {
  Spending spending;
  spending.usd = standing.spent_usd();
  const TrialRecord* baseline = standing.baseline();
  const TrialRecord* incumbent = standing.incumbent();
  bool any_measured = false;
  FreshRuns runs;
  FreshRuns later;  ///< interleaved runs after the first round
  for (const TrialRecord& trial : trials) {
    const bool confirms = is_confirmation(trial.purpose);
    if (is_compared(trial.purpose)) ++spending.search_trials;
    if (!was_measured(trial.status) || trial.purpose == TrialPurpose::sentinel) continue;
    if (confirms) {
      runs.add(trial);
      // In the first round, interleaved runs take longer than in the following rounds.
      if (trial.confirm_pair > 1 && trial.placement.contains(k_interleaved_fact)) {
        later.add(trial);
      }
      continue;
    }
    const auto lesser = [&](double least, double next) {
      return any_measured ? std::min(least, next) : next;
    };
    spending.least_trial_s = lesser(spending.least_trial_s, latest_attempt_s(trial));
    spending.least_trial_usd = lesser(spending.least_trial_usd, latest_attempt_usd(trial));
    any_measured = true;
    spending.has_contender |= is_contender(study, trial, baseline, incumbent);
  }
  if (any_measured && !spending.has_contender) {
    const double startup_s = paid_startup_s(study, baseline);
    const double share_s = share_of_trial_s(study, TrialPurpose::search, startup_s);
    spending.least_trial_s = std::min(spending.least_trial_s, startup_s + share_s);
  }
  expect_pair(study, baseline, incumbent, spending);
  spending.confirming_runs = static_cast<int>(runs.count);
  const FreshRuns& alike = later.count > 1.0 ? later : runs;
  if (alike.count > 1.0) {
    spending.confirm_pair_s = 2.0 * alike.seconds / alike.count;
    spending.confirm_pair_usd = 2.0 * alike.usd / alike.count;
  }
  // A fresh run has the whole machine, but each trial was billed only its share of the machine.
  const RunnerTraits& traits = study.runner->traits();
  if (traits.uses_this_machine) spending.confirm_pair_usd *= traits.parallel;
  return spending;
}

}  // namespace

double least_confirming_run_s(const StudySpec& study) {
  const bool starts = study.trials != TrialsIn::attached;
  return (starts ? 2.0 : 1.25) * k_longer_window * study.measure.min_window_s;
}

Spending spending_of(const StudySpec& study, const Standing& standing) {
  return spending_on(standing.trials(), study, standing);
}

Spending spending_before_confirming(const StudySpec& study, const Standing& standing) {
  std::span<const TrialRecord> trials = standing.trials();
  while (!trials.empty() && !is_compared(trials.back().purpose))
    trials = trials.first(trials.size() - 1);
  return spending_on(trials, study, standing);
}

}  // namespace steptune
