// SPDX-License-Identifier: Apache-2.0
// The part of `Tuning` that decides which trial is launched next, and if the budget allows one. It
// starts nothing.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/buffer_bound.hpp"
#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/disturbed_trial.hpp"
#include "tuner/loop/enough_time.hpp"
#include "tuner/loop/guards.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/loop/sentinel.hpp"
#include "tuner/loop/slow_limit.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/loop/trial_spec.hpp"
#include "tuner/loop/tuning.hpp"
#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/payback.hpp"
#include "tuner/verdict/setting_changes.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

/// Returns the mean seconds per sample over all launches of the baseline; nullopt before the first.
std::optional<double> mean_baseline_rate(const Standing& standing) {
  double sum_s = 0.0;
  double count = 0.0;
  for (const TrialRecord& trial : standing.trials()) {
    const bool its =
        trial.purpose == TrialPurpose::baseline || trial.purpose == TrialPurpose::confirm_baseline;
    const bool measured = its && is_final(trial.status) && trial.measurement &&
                          trial.measurement->seconds_per_sample > 0.0;
    if (!measured) continue;
    sum_s += trial.measurement->seconds_per_sample;
    count += 1.0;
  }
  return count > 0.0 ? std::optional(sum_s / count) : std::nullopt;
}

/// Longest start-up of a fresh run, as a multiple of that of its configuration and of the baseline.
/// Also its longest duration, as a multiple of the baseline's, if the program ends by itself.
constexpr double k_longer_fresh_run = 1.5;
/// Share of a money budget for the long look at the baseline.
constexpr double k_long_look_cost = 0.05;

/// Returns the expected seconds to the first step, from the baseline and, for the run of a
/// finalist, from search trials of its configuration; 0 before the baseline is measured.
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

/// True if a search trial with this configuration came as far as the guards ask and kept them.
bool has_kept_guards(const StudySpec& study, const Standing& standing,
                     const Configuration& configuration) {
  return std::ranges::any_of(standing.trials(), [&](const TrialRecord& trial) {
    return trial.status == TrialStatus::completed && is_compared(trial.purpose) &&
           trial.configuration == configuration && was_judged(study.guards, trial);
  });
}

double longest_trial_s(const Standing& standing) {
  double longest_s = 0.0;
  for (const TrialRecord& trial : standing.trials()) {
    if (is_ranked(trial.status)) longest_s = std::max(longest_s, latest_attempt_s(trial));
  }
  return longest_s;
}

/// Search trials that are kept for fewer changes: one without the changes that seem needless and,
/// if that was slower, one with half of them.
constexpr int k_kept_for_reduction = 2;

/// Returns the window of an interleaved run after the first round. Launches differ for their whole
/// life, so only more of them help. Let s be the start-up, and B and W the variances between and
/// within launches. For the same precision the best window takes time in proportion to
/// (sqrt(s B) + sqrt(W))^2 (two-stage sampling: W. G. Cochran, Sampling Techniques, 3rd edition,
/// Wiley 1977, section 10.6). A window as long as the start-up takes 2 s B + 2 W: at most twice
/// that, whatever B and W are. All runs of a round use the baseline's start-up, to end together.
double later_window_s(const MeasureSpec& measure, const Standing& standing) {
  const TrialRecord* baseline = standing.baseline();
  const bool is_known = baseline != nullptr && baseline->measurement;
  return std::max(measure.min_window_s, is_known ? baseline->measurement->startup_s : 0.0);
}

/// True if a fresh run of the configuration was long enough to bound what a buffer hides of its
/// gain. The best bound of all runs counts (`SpeedUp::low_if_buffered`).
bool was_bounded(const Standing& standing, const Configuration& configuration,
                 double baseline_seconds_per_sample, double precision) {
  return std::ranges::any_of(standing.trials(), [&](const TrialRecord& trial) {
    return trial.purpose == TrialPurpose::confirm_incumbent &&
           trial.status == TrialStatus::completed && trial.measurement &&
           trial.configuration == configuration &&
           !may_hide_gain(*trial.measurement, baseline_seconds_per_sample, precision);
  });
}

/// Periods of a phase that show its share of the time.
constexpr double k_periods_to_show = 3.0;

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

}  // namespace

Result<std::optional<TrialRecord>> Tuning::next_search_trial() {
  const StudySpec& study = parts_.study;
  if (end_ && is_to_be_continued(end_->end)) return std::nullopt;
  if (!can_pay_another()) {
    // The highest possible bills of running trials may forbid another trial for now. Their real
    // bills may be lower.
    if (running_.empty() && !end_)
      end_ = end_by({BudgetLimit::cost, format_usd(*study.budget.cost_usd)});
    return std::nullopt;
  }
  if (auto pending = next_pending(/*confirming=*/false)) return pending;
  if (end_) return std::nullopt;
  if (standing_.baseline() == nullptr) {
    if (baseline_is_open()) return std::nullopt;
    return new_trial(TrialPurpose::baseline, "baseline", study.baseline);
  }
  if (failures_in_a_row_ >= study.budget.consecutive_failures) {
    end_ = End{LoopEnd::too_many_failures, fmt::format("{} trials in a row failed, the last one {}",
                                                       failures_in_a_row_, last_failure_)};
    return std::nullopt;
  }
  const Spending so_far = spending();
  log_spending(so_far);
  if (auto spent = search_budget_spent(study, so_far, confirmed_)) {
    end_ = end_by(*std::move(spent));
    return std::nullopt;
  }
  if (auto sentinel = next_sentinel(/*search_is_over=*/false)) return sentinel;
  if (auto hint = next_hint()) return hint;
  if (auto again = next_disturbed()) return again;
  if (is_nothing_to_gain()) {
    end_ = End{LoopEnd::nothing_to_gain,
               fmt::format("no configuration can be {:g} % {} than the baseline",
                           100.0 * study.search.worth, study.objectives.front().comparative())};
    return std::nullopt;
  }
  if (ends_soon(so_far)) {
    if (auto reduced = next_reduction()) return reduced;
  }
  return next_suggestion();
}

bool Tuning::is_nothing_to_gain() const {
  // A running trial may still gain.
  return running_.empty() &&
         nothing_to_gain(parts_.study, standing_, confirmation(), expected_improvement_);
}

bool Tuning::ends_soon(Spending spending) const {
  const auto price = standing_.mean_price(parts_.study.measure);
  if (!price) return false;
  spending.search_trials += k_kept_for_reduction;
  spending.elapsed_s += k_kept_for_reduction * price->seconds;
  spending.usd += k_kept_for_reduction * price->usd;
  return search_budget_spent(parts_.study, spending, confirmed_).has_value();
}

std::optional<TrialRecord> Tuning::next_reduction() const {
  const bool is_open = std::ranges::any_of(standing_.trials(), [](const TrialRecord& trial) {
    return trial.origin == k_fewest_changes && !is_final(trial.status);
  });
  // After a confirmation, the search looks for something faster, not for fewer changes.
  if (is_open || confirmed_) return std::nullopt;
  auto reduced = fewer_changes(parts_.study, standing_);
  if (!reduced) return std::nullopt;
  return new_trial(TrialPurpose::search, k_fewest_changes, *std::move(reduced));
}

std::optional<TrialRecord> Tuning::next_pending(bool confirming) {
  if (pending_.empty()) return std::nullopt;
  const auto is_over = [&](TrialPurpose purpose) {
    return machines_.holds_machines() ? search_time_is_over() : is_too_late_for(purpose);
  };
  const auto found = std::ranges::find_if(pending_, [&](const TrialRecord& trial) {
    if (is_compared(trial.purpose) && is_over(trial.purpose)) return false;
    return confirming || !is_confirmation(trial.purpose);
  });
  if (found == pending_.end()) return std::nullopt;
  TrialRecord trial = std::move(*found);
  pending_.erase(found);
  return trial;
}

std::optional<TrialRecord> Tuning::next_sentinel(bool search_is_over) const {
  // The study's first baseline says nothing about machines that come and go. Beside other trials, a
  // sentinel would run slower than that baseline, which ran alone. In a running program, each trial
  // is compared with the baseline beside it, so no sentinel is needed.
  if (!runs_one_at_a_time() || parts_.study.trials == TrialsIn::attached ||
      !sentinel_is_due(parts_.study, standing_, search_is_over)) {
    return std::nullopt;
  }
  if (search_is_over) {
    Spending with_it = spending();
    with_it.elapsed_s += expected_sentinel_s(parts_.study, standing_);
    // A proof is worth more than knowing which configuration is best.
    if (!can_pay_finalists(parts_.study, with_it, 1)) return std::nullopt;
  }
  return new_trial(TrialPurpose::sentinel, "sentinel", parts_.study.baseline);
}

std::optional<TrialRecord> Tuning::next_hint() const {
  for (const Configuration& hint : parts_.study.search.hints) {
    const bool tried = std::ranges::any_of(standing_.trials(), [&](const TrialRecord& trial) {
      return trial.configuration == hint &&
             !may_start_longer(parts_.study, trial, standing_.baseline());
    });
    if (!tried) return new_trial(TrialPurpose::hint, "try", hint);
  }
  return std::nullopt;
}

std::optional<TrialRecord> Tuning::next_disturbed() const {
  // Trials that run side by side always disturb each other.
  if (!runs_one_at_a_time()) return std::nullopt;
  const TrialRecord* disturbed = trial_to_measure_again(parts_.study, standing_);
  if (disturbed == nullptr) return std::nullopt;
  return new_trial(TrialPurpose::search, fmt::format("trial {} again", disturbed->number),
                   disturbed->configuration);
}

Result<std::optional<TrialRecord>> Tuning::next_suggestion() {
  if (waits_for_results_ && !running_.empty()) return std::nullopt;
  const std::vector<Configuration> running = running_.configurations();
  SuggestRequest request;
  request.trial = static_cast<std::int64_t>(standing_.trials().size()) + 1;
  request.running = running;
  // Without a model, trials fill the space. If several can share the start of a machine, they run
  // on the cheapest machine.
  const bool shares_starts = machines_.trials_in_turn() > 1;
  if (parts_.study.runner->traits().machines_vary && (shares_starts || tells_differences())) {
    request.price = [this](const Configuration& configuration) {
      return trial_price(configuration);
    };
  }
  auto suggestion = parts_.searcher.suggest(request);
  if (!suggestion) return tl::unexpected(suggestion.error());
  for (const std::string& warning : parts_.searcher.take_warnings())
    parts_.listener.on_warning(warning);
  // A running trial may still show something worth trying.
  waits_for_results_ = !*suggestion && !running_.empty();
  if (!*suggestion && !waits_for_results_) {
    if (auto reduced = next_reduction()) return reduced;
  }
  if (!*suggestion) {
    if (!waits_for_results_) end_ = End{LoopEnd::exhausted, parts_.searcher.why_done()};
    return std::nullopt;
  }
  expected_improvement_ = (*suggestion)->expected_improvement;
  log_suggested(request.trial, **suggestion);
  const bool stops = payback_.stops(parts_.study, (*suggestion)->expected_improvement, standing_);
  study_.unpaid_suggestions = payback_.unpaid_in_a_row();
  if (payback_.unpaid_in_a_row() > 0) {
    recorder_.decided(payback_decision(request.trial, payback_));
  }
  if (stops) {
    end_ = End{LoopEnd::payback,
               "no configuration is expected to save more on the planned run than trying it costs"};
    return std::nullopt;
  }
  TrialRecord trial = new_trial(TrialPurpose::search, std::move((*suggestion)->origin),
                                std::move((*suggestion)->configuration));
  trial.expected_improvement = (*suggestion)->expected_improvement;
  return trial;
}

std::optional<TrialRecord> Tuning::next_confirmation() const {
  const auto step = confirmation().next_step(confirm_limits());
  if (!step) return std::nullopt;
  TrialRecord trial = new_trial(step->purpose, "confirm", step->configuration);
  trial.confirm_pair = step->round;
  return trial;
}

bool Tuning::tells_differences() const {
  const auto told = [](const TrialRecord& trial) {
    return is_compared(trial.purpose) && is_final(trial.status) && !trial.objectives.empty();
  };
  const auto& trials = standing_.trials();
  const auto first = std::ranges::find_if(trials, told);
  return first != trials.end() && std::any_of(std::next(first), trials.end(), told);
}

ConfirmLimits Tuning::confirm_limits() const {
  const Spending so_far = spending();
  const std::size_t runs = confirmation().runs_in_next_round();
  ConfirmLimits limits{can_pay_confirming_round(parts_.study, so_far, runs), k_most_finalists};
  while (limits.together > 1 && !can_pay_finalists(parts_.study, so_far, limits.together))
    --limits.together;
  return limits;
}

void Tuning::set_time(TrialTargets& targets, const TrialRecord& trial, double startup_s) const {
  const StudySpec& study = parts_.study;
  Spending so_far = spending();
  const double now_s = parts_.clock.now_s();
  if (!is_confirmation(trial.purpose)) {
    targets.share_s = share_of_trial_s(study, trial.purpose, startup_s);
    targets.longest_start_s = longest_start_s(study, trial.purpose, standing_.baseline());
    targets.longest_trial_s = longest_trial_s(standing_);
    targets.budget_end_s =
        now_s + latest_end_s(study, so_far, trial.purpose) - stopwatch_.elapsed_s();
    return;
  }
  // An adopted run has already used some of its time.
  const bool is_adopted = trial.status == TrialStatus::running;
  const double ran_s =
      is_adopted ? std::max(0.0, parts_.clock.wall_time_s() - trial.started_wall_s) : 0.0;
  so_far.elapsed_s -= ran_s;
  const std::size_t in_round = confirmation().runs_left_in_round(trial);
  targets.share_s = share_of_confirming_run_s(study, so_far, startup_s, in_round);
  if (!study.budget.time_s) return;
  targets.least_s = k_longer_fresh_run * startup_s + targets.share_s;
  const TrialRecord* baseline = standing_.baseline();
  if (baseline != nullptr && is_whole_run(*baseline)) {
    targets.least_s = std::max(targets.least_s, k_longer_fresh_run * latest_attempt_s(*baseline));
  }
  // The other runs of its round come after it, unless they run beside it.
  const bool alone = runs_one_at_a_time() && targets.interleaved_round == 0;
  const double left_s = *study.budget.time_s - so_far.elapsed_s;
  targets.budget_end_s = now_s - ran_s + left_s / (alone ? static_cast<double>(in_round) : 1.0);
}

void Tuning::set_confirming(TrialTargets& targets, const TrialRecord& trial,
                            double startup_s) const {
  const StudySpec& study = parts_.study;
  MeasureSpec& measure = targets.measure;
  // A buffer takes time to drain.
  measure.max_trial_s = std::max(
      measure.max_trial_s,
      std::min(k_longer_window * measure.max_trial_s, 0.9 * study.limits.wall_s - startup_s));
  measure.min_window_s = std::min(k_longer_window * measure.min_window_s, measure.max_trial_s);
  // Both sides must show the rare phases, otherwise the comparison is chance.
  targets.min_window_samples = k_periods_to_show * longest_period(standing_);
  const auto baseline_rate = mean_baseline_rate(standing_);
  if (targets.interleaved_round > 1) {
    // The first round has looked for phases that no trial had shown.
    const double phases_s = targets.min_window_samples * baseline_rate.value_or(0.0);
    targets.share_s =
        std::min(targets.share_s, std::max(later_window_s(measure, standing_), phases_s));
  }
  if (trial.purpose == TrialPurpose::confirm_incumbent) {
    const bool is_bounded = baseline_rate && was_bounded(standing_, trial.configuration,
                                                         *baseline_rate, measure.target_half_width);
    if (!is_bounded) targets.baseline_seconds_per_sample = baseline_rate;
    targets.kept_guards = has_kept_guards(study, standing_, trial.configuration);
  }
  targets.enough_s = enough_s(study, standing_, trial.configuration, targets);
}

TrialTargets Tuning::targets_of(const TrialRecord& trial) const {
  const StudySpec& study = parts_.study;
  TrialTargets targets{study.measure};
  targets.usual_variance_s = usual_variance_s(standing_.trials());
  targets.launches = standing_.launches();
  targets.batch_applied =
      batch_applied(study, standing_.trials(), standing_.baseline(), targets.launches);
  const bool starts = !shares_running_program(study);
  const double startup_s = starts ? expected_startup_s(standing_, trial) : 0.0;
  // A further attempt has lost the other runs of its round.
  if (is_confirmation(trial.purpose) && trial.attempt == 1 && interleaves()) {
    targets.interleaved_round = trial.confirm_pair;
  }
  set_time(targets, trial, startup_s);
  if (is_confirmation(trial.purpose)) {
    set_confirming(targets, trial, startup_s);
    return targets;
  }
  // All other trials are compared with the baseline, so it takes as long as it may.
  if (trial.purpose == TrialPurpose::baseline) {
    look_for_long(targets);
    if (study.budget.cost_usd) {
      const double usd_per_s = usage_usd(usd_per_hour_alone(study, trial.configuration), 1.0);
      if (usd_per_s > 0.0) {
        targets.long_look_s =
            std::min(targets.long_look_s, k_long_look_cost * *study.budget.cost_usd / usd_per_s);
      }
    }
  } else {
    targets.enough_s = enough_s(study, standing_, trial.configuration, targets);
  }
  if (trial.purpose == TrialPurpose::sentinel) {
    targets.measure = sentinel_measure(targets.measure);
    targets.share_s *= 0.5;
    return targets;
  }
  const TrialRecord* incumbent = standing_.incumbent();
  if (incumbent != nullptr && standing_.baseline() != nullptr) {
    targets.to_beat = standing_.value(*incumbent, 0) + k_z_95 * standing_.error(*incumbent, 0);
    if (trial.purpose != TrialPurpose::baseline) {
      targets.slow_limit = slow_limit(study, standing_, trial.configuration, targets);
    }
  }
  return targets;
}

TrialRecord Tuning::new_trial(TrialPurpose purpose, std::string origin,
                              Configuration configuration) const {
  TrialRecord trial;
  trial.number = static_cast<std::int64_t>(standing_.trials().size()) + 1;
  trial.purpose = purpose;
  trial.origin = std::move(origin);
  trial.configuration = std::move(configuration);
  return trial;
}

Spending Tuning::spending() const {
  return as_of_now(spending_of(parts_.study, standing_));
}

Spending Tuning::as_of_now(Spending spending) const {
  spending.elapsed_s = stopwatch_.elapsed_s();
  spending.usd =
      tuning_cost_usd(parts_.study, spending.usd + running_.usd_committed(spending.least_trial_s),
                      study_.overhead_usd, spending.elapsed_s);
  // Trials that were handed over ahead of their turn take their time, too.
  const auto places = static_cast<std::size_t>(parts_.runner.capacity());
  const std::size_t ahead = running_.size() - std::min(running_.size(), places);
  spending.elapsed_s += static_cast<double>(ahead) * spending.least_trial_s / double(places);
  return spending;
}

bool Tuning::time_is_over() const {
  const auto& time_s = parts_.study.budget.time_s;
  return time_s && stopwatch_.elapsed_s() >= *time_s;
}

bool Tuning::search_time_is_over() const {
  if (!machines_.holds_machines() || !parts_.study.budget.time_s) return false;
  Spending so_far = spending_of(parts_.study, standing_);
  so_far.elapsed_s = stopwatch_.elapsed_s();
  return search_time_spent(parts_.study, so_far, confirmed_);
}

double Tuning::trial_price(const Configuration& configuration) const {
  const StudySpec& study = parts_.study;
  const auto mean = standing_.mean_price(study.measure);
  const double trial_s = mean ? mean->seconds : study.measure.max_trial_s;
  const double start_s = machines_.expected_start_s(study.runner->resources_of(configuration));
  if (std::isinf(start_s)) return start_s;
  const std::optional<double>& waiting = study.search.waiting_per_hour;
  if (!waiting && !prices_in_money(study)) return trial_s + start_s;
  const double machine = usd_per_hour(study, configuration);
  return usage_usd(machine, trial_s) + usage_usd(waiting.value_or(machine), start_s);
}

bool Tuning::can_pay_another() const {
  const auto longest_s = parts_.study.runner->traits().longest_billed_s;
  if (!longest_s) return true;
  const double spent_usd = standing_.spent_usd() + study_.overhead_usd;
  return can_risk_a_trial(parts_.study, spent_usd, running_.usd_bound(*longest_s));
}

}  // namespace steptune
