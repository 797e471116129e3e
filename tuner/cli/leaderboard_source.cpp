// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/leaderboard_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace steptune {
namespace {

constexpr std::array k_unranked{TrialStatus::running,       TrialStatus::launching,
                                TrialStatus::infeasible,    TrialStatus::failed,
                                TrialStatus::out_of_memory, TrialStatus::interrupted};

Result<std::vector<TrialRecord>> sorted_by_other(const StoredStudy& study,
                                                 const LeaderboardQuery& query) {
  auto trials = study.history.trials(study.record.id);
  if (!trials) return tl::unexpected(trials.error());
  const std::size_t objective = query.sorted_by;
  std::erase_if(*trials, [&](const TrialRecord& trial) {
    return !is_ranked(trial.status) || is_confirmation(trial.purpose) ||
           trial.objectives.size() <= objective || !std::isfinite(trial.objectives[objective]);
  });
  const ObjectiveView& view = study.objectives[objective];
  std::stable_sort(trials->begin(), trials->end(), [&](const auto& a, const auto& b) {
    return view.better(a.objectives[objective], b.objectives[objective]);
  });
  if (trials->size() > query.limit) trials->resize(query.limit);
  return std::move(*trials);
}

Result<std::vector<TrialRecord>> unranked_trials(const StoredStudy& study, std::size_t limit) {
  std::vector<TrialRecord> result;
  for (const TrialStatus status : k_unranked) {
    auto trials = study.history.latest_trials(study.record.id, status, limit);
    if (!trials) return tl::unexpected(trials.error());
    std::move(trials->begin(), trials->end(), std::back_inserter(result));
  }
  for (const TrialStatus status : {TrialStatus::completed, TrialStatus::stopped_early}) {
    auto trials = study.history.latest_trials(study.record.id, status, limit);
    if (!trials) return tl::unexpected(trials.error());
    std::copy_if(trials->begin(), trials->end(), std::back_inserter(result),
                 [](const auto& trial) { return is_confirmation(trial.purpose); });
  }
  return result;
}

}  // namespace

Result<Leaderboard> read_leaderboard(const StoredStudy& study, const LeaderboardQuery& query) {
  LeaderboardInput input;
  const bool largest_first = study.objectives[0].objective.direction == Direction::maximize;
  auto ranked = query.sorted_by == 0
                    ? study.history.ranked_trials(study.record.id, query.limit, largest_first)
                    : sorted_by_other(study, query);
  if (!ranked) return tl::unexpected(ranked.error());
  input.ranked = std::move(*ranked);
  if (query.all) {
    auto unranked = unranked_trials(study, query.limit);
    if (!unranked) return tl::unexpected(unranked.error());
    input.unranked = std::move(*unranked);
  }
  auto baseline = baseline_trial(study);
  if (!baseline) return tl::unexpected(baseline.error());
  input.baseline = std::move(*baseline);
  auto counts = study.history.status_counts(study.record.id);
  if (!counts) return tl::unexpected(counts.error());
  input.counts = std::move(*counts);
  auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  // Sorted by another objective, the best is the first of that order.
  if (*recommendation && query.sorted_by == 0) {
    input.recommended = (*recommendation)->incumbent_trial;
  }
  input.study = study.record;
  input.objectives = study.objectives;
  input.sorted_by = query.sorted_by;
  return make_leaderboard(std::move(input));
}

}  // namespace steptune
