// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/study_figures.hpp"

#include <utility>

#include "tuner/report/leaderboard_source.hpp"

namespace steptune {
namespace {

Result<std::vector<double>> best_so_far(const StoredStudy& study, const ListedStudy& listed) {
  // Prefer the recommended configuration, which may differ from the best of the search.
  const auto& recommendation = listed.recommendation;
  if (recommendation && !recommendation->incumbent_objectives.empty() &&
      study.record.status != StudyStatus::running) {
    return recommendation->incumbent_objectives;
  }
  const auto standing = read_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  const TrialRecord* incumbent = standing->incumbent();
  return incumbent == nullptr ? std::vector<double>() : incumbent->objectives;
}

Result<double> idle_seconds(const History& history, std::int64_t study_id) {
  const auto times = history.unused_times(study_id);
  if (!times) return tl::unexpected(times.error());
  double seconds = 0.0;
  for (const UnusedTime& time : *times)
    seconds += time.seconds();
  return seconds;
}

}  // namespace

double StudyFigures::usd() const {
  const double usd = spending.usd + listed.record.overhead_usd;
  const auto& recommendation = listed.recommendation;
  // Never report less than the known cost. The recommendation's cost may be lower, or NaN.
  return recommendation && recommendation->tuning_usd > usd ? recommendation->tuning_usd : usd;
}

Result<StudyFigures> read_study_figures(History& history, ListedStudy listed) {
  if (!listed.fault.empty()) return fail(ErrorKind::store, listed.fault);
  StudyFigures figures;
  figures.objectives = objective_views(listed.record.document);
  const std::int64_t id = listed.record.id;
  auto spending = history.spending(id);
  if (!spending) return tl::unexpected(spending.error());
  figures.spending = *spending;
  const auto idle_s = idle_seconds(history, id);
  if (!idle_s) return tl::unexpected(idle_s.error());
  figures.idle_s = *idle_s;
  auto running = history.latest_trials(id, TrialStatus::running, k_many_trials);
  if (!running) return tl::unexpected(running.error());
  for (const TrialRecord& trial : *running) {
    const auto machines = trial.placement.find("instances");
    if (machines != trial.placement.end()) ++figures.machines[machines->second];
  }
  StoredStudy study{std::move(history), listed.record, figures.objectives};
  auto best = best_so_far(study, listed);
  history = std::move(study.history);
  if (!best) return tl::unexpected(best.error());
  figures.best = *std::move(best);
  figures.listed = std::move(listed);
  return figures;
}

}  // namespace steptune
