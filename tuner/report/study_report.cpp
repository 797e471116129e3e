// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/study_report.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tuner/report/leaderboard_source.hpp"
#include "tuner/report/library_versions.hpp"
#include "tuner/verdict/payback.hpp"

namespace steptune {
namespace {

/// Largest number of points of all traces, so that a report of a thousand trials stays below three
/// megabytes.
constexpr std::size_t k_most_points = 60'000;
constexpr std::size_t k_fewest_points_each = 40;

/// Returns the cost as the recommendation counts it. If this version cannot read the study, leaves
/// out the time between trials.
double cost_of_tuning(const StudyRecord& study, double trials_usd) {
  const auto spec = stored_spec(study);
  return spec ? tuning_cost_usd(*spec, trials_usd, study.overhead_usd, study.elapsed_s)
              : trials_usd + study.overhead_usd;
}

Result<void> read_traces(const StoredStudy& study, StudyReport& report) {
  const std::size_t count = std::max<std::size_t>(1, report.board.rows.size());
  const std::size_t most =
      std::clamp(k_most_points / count, k_fewest_points_each, k_most_trace_points);
  std::map<std::int64_t, std::vector<double>> kept_s;
  for (const LeaderboardRow& row : report.board.rows) {
    std::vector<double>& of_trial = kept_s[row.trial.number];
    if (const auto& measurement = row.trial.measurement) {
      of_trial = {measurement->window_begin_s(), measurement->window_end_s()};
    }
  }
  return study.history.traces(study.record.id, [&](std::int64_t number, TrialTrace trace) {
    const auto kept = kept_s.find(number);
    if (kept == kept_s.end()) return;
    for (double& at_s : kept->second)
      at_s -= trace.spared_startup_s;
    auto& points = trace.progress.points;
    points = thinned(std::move(points), most, kept->second);
    report.traces.emplace(number, std::move(trace));
  });
}

}  // namespace

Result<StudyContents> read_study_contents(const StoredStudy& study, RecommendationContext words,
                                          Standing standing) {
  StudyContents contents;
  contents.words = std::move(words);
  auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  contents.recommendation = *std::move(recommendation);
  if (contents.recommendation)
    add_study_facts(contents.words, study, contents.recommendation->configuration);
  auto sessions = study.history.sessions(study.record.id);
  if (!sessions) return tl::unexpected(sessions.error());
  contents.sessions = *std::move(sessions);
  add_baseline_machines(contents.sessions, standing.trials());
  auto board = whole_leaderboard(study, std::move(standing));
  if (!board) return tl::unexpected(board.error());
  contents.board = *std::move(board);
  if (contents.board.machine_hours)
    contents.words.machine_hours = contents.board.machine_hours->total();
  auto decisions = study.history.decisions(study.record.id);
  if (!decisions) return tl::unexpected(decisions.error());
  contents.decisions = *std::move(decisions);
  return contents;
}

Result<StudyReport> read_study_report(const StoredStudy& study,
                                      const RecommendationContext& words) {
  auto standing = read_whole_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  auto contents = read_study_contents(study, words, *standing);
  if (!contents) return tl::unexpected(contents.error());
  StudyReport report;
  static_cast<StudyContents&>(report) = *std::move(contents);
  if (const TrialRecord* baseline = standing->baseline()) report.baseline = baseline->number;
  report.tuning_usd = cost_of_tuning(study.record, standing->spent_usd());
  // Only the analysis needs the parsed study document; the rest of the page works without it.
  if (auto analysis = analysis_of(study, *std::move(standing))) {
    report.analysis = *std::move(analysis);
  } else {
    report.no_analysis = analysis.error().text();
  }
  auto unused = study.history.unused_times(study.record.id);
  if (!unused) return tl::unexpected(unused.error());
  report.unused = *std::move(unused);
  if (auto read = read_traces(study, report); !read) return tl::unexpected(read.error());
  for (const LeaderboardRow& row : report.board.rows) {
    const TrialRecord& trial = row.trial;
    if (trial.attempt > 1) {
      auto attempts = study.history.attempts(study.record.id, trial.number);
      if (!attempts) return tl::unexpected(attempts.error());
      report.attempts[trial.number] = *std::move(attempts);
    }
    if (!report.recommendation || report.recommendation->incumbent_trial != trial.number) continue;
    auto command = trial_command(study.record, trial, words.database);
    if (command && !command->argv.empty()) report.command = *std::move(command);
  }
  return report;
}

}  // namespace steptune
