// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/recommend.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tuner/verdict/confirm.hpp"
#include "tuner/verdict/payback.hpp"
#include "tuner/verdict/plan_figures.hpp"
#include "tuner/verdict/plan_notes.hpp"
#include "tuner/verdict/setting_changes.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

/// Returns geometric means over the runs, or arithmetic means if a value is not positive.
std::vector<double> means_over(const ConfigurationRuns& runs, std::size_t objectives) {
  std::vector<double> means;
  const auto count = static_cast<double>(runs.size());
  for (std::size_t objective = 0; objective < objectives; ++objective) {
    double sum = 0.0;
    double log_sum = 0.0;
    bool positive = true;
    for (const TrialRecord* run : runs) {
      const double value = run->objectives[objective];
      sum += value;
      positive = positive && value > 0.0;
      log_sum += positive ? std::log(value) : 0.0;
    }
    means.push_back(positive ? std::exp(log_sum / count) : sum / count);
  }
  return means;
}

/// The recommended trial, and the source of its figures.
struct Choice {
  const TrialRecord* trial = nullptr;
  const Finalist* finalist = nullptr;  ///< null: the figures come from the search trial
  Claim claim = Claim::unconfirmed;
};

/// Returns the finalist with the largest speed-up, without finalists that a fresh run has refuted.
const Finalist* best_sound_finalist(const Confirmation& confirmation) {
  const Finalist* best = nullptr;
  for (const Finalist& finalist : confirmation.finalists()) {
    if (finalist.verdict == Verdict::failed || finalist.pairs.empty()) continue;
    if (best == nullptr || finalist.speed_up.ratio > best->speed_up.ratio) best = &finalist;
  }
  return best;
}

/// True if fresh runs have judged a finalist, or if the incumbent is the baseline itself.
bool is_judged(const Confirmation& confirmation, const TrialRecord& incumbent,
               const TrialRecord& baseline) {
  return incumbent.configuration == baseline.configuration ||
         std::ranges::any_of(confirmation.finalists(),
                             [](const Finalist& finalist) { return !finalist.pairs.empty(); });
}

/// Chooses the trial to recommend; null if no trial is known to respect the limits. `decided`: the
/// result of `nothing_to_gain` is known.
Choice choose(const Standing& standing, const Confirmation& confirmation, bool decided) {
  const TrialRecord* incumbent = standing.incumbent();
  const TrialRecord* baseline = standing.baseline();
  if (const Finalist* winner = confirmation.winner()) {
    if (const TrialRecord* trial = standing.best_of(winner->configuration)) {
      return {trial, winner, Claim::faster};
    }
  }
  if (decided) return {baseline, nullptr, Claim::nothing_to_gain};
  if (incumbent != nullptr) {
    if (baseline == nullptr || !is_judged(confirmation, *incumbent, *baseline)) {
      return {incumbent, nullptr, Claim::unconfirmed};
    }
    if (may_win(standing.rules(), *baseline)) return {baseline, nullptr, Claim::nothing_faster};
  }
  const Finalist* finalist = best_sound_finalist(confirmation);
  const TrialRecord* trial = finalist ? standing.best_of(finalist->configuration) : nullptr;
  if (trial != nullptr) return {trial, finalist, Claim::feasible};
  return {incumbent, nullptr, Claim::feasible};
}

/// Returns the trials that neither the search nor fresh runs can distinguish from the chosen trial.
std::vector<std::int64_t> tied_with(const StudySpec& study, const Standing& standing,
                                    const Confirmation& confirmation, const Choice& choice) {
  std::vector<std::int64_t> tied = standing.tied_with(*choice.trial);
  if (choice.finalist == nullptr) return tied;
  const TrialRecord* baseline = standing.baseline();
  // The search may have measured the chosen trial only briefly. The fresh runs are more precise.
  const bool is_compared = baseline != nullptr && !standing.drift().is_significant();
  std::erase_if(tied, [&](std::int64_t number) {
    const TrialRecord& trial = *standing.find(number);
    if (choice.claim == Claim::faster && baseline != nullptr &&
        trial.configuration == baseline->configuration) {
      return true;
    }
    if (is_compared &&
        speed_up_of_trials(study, trial, *baseline).high < choice.finalist->speed_up.low) {
      return true;
    }
    return std::ranges::any_of(confirmation.finalists(), [&](const Finalist& other) {
      return other.configuration == trial.configuration &&
             other.speed_up.high < choice.finalist->speed_up.low;
    });
  });
  return tied;
}

/// Returns the parameters in which the tied trials differ from the chosen trial.
std::vector<UndecidedParameter> undecided_parameters(const Standing& standing,
                                                     const TrialRecord& chosen,
                                                     const std::vector<std::int64_t>& tied) {
  std::map<std::string, std::set<Value>> values;
  const auto add = [&](const Configuration& configuration) {
    for (const auto& [name, value] : configuration.values())
      values[name].insert(value);
  };
  add(chosen.configuration);
  for (const std::int64_t number : tied)
    add(standing.find(number)->configuration);
  std::vector<UndecidedParameter> undecided;
  for (const auto& [name, tied_values] : values) {
    if (tied_values.size() > 1)
      undecided.push_back({name, {tied_values.begin(), tied_values.end()}});
  }
  return undecided;
}

ConfigurationRuns runs_of(const std::vector<RunPair>& pairs, const TrialRecord* RunPair::*side) {
  ConfigurationRuns runs;
  for (const RunPair& pair : pairs)
    runs.push_back(pair.*side);
  return runs;
}

/// Returns the baseline's runs of all pairs. Pairs may share a run; it is returned once.
ConfigurationRuns fresh_baselines(const Confirmation& confirmation) {
  ConfigurationRuns runs;
  for (const Finalist& finalist : confirmation.finalists()) {
    for (const RunPair& pair : finalist.pairs) {
      if (std::ranges::find(runs, pair.baseline) == runs.end()) runs.push_back(pair.baseline);
    }
  }
  return runs;
}

/// Sets the values of both sides, their intervals, and their source.
void set_figures(const StudySpec& study, const Standing& standing, const Confirmation& confirmation,
                 const Choice& choice, Recommendation& recommendation) {
  const TrialRecord* baseline = standing.baseline();
  const std::size_t objectives = study.objectives.size();
  const TrialRecord searched = standing.without_drift(*choice.trial);
  ConfigurationRuns incumbents{&searched};
  ConfigurationRuns baselines;
  if (baseline != nullptr) baselines.push_back(baseline);
  recommendation.incumbent_objectives = searched.objectives;
  if (baseline != nullptr) recommendation.baseline_objectives = baseline->objectives;
  if (choice.finalist != nullptr) {
    const auto& pairs = choice.finalist->pairs;
    incumbents = runs_of(pairs, &RunPair::incumbent);
    baselines = runs_of(pairs, &RunPair::baseline);
    recommendation.incumbent_objectives = means_over(incumbents, objectives);
    recommendation.baseline_objectives = means_over(baselines, objectives);
    recommendation.speed_up = choice.finalist->speed_up;
  } else if (keeps_baseline(choice.claim)) {
    // Prefer the figures of confirming runs. They are longer than the search trial, and each has
    // its own start, like the planned run.
    if (auto fresh = fresh_baselines(confirmation); !fresh.empty()) {
      incumbents = baselines = std::move(fresh);
      recommendation.incumbent_objectives = recommendation.baseline_objectives =
          means_over(baselines, objectives);
    }
  } else if (choice.claim == Claim::unconfirmed && baseline != nullptr) {
    recommendation.speed_up = speed_up_of_trials(study, searched, *baseline);
  }
  recommendation.incumbent_half_widths = next_launch_half_widths(
      incumbents, recommendation.incumbent_objectives, standing.launches(), study.planned_run);
  recommendation.baseline_half_widths = next_launch_half_widths(
      baselines, recommendation.baseline_objectives, standing.launches(), study.planned_run);
  recommendation.measured_s = measured_s(incumbents);
  recommendation.page_cache = cache_use(incumbents);
  recommendation.samples_counted = samples_counted(study, *choice.trial);
}

void set_payback(const StudySpec& study, Recommendation& recommendation) {
  const bool may_save =
      recommendation.claim == Claim::faster || recommendation.claim == Claim::unconfirmed;
  if (!may_save || recommendation.baseline_objectives.empty()) return;
  recommendation.payback_share = payback_share(study, recommendation.baseline_objectives[0],
                                               recommendation.incumbent_objectives[0],
                                               recommendation.tuning_s, recommendation.tuning_usd);
  set_payback_interval(recommendation);
}

}  // namespace

std::optional<Recommendation> recommend(const StudySpec& study, const Standing& standing,
                                        double elapsed_s, double overhead_usd,
                                        std::optional<double> expected_improvement, bool is_over) {
  const Confirmation confirmation(study, standing, is_over);
  const auto most_gain = nothing_to_gain(study, standing, confirmation, expected_improvement);
  const Choice choice = choose(standing, confirmation, most_gain.has_value());
  if (choice.trial == nullptr) return std::nullopt;

  Recommendation recommendation;
  recommendation.claim = choice.claim;
  recommendation.incumbent_trial = choice.trial->number;
  recommendation.configuration = choice.trial->configuration;
  for (std::size_t i = 0; i < confirmation.finalists().size(); ++i) {
    const Finalist& finalist = confirmation.finalists()[i];
    const TrialRecord* trial = standing.best_of(finalist.configuration);
    FinalistResult result{trial == nullptr ? 0 : trial->number, finalist.verdict,
                          finalist.speed_up};
    result.speed_up.more_pairs = confirmation.further_pairs_of(i);
    recommendation.finalists.push_back(std::move(result));
  }
  set_figures(study, standing, confirmation, choice, recommendation);
  // If the baseline is recommended, the list would contain every trial that was not shown to be
  // better.
  if (!keeps_baseline(recommendation.claim)) {
    recommendation.tied = tied_with(study, standing, confirmation, choice);
    recommendation.undecided = undecided_parameters(standing, *choice.trial, recommendation.tied);
  }
  recommendation.changed = changed_settings(study, recommendation.configuration);
  recommendation.reduction = reduction_of(study, standing, *choice.trial);
  recommendation.worth = study.search.worth;
  if (most_gain && keeps_baseline(recommendation.claim)) recommendation.most_gain = *most_gain;
  if (study.budget.time_s)
    recommendation.unused_s = std::max(0.0, *study.budget.time_s - elapsed_s);
  recommendation.pareto = standing.front(*choice.trial);
  recommendation.tuning_s = elapsed_s;
  recommendation.tuning_usd = tuning_cost_usd(study, standing.spent_usd(), overhead_usd, elapsed_s);
  set_payback(study, recommendation);
  set_samples_ratio(study, standing, recommendation);
  recommendation.notes = plan_notes(study, standing, recommendation);
  if (confirmation.baseline_failed()) {
    recommendation.notes.push_back(
        {fmt::format("fresh runs of the baseline failed: nothing more is confirmed (see 'steptune "
                     "leaderboard {} --all')",
                     study.name)});
  }
  return recommendation;
}

}  // namespace steptune
