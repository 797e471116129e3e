// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/retuning.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tuner/loop/budget.hpp"
#include "tuner/retune/night_times.hpp"

namespace steptune {
namespace {

/// Number of rounds in all, each with a run of the incumbent and of the baseline, if a night looks
/// slower.
constexpr int k_recheck_rounds = 4;
constexpr const char* k_too_little =
    "a night's time or cost limit is too low to measure the configuration in use and the baseline: "
    "raise it (--time, --cost, or the study file's budget)";
constexpr const char* k_baseline_fails =
    "; the configuration in use stays, unchecked: repair the baseline, or make the configuration "
    "in use the study file's \"baseline\"";

std::int64_t searched_trials(const std::vector<TrialRecord>& trials) {
  return std::ranges::count(trials, TrialPurpose::search, &TrialRecord::purpose);
}

/// True if time or money ended the search, not its number of trials.
bool ended_by_bounds(const StudySpec& study, const std::vector<TrialRecord>& trials,
                     const LoopResult& result) {
  if (result.search_end != LoopEnd::budget) return false;
  const auto begun = std::ranges::count_if(
      trials, [](const TrialRecord& trial) { return is_compared(trial.purpose); });
  return !study.budget.trials || begun < *study.budget.trials;
}

}  // namespace

Retuning::Retuning(const RetuneParts& parts, const RetuneOptions& options)
    : parts_(parts), options_(options) {}

Result<Night> Retuning::run() {
  if (auto begun = begin(); !begun) return tl::unexpected(begun.error());
  if (night_.phase == NightPhase::first) {
    if (auto tuned = tune_from_scratch(); !tuned) return tl::unexpected(tuned.error());
  } else {
    if (auto checked = check(); !checked) return tl::unexpected(checked.error());
    const bool goes_on = !interrupted_ && night_.result == NightResult::running;
    if (goes_on) {
      if (auto searched = search(); !searched) return tl::unexpected(searched.error());
    }
    if (!interrupted_) settle();
  }
  if (auto closed = close(); !closed) return tl::unexpected(closed.error());
  return night_;
}

Result<void> Retuning::tune_from_scratch() {
  auto spec = first_night_study(parts_.study, night_, options_.bounds);
  if (!spec) return tl::unexpected(spec.error());
  auto played = play_study(*std::move(spec), {});
  if (!played) return tl::unexpected(played.error());
  if (interrupted_) return {};
  take_times(*played);
  night_.searched = searched_trials(played->trials);
  night_.budget_spent = ended_by_bounds(played->study, played->trials, played->result);
  const auto& found = played->result.recommendation;
  if (!found || night_.times.baseline.empty()) {
    night_.result = NightResult::failed;
    night_.reason = played->result.reason;
    return {};
  }
  const bool gains =
      found->claim == Claim::feasible ||
      (found->claim == Claim::faster && found->speed_up.ratio >= 1.0 + options_.least_gain);
  night_.result = gains ? NightResult::improved : NightResult::kept;
  night_.reason = "the first night: " + played->result.reason;
  if (gains) accept(*played, {found->configuration, found->speed_up});
  return {};
}

Result<void> Retuning::check() {
  if (night_.phase > NightPhase::recheck) return {};
  const bool is_baseline = night_.before.configuration == parts_.study.baseline;
  for (const NightPhase phase : {NightPhase::check, NightPhase::recheck}) {
    if (night_.phase > phase) continue;
    PhasePlan plan;
    plan.phase = phase;
    plan.rounds = is_baseline ? 0 : phase == NightPhase::check ? 1 : k_recheck_rounds;
    auto played = play(plan);
    if (!played) return tl::unexpected(played.error());
    if (!*played) return {};
    take_times(**played);
    night_.broken = is_baseline ? "" : why_broken(**played);
    if (night_.times.baseline.empty() ||
        (night_.times.incumbent.empty() && night_.broken.empty())) {
      const Played& ended = **played;
      night_.result = NightResult::failed;
      night_.budget_spent = ended_by_bounds(ended.study, ended.trials, ended.result);
      night_.reason = night_.budget_spent ? k_too_little : ended.result.reason;
      const bool baseline_fails = night_.times.baseline.empty() && !night_.budget_spent;
      if (baseline_fails && !is_baseline) night_.reason += k_baseline_fails;
      return {};
    }
    watch();
    checked_ = std::move(**played);
    const bool sure = is_baseline || !night_.broken.empty() || night_.lead.ratio > 1.0;
    if (phase == NightPhase::check && sure && !suspicious_) break;
  }
  return {};
}

Result<void> Retuning::search() {
  const auto prior = night_prior(parts_.study, parts_.history, nights_, night_);
  if (!prior) return tl::unexpected(prior.error());
  night_.trust = prior->own.empty() ? Trust::hint : Trust::full;
  std::int64_t most = 0;
  if (night_.phase < NightPhase::confirmation) {
    const auto worth = trials_worth(*prior);
    if (!worth) return tl::unexpected(worth.error());
    most = *worth;
    if (most == 0 && night_.phase < NightPhase::search) {
      if (const auto better = checked_ ? winner(*checked_, k_one_sided_error) : std::nullopt) {
        accept(*checked_, *better);
      }
      return {};
    }
    PhasePlan plan;
    plan.phase = NightPhase::search;
    plan.search_trials = most;
    plan.rounds = 0;
    plan.time_share = k_search_share;
    auto played = play(plan, *prior);
    if (!played) return tl::unexpected(played.error());
    if (!*played) return {};
    night_.searched = searched_trials((*played)->trials);
    night_.budget_spent = ended_by_bounds((*played)->study, (*played)->trials, (*played)->result);
    if (!is_promising(**played)) {
      if (const auto better = winner(**played, k_one_sided_error)) accept(**played, *better);
      return {};
    }
  }
  return confirm();
}

Result<void> Retuning::confirm() {
  const int usual = std::max(2, parts_.study.measure.confirm_pairs);
  for (const int pairs : {usual, 2 * usual}) {
    PhasePlan plan;
    plan.phase = NightPhase::confirmation;
    plan.search_trials = night_.searched;
    plan.rounds = 0;
    plan.confirm_pairs = pairs;
    auto played = play(plan);
    if (!played) return tl::unexpected(played.error());
    if (!*played) return {};
    // There are two chances to declare a winner, so each uses half of the error.
    if (const auto better = winner(**played, 0.5 * k_one_sided_error)) {
      accept(**played, *better);
      return {};
    }
    if (!is_promising(**played)) return {};
  }
  return {};
}

bool Retuning::is_promising(const Played& played) const {
  const Standing standing(ranking_rules(played.study), played.trials);
  const TrialRecord* best = standing.incumbent();
  if (best == nullptr || best->configuration == night_.before.configuration) return false;
  if (best->configuration == parts_.study.baseline) return false;
  const double to_beat =
      mean_log(night_.broken.empty() ? night_.times.incumbent : night_.times.baseline);
  // Prefer fresh runs: the search's own value is the best of many, partly by luck.
  std::vector<double> logs = times_of(played.trials, best->configuration, /*fresh_only=*/true);
  if (logs.empty()) logs.push_back(std::log(best->objectives[0]));
  return to_beat - mean_log(logs) > std::log1p(options_.least_gain);
}

std::optional<Retuning::Winner> Retuning::winner(const Played& played, double error) const {
  const Standing standing(ranking_rules(played.study), played.trials);
  const bool broken = !night_.broken.empty();
  const Configuration& in_use = broken ? parts_.study.baseline : night_.before.configuration;
  std::vector<Configuration> challengers;
  for (const TrialRecord* trial : standing.candidates()) {
    const bool is_new = std::ranges::find(challengers, trial->configuration) == challengers.end();
    if (is_new && trial->configuration != in_use) challengers.push_back(trial->configuration);
  }
  std::erase_if(challengers, [&](const Configuration& challenger) {
    return rounds_of(played.study, played.trials, challenger, in_use).empty();
  });
  std::optional<Winner> best;
  for (const Configuration& challenger : challengers) {
    const auto rounds = rounds_of(played.study, played.trials, challenger, in_use);
    const SpeedUp gain =
        speed_up_of_pairs(played.study, rounds, error / static_cast<double>(challengers.size()));
    const bool shown = gain.low > 1.0 && gain.ratio >= 1.0 + options_.least_gain;
    if (shown && (!best || gain.ratio > best->gain.ratio)) best = Winner{challenger, gain};
  }
  return best;
}

void Retuning::accept(const Played& played, const Winner& winner) {
  // Record the trial that the study's recommendation names, even if the scheduler stopped it early.
  const Standing standing(ranking_rules(played.study), played.trials);
  const TrialRecord* found = standing.best_of(winner.configuration);
  night_.result = NightResult::improved;
  night_.after = {winner.configuration, night_.study, found == nullptr ? 0 : found->number};
  night_.gain = winner.gain;
  night_.after_times = times_of(played.trials, winner.configuration, /*fresh_only=*/true);
  night_.after_baseline_times = times_of(played.trials, parts_.study.baseline, /*fresh_only=*/true);
}

void Retuning::settle() {
  if (night_.reason.empty()) night_.reason = night_.broken;
  if (night_.result != NightResult::running) return;
  const bool worse = night_.slowdown.has_value() || !night_.broken.empty();
  night_.result = worse ? NightResult::regressed : NightResult::kept;
  if (night_.broken.empty()) return;
  // One failure may be an accident. After failures on two nights in a row, return to the baseline.
  if (nights_.size() < 2) return;
  const Night& last = nights_[nights_.size() - 2];
  const bool again =
      !last.broken.empty() && last.before.configuration == night_.before.configuration;
  if (again) night_.after = {parts_.study.baseline, night_.study, 1};
}

Result<Night> retune(const RetuneParts& parts, const RetuneOptions& options) {
  return Retuning(parts, options).run();
}

}  // namespace steptune
