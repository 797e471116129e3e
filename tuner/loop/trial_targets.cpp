// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_targets.hpp"

#include <algorithm>
#include <cmath>

#include "common/interval.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/measure/ratio_in_turns.hpp"
#include "trial_runner/turn_rules.hpp"
#include "tuner/loop/buffer_bound.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/sentinel.hpp"
#include "tuner/loop/slow_limit.hpp"
#include "tuner/loop/time_to_measure.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/payback.hpp"

namespace steptune {
namespace {

/// Multiples of the least steps and the least time, for the longer window of the baseline. A stall
/// in 1 of 20 steps is missed by 21 % of 30-step windows but only 0.6 % of 100-step windows.
constexpr double k_longer_window_steps = 7.0;
constexpr double k_longer_window_time = 10.0;

/// Longest start-up of a fresh run, as a multiple of earlier start-ups of its configuration and of
/// the baseline. If the program ends by itself, also the run's longest duration, as a multiple of
/// the baseline's duration.
constexpr double k_longer_fresh_run = 1.5;

/// Time until the first report that a fresh run in turns has at least. A slower run may wait for a
/// stopped run, such as at a common rendezvous.
constexpr double k_least_start_in_turns_s = 10.0;

/// Number of periods of a phase that a window must cover to show the phase's share of the time.
constexpr double k_periods_to_show = 3.0;

/// Returns the mean seconds per sample over all launches of the baseline; nullopt before the first.
std::optional<double> mean_baseline_rate(const Standing& standing) {
  double sum_s = 0.0;
  double count = 0.0;
  for (const TrialRecord& trial : standing.trials()) {
    const bool of_baseline =
        trial.purpose == TrialPurpose::baseline || trial.purpose == TrialPurpose::confirm_baseline;
    const bool measured = of_baseline && is_final(trial.status) && trial.measurement &&
                          trial.measurement->seconds_per_sample > 0.0;
    if (!measured) continue;
    sum_s += trial.measurement->seconds_per_sample;
    count += 1.0;
  }
  return count > 0.0 ? std::optional(sum_s / count) : std::nullopt;
}

/// Returns the expected seconds to the first step, from the baseline. For the run of a finalist,
/// also uses search trials of its configuration. Returns 0 before the baseline is measured.
double expected_startup_s(const Standing& standing, const TrialRecord& trial) {
  const TrialRecord* baseline = standing.baseline();
  if (baseline == nullptr || !baseline->measurement) return 0.0;
  double startup_s = baseline->measurement->startup_s;
  if (trial.purpose != TrialPurpose::confirm_incumbent) return startup_s;
  for (const TrialRecord& other : standing.trials()) {
    const bool same = is_compared(other.purpose) && is_ranked(other.status) && other.measurement &&
                      other.configuration == trial.configuration;
    if (same) startup_s = std::max(startup_s, other.measurement->startup_s);
  }
  return startup_s;
}

/// True if every guard judged a search trial with this configuration, and none was violated.
bool has_kept_guards(const StudySpec& study, const Standing& standing,
                     const Configuration& configuration) {
  return std::ranges::any_of(standing.trials(), [&](const TrialRecord& trial) {
    return trial.status == TrialStatus::completed && is_compared(trial.purpose) &&
           trial.configuration == configuration && was_judged(study.guards, trial);
  });
}

/// Returns the seconds after which a trial had certainly reported a step. If a program reports
/// seldom, its first report comes long after its start-up. If all output came at the end, the
/// window is the whole run.
double reported_by_s(const Measurement& seen) {
  return seen.startup_s > 0.0 ? seen.window_begin_s() : seen.window_end_s();
}

/// Returns the longest time until the first report of a fresh run in turns. It is a multiple of the
/// longest such time among earlier trials of its configuration and of the baseline. The runs of a
/// round start side by side and share CPUs, so they start more slowly.
double longest_start_in_turns_s(const Standing& standing, const Configuration& configuration) {
  double longest_s = 0.0;
  for (const TrialRecord& trial : standing.trials()) {
    // Skip confirming runs, because other runs may have started at the same time.
    const bool is_like = trial.purpose == TrialPurpose::baseline ||
                         (trial.configuration == configuration && !is_confirmation(trial.purpose));
    if (is_like && trial.measurement) {
      longest_s = std::max(longest_s, reported_by_s(*trial.measurement));
    }
  }
  const auto runs = static_cast<double>(k_most_finalists + 1);
  return std::max(k_least_start_in_turns_s, runs * longest_s);
}

double longest_trial_s(const Standing& standing) {
  double longest_s = 0.0;
  for (const TrialRecord& trial : standing.trials()) {
    if (is_ranked(trial.status)) longest_s = std::max(longest_s, latest_attempt_s(trial));
  }
  return longest_s;
}

/// Returns the window of an interleaved run after the first round, in seconds. A launch keeps its
/// speed until its end, so only more launches average out their differences. Let s be the start-up,
/// and B and W the variances between and within launches. For a given precision, the best window
/// takes total time in proportion to (sqrt(s B) + sqrt(W))^2 (two-stage sampling: W. G. Cochran,
/// Sampling Techniques, 3rd edition, Wiley 1977, section 10.6). A window as long as the start-up
/// takes 2 s B + 2 W, which is at most twice as much. All runs of a round use the baseline's
/// start-up, so that they end together.
double later_window_s(const MeasureSpec& measure, const Standing& standing) {
  const TrialRecord* baseline = standing.baseline();
  const bool is_known = baseline != nullptr && baseline->measurement;
  return std::max(measure.min_window_s, is_known ? baseline->measurement->startup_s : 0.0);
}

/// Returns the samples after which a run has the values of all guards over launches. Returns 0 for
/// later rounds, because the first launches show these values well enough.
double samples_for_guards(const StudySpec& study, int round) {
  constexpr int k_guarded_rounds = 3;
  double samples = 0.0;
  for (const Guard& guard : study.guards) {
    // The factor allows for a configuration that is slower than the baseline.
    if (guard.over_launches && round <= k_guarded_rounds)
      samples = std::max(samples, k_longer_window * guard.after_samples);
  }
  return samples;
}

/// True if a fresh run of the configuration was so long that a buffer explains little of its gain.
/// One such run suffices (`SpeedUp::low_if_buffered`).
bool was_bounded(const Standing& standing, const Configuration& configuration,
                 double baseline_seconds_per_sample, double precision) {
  return std::ranges::any_of(standing.trials(), [&](const TrialRecord& trial) {
    return trial.purpose == TrialPurpose::confirm_incumbent &&
           trial.status == TrialStatus::completed && trial.measurement &&
           trial.configuration == configuration &&
           !may_hide_gain(*trial.measurement, baseline_seconds_per_sample, precision);
  });
}

/// Returns the longest period, in samples, of all phases that trials have shown; 0 without any.
double longest_period(const Standing& standing) {
  double longest = 0.0;
  for (const TrialRecord& trial : standing.trials()) {
    if (!trial.measurement) continue;
    for (const auto& [name, phase] : trial.measurement->phases) {
      if (std::isfinite(phase.period_samples)) longest = std::max(longest, phase.period_samples);
    }
  }
  return longest;
}

/// Sets the time limits of a trial that confirms nothing.
void set_time(TrialTargets& targets, const TrialRecord& trial, double startup_s,
              const LaunchState& state) {
  const StudySpec& study = state.study;
  targets.share_of_budget_s = share_of_trial_s(study, trial.purpose, startup_s);
  targets.longest_start_s = longest_start_s(study, trial, state.standing.baseline());
  targets.longest_trial_s = longest_trial_s(state.standing);
  const double left_s = latest_end_s(study, state.spending, trial.purpose) - state.elapsed_s;
  targets.budget_end_s = state.now_s + left_s;
  if (study.measure.confirm_all && study.budget.trials) {
    // These trials only show that each configuration runs. The confirming rounds decide, and the
    // first round also shows phases and buffers.
    targets.share_of_budget_s =
        std::min(targets.share_of_budget_s, later_window_s(targets.measure, state.standing));
    // Each configuration must run, so configurations that have not run yet share the rest of the
    // time.
    const std::int64_t to_run = *study.budget.trials - state.spending.search_trials + 1;
    const auto share = static_cast<double>(std::max<std::int64_t>(1, to_run));
    targets.longest_start_s = std::max(targets.longest_start_s, left_s / share);
  }
}

/// Sets the time of a trial in a search round. All trials of the round get the same time, so that
/// they end together.
void set_search_round(TrialTargets& targets, const LaunchState& state) {
  targets.interleaved_round = state.search_round;
  const auto& baseline = state.standing.baseline()->measurement;
  // A turn has at least two reports.
  const double step_s =
      baseline && baseline->window_steps > 0.0 ? baseline->window_s / baseline->window_steps : 0.0;
  const double turn_s = std::max(k_turn_s, double(k_least_turn_reports) * step_s);
  targets.share_of_budget_s =
      std::min(targets.share_of_budget_s, double(k_turns_to_compare) * turn_s);
}

/// Sets the time limits of a confirming run.
void set_confirming_time(TrialTargets& targets, double startup_s, const LaunchState& state) {
  const StudySpec& study = state.study;
  Spending so_far = state.spending;
  so_far.elapsed_s -= state.ran_s;
  targets.share_of_budget_s =
      share_of_confirming_run_s(study, so_far, startup_s, state.runs_left_in_round);
  if (!study.budget.time_s) return;
  targets.least_s = k_longer_fresh_run * startup_s + targets.share_of_budget_s;
  const TrialRecord* baseline = state.standing.baseline();
  if (baseline != nullptr && is_whole_run(*baseline)) {
    targets.least_s = std::max(targets.least_s, k_longer_fresh_run * latest_attempt_s(*baseline));
  }
  // The other runs of the round follow this run, unless they are interleaved with it.
  const bool alone = state.one_at_a_time && targets.interleaved_round == 0;
  const double left_s = *study.budget.time_s - so_far.elapsed_s;
  targets.budget_end_s = state.now_s - state.ran_s +
                         left_s / (alone ? static_cast<double>(state.runs_left_in_round) : 1.0);
}

/// Sets the additional targets of a confirming run.
void set_confirming(TrialTargets& targets, const TrialRecord& trial, double startup_s,
                    const LaunchState& state) {
  const StudySpec& study = state.study;
  const Standing& standing = state.standing;
  MeasureSpec& measure = targets.measure;
  // Measure for longer, because a full buffer takes time to drain.
  measure.max_trial_s = std::max(
      measure.max_trial_s,
      std::min(k_longer_window * measure.max_trial_s, 0.9 * study.limits.wall_s - startup_s));
  measure.min_window_s = std::min(k_longer_window * measure.min_window_s, measure.max_trial_s);
  // Both sides must show the rare phases. Otherwise chance decides which side has them.
  targets.min_window_samples = k_periods_to_show * longest_period(standing);
  const auto baseline_rate = mean_baseline_rate(standing);
  if (targets.interleaved_round > 1) {
    // Later rounds may be shorter, because the first round was long enough to show unknown phases.
    const double samples =
        std::max(targets.min_window_samples, samples_for_guards(study, targets.interleaved_round));
    targets.share_of_budget_s = std::min(
        targets.share_of_budget_s,
        std::max(later_window_s(measure, standing), samples * baseline_rate.value_or(0.0)));
  }
  if (trial.purpose == TrialPurpose::confirm_incumbent) {
    const bool is_bounded = baseline_rate && was_bounded(standing, trial.configuration,
                                                         *baseline_rate, measure.target_half_width);
    if (!is_bounded) targets.baseline_seconds_per_sample = baseline_rate;
    targets.kept_guards = has_kept_guards(study, standing, trial.configuration);
  }
  targets.time_to_measure_s = time_to_measure_s(study, standing, trial.configuration, targets);
}

/// Sets the longer window of the baseline. A money budget limits it, too.
void set_longer_window(TrialTargets& targets, const TrialRecord& baseline, const StudySpec& study) {
  measure_longer(targets);
  if (!study.budget.cost_usd) return;
  const double usd_per_s = usage_usd(usd_per_hour_alone(study, baseline.configuration), 1.0);
  if (usd_per_s > 0.0) {
    targets.baseline_window_s = std::min(targets.baseline_window_s,
                                         k_share_for_baseline * *study.budget.cost_usd / usd_per_s);
  }
}

/// Sets the limits of a trial that competes with the incumbent, if there is one.
void set_to_beat(TrialTargets& targets, const TrialRecord& trial, const LaunchState& state) {
  const Standing& standing = state.standing;
  const TrialRecord* incumbent = standing.incumbent();
  if (incumbent == nullptr || standing.baseline() == nullptr) return;
  const MeasureSpec& measure = state.study.measure;
  // The configuration in use is measured even if it has become slow.
  const bool is_in_use = measure.in_use && measure.in_use->configuration == trial.configuration;
  if (measure.confirm_all || is_in_use) return;
  targets.to_beat = standing.value(*incumbent, 0) + k_z_95 * standing.error(*incumbent, 0);
  if (trial.purpose != TrialPurpose::baseline) {
    targets.slow_limit = slow_limit(state.study, standing, trial.configuration, targets);
  }
}

}  // namespace

void measure_longer(TrialTargets& targets) {
  targets.baseline_window_steps = k_longer_window_steps * targets.measure.min_window_steps;
  targets.baseline_window_s = std::min(k_longer_window_time * targets.measure.min_window_s,
                                       0.5 * targets.share_of_budget_s);
}

TrialTargets targets_of(const TrialRecord& trial, const LaunchState& state) {
  const StudySpec& study = state.study;
  const Standing& standing = state.standing;
  TrialTargets targets{study.measure};
  targets.usual_variance_s = usual_variance_s(standing.trials());
  targets.launches = standing.launches();
  targets.batch_applied =
      batch_applied(study, standing.trials(), standing.baseline(), targets.launches);
  const bool starts = study.trials != TrialsIn::attached;
  const double startup_s = starts ? expected_startup_s(standing, trial) : 0.0;
  if (is_confirmation(trial.purpose)) {
    // A repeated attempt is not interleaved, because the other runs of its round have ended.
    if (trial.attempt == 1 && state.interleaves) {
      targets.interleaved_round = trial.confirm_pair;
      targets.longest_start_s = longest_start_in_turns_s(standing, trial.configuration);
    }
    set_confirming_time(targets, startup_s, state);
    set_confirming(targets, trial, startup_s, state);
    return targets;
  }
  set_time(targets, trial, startup_s, state);
  // All other trials are compared with the baseline, so measure it for longer. If each
  // configuration is confirmed, only fresh runs are compared.
  if (trial.purpose == TrialPurpose::baseline && !study.measure.confirm_all) {
    set_longer_window(targets, trial, study);
  } else {
    targets.time_to_measure_s = time_to_measure_s(study, standing, trial.configuration, targets);
  }
  if (state.search_round > 0) {
    set_search_round(targets, state);
    return targets;
  }
  if (trial.purpose == TrialPurpose::sentinel) {
    targets.measure = sentinel_measure(targets.measure);
    targets.share_of_budget_s *= 0.5;
    return targets;
  }
  set_to_beat(targets, trial, state);
  return targets;
}

}  // namespace steptune
