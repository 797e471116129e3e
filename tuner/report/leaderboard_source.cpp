// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leaderboard_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "search/space/expression.hpp"
#include "tuner/report/leaderboard_columns.hpp"

namespace steptune {
namespace {

constexpr std::array k_unranked{TrialStatus::running,       TrialStatus::launching,
                                TrialStatus::infeasible,    TrialStatus::failed,
                                TrialStatus::out_of_memory, TrialStatus::interrupted};

/// All trials of the standing that have the objective which it is ranked by, best first.
std::vector<TrialRecord> sorted_trials(const Standing& standing, const LeaderboardQuery& query) {
  std::vector<TrialRecord> trials = standing.trials();
  const std::size_t objective = query.sorted_by;
  std::erase_if(trials, [&](const TrialRecord& trial) {
    return !is_ranked(trial.status) || !is_compared(trial.purpose) ||
           trial.objectives.size() <= objective || !std::isfinite(trial.objectives[objective]);
  });
  std::ranges::stable_sort(
      trials, {}, [&](const TrialRecord& trial) { return standing.value(trial, objective); });
  if (trials.size() > query.limit) trials.resize(query.limit);
  return trials;
}

Result<std::vector<TrialRecord>> ranked_trials(const StoredStudy& study, Standing& standing,
                                               const LeaderboardQuery& query) {
  if (query.sorted_by > 0 || standing.drift().is_significant()) {
    return sorted_trials(standing, query);
  }
  const bool largest_first = study.objectives[0].objective.direction == Direction::maximize;
  auto trials = study.history.ranked_trials(study.record.id, query.limit, largest_first);
  if (trials && study.objectives.size() > 1) {
    // Whatever dominates a trial that is shown ranks before it, so the rows decide the front.
    for (const TrialRecord& trial : *trials)
      standing.put(trial);
  }
  return trials;
}

/// What a study that has ended told in the end, else what its trials say now.
Result<Leaders> leaders_now(const StoredStudy& study, const Standing& standing,
                            const LeaderboardQuery& query) {
  if (query.sorted_by > 0 || study.record.status == StudyStatus::running) {
    return leaders_of(standing);
  }
  const auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  return *recommendation ? leaders_of(**recommendation) : leaders_of(standing);
}

/// Confirming trials and the like, of which a standing has all: the latest of each status first.
void add_repetitions(const Standing& standing, std::size_t limit,
                     std::vector<TrialRecord>& trials) {
  for (const TrialStatus status : {TrialStatus::completed, TrialStatus::stopped_early}) {
    std::vector<TrialRecord> of_status;
    for (const TrialRecord& trial : standing.trials()) {
      if (trial.status == status && !is_compared(trial.purpose)) of_status.push_back(trial);
    }
    std::ranges::sort(of_status, std::greater<>(), &TrialRecord::number);
    if (of_status.size() > limit) of_status.resize(limit);
    std::move(of_status.begin(), of_status.end(), std::back_inserter(trials));
  }
}

Result<std::vector<TrialRecord>> unranked_trials(const StoredStudy& study, const Standing& standing,
                                                 std::size_t limit) {
  std::vector<TrialRecord> result;
  for (const TrialStatus status : k_unranked) {
    auto trials = study.history.latest_trials(study.record.id, status, limit);
    if (!trials) return tl::unexpected(trials.error());
    std::move(trials->begin(), trials->end(), std::back_inserter(result));
  }
  add_repetitions(standing, limit, result);
  return result;
}

Result<LeaderboardInput> read_input(const StoredStudy& study, const LeaderboardQuery& query) {
  auto standing = read_standing(study, query.sorted_by);
  if (!standing) return tl::unexpected(standing.error());
  LeaderboardInput input;
  auto ranked = ranked_trials(study, *standing, query);
  if (!ranked) return tl::unexpected(ranked.error());
  input.ranked = *std::move(ranked);
  if (query.all) {
    auto unranked = unranked_trials(study, *standing, query.limit);
    if (!unranked) return tl::unexpected(unranked.error());
    input.unranked = *std::move(unranked);
  }
  auto leaders = leaders_now(study, *standing, query);
  if (!leaders) return tl::unexpected(leaders.error());
  input.leaders = *std::move(leaders);
  if (standing->drift().is_significant()) {
    input.drift_log_ratio = standing->drift().largest_log_ratio();
  }
  auto counts = study.history.status_counts(study.record.id);
  if (!counts) return tl::unexpected(counts.error());
  input.counts = *std::move(counts);
  if (const TrialRecord* baseline = standing->baseline()) input.baseline = *baseline;
  input.study = study.record;
  input.objectives = study.objectives;
  input.sorted_by = query.sorted_by;
  return input;
}

bool selects_rows(const LeaderboardQuery& query) {
  return query.pareto || query.feasible || !query.where.empty() || !query.sort_column.empty();
}

/// A row as an expression sees it: the columns that it names.
Configuration values_of(const LeaderboardRow& row, const std::vector<LeaderboardColumn>& columns) {
  Configuration values;
  for (const LeaderboardColumn& column : columns) {
    if (auto value = column.value(row)) values.set(column.name, *std::move(value));
  }
  return values;
}

/// Leaves the rows that the condition holds for.
Result<void> filter_rows(std::vector<LeaderboardRow>& rows, const std::string& condition,
                         std::vector<LeaderboardColumn> columns, const Facts& facts) {
  std::vector<std::string> names;
  for (const LeaderboardColumn& column : columns)
    names.push_back(column.name);
  const auto compiled = Expression::compile(condition, names, facts);
  if (!compiled) {
    Error error = compiled.error();
    error.kind = ErrorKind::usage;
    error.where = "--where";
    return tl::unexpected(std::move(error));
  }
  const auto& named = compiled->mentioned_parameters();
  std::erase_if(columns, [&](const LeaderboardColumn& column) {
    return std::ranges::find(named, column.name) == named.end();
  });
  std::erase_if(
      rows, [&](const LeaderboardRow& row) { return !compiled->holds(values_of(row, columns)); });
  return {};
}

/// Leaves the rows that the query is about, in its order.
Result<void> select_rows(Leaderboard& board, const StoredStudy& study,
                         const LeaderboardQuery& query) {
  const auto columns = leaderboard_columns(board, parameter_order(study.record.document));
  std::vector<LeaderboardRow>& rows = board.rows;
  std::erase_if(rows, [&](const LeaderboardRow& row) {
    return (query.pareto && !row.pareto) ||
           (query.feasible && row.trial.status != TrialStatus::completed);
  });
  if (!query.where.empty()) {
    auto filtered = filter_rows(rows, query.where, columns, stored_facts(study.record));
    if (!filtered) return filtered;
  }
  if (!query.sort_column.empty()) {
    const auto column = column_named(columns, query.sort_column);
    if (!column) return tl::unexpected(column.error());
    sort_rows(rows, *column);
  }
  if (rows.size() > query.limit) rows.resize(query.limit);
  return {};
}

/// The whole study as a leaderboard, of which the query selects.
Result<Leaderboard> read_selected(const StoredStudy& study, const LeaderboardQuery& query) {
  LeaderboardQuery everything;
  everything.limit = std::numeric_limits<std::int64_t>::max();
  everything.all = query.all;
  everything.sorted_by = query.sorted_by;
  auto input = read_input(study, everything);
  if (!input) return tl::unexpected(input.error());
  Leaderboard board = ranked_rows(*std::move(input));
  const auto selected = select_rows(board, study, query);
  if (!selected) return tl::unexpected(selected.error());
  describe_rows(board);
  return board;
}

}  // namespace

Result<Leaderboard> read_leaderboard(const StoredStudy& study, const LeaderboardQuery& query) {
  if (selects_rows(query)) return read_selected(study, query);
  auto input = read_input(study, query);
  if (!input) return tl::unexpected(input.error());
  return make_leaderboard(*std::move(input));
}

}  // namespace steptune
