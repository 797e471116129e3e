// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leaderboard_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "search/space/expression.hpp"
#include "tuner/report/leaderboard_columns.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/study_scaling.hpp"
#include "tuner/study/counting_parameter.hpp"

namespace steptune {
namespace {

constexpr std::array k_unranked{TrialStatus::running,       TrialStatus::launching,
                                TrialStatus::infeasible,    TrialStatus::failed,
                                TrialStatus::out_of_memory, TrialStatus::interrupted};

/// Returns the indices of trials that have the objective by which the standing ranks, best first.
std::vector<std::size_t> best_first(const Standing& standing, std::size_t objective) {
  std::vector<std::pair<double, std::size_t>> values;
  for (std::size_t place = 0; place < standing.trials().size(); ++place) {
    const TrialRecord& trial = standing.trials()[place];
    if (is_ranked(trial.status) && is_compared(trial.purpose) &&
        trial.objectives.size() > objective && std::isfinite(trial.objectives[objective])) {
      values.emplace_back(standing.value(trial, objective), place);
    }
  }
  std::ranges::sort(values);
  std::vector<std::size_t> places;
  for (const auto& [value, place] : values)
    places.push_back(place);
  return places;
}

/// Reads the best trials by the first objective. If there are several objectives, adds these trials
/// to the standing.
Result<std::vector<TrialRecord>> read_ranked(const StoredStudy& study, Standing& standing,
                                             std::size_t limit) {
  const bool largest_first = study.objectives[0].objective.direction == Direction::maximize;
  auto ranked = study.history.ranked_trials(study.record.id, limit, largest_first);
  if (ranked && study.objectives.size() > 1) {
    // If the study has very many trials, only the shown rows decide which trials are trade-offs.
    RankingRules rules = standing.rules();
    std::vector<TrialRecord> known = standing.take_trials();
    known.insert(known.end(), ranked->begin(), ranked->end());
    standing = Standing(std::move(rules), std::move(known));
  }
  return ranked;
}

/// Returns the leaders that an ended study has recommended; nullopt if the leaders must be computed
/// from the trials.
Result<std::optional<Leaders>> leaders_from(const StoredStudy& study,
                                            const LeaderboardQuery& query) {
  if (query.sorted_by > 0 || study.record.status == StudyStatus::running) return std::nullopt;
  const auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  if (!*recommendation) return std::nullopt;
  return leaders_of(**recommendation);
}

/// Moves the latest trials for which `wanted` is true to `out`, at most `limit`.
template <typename Wanted>
void move_latest(std::vector<TrialRecord>& trials, std::size_t limit, Wanted wanted,
                 std::vector<TrialRecord>& out) {
  for (TrialRecord& trial :
       std::views::reverse(trials) | std::views::filter(wanted) | std::views::take(limit)) {
    out.push_back(std::move(trial));
  }
}

/// Returns the unranked trials to show. `known` are trials of the study in order of number. If
/// `whole`, these are all trials. Otherwise they are the trials of a standing, with all confirming
/// runs.
Result<std::vector<TrialRecord>> unranked_trials(const StoredStudy& study,
                                                 std::vector<TrialRecord> known, bool whole,
                                                 std::size_t limit) {
  std::vector<TrialRecord> result;
  for (const TrialStatus status : k_unranked) {
    if (whole) {
      move_latest(
          known, limit, [&](const TrialRecord& trial) { return trial.status == status; }, result);
      continue;
    }
    auto trials = study.history.latest_trials(study.record.id, status, limit);
    if (!trials) return tl::unexpected(trials.error());
    std::ranges::move(*trials, std::back_inserter(result));
  }
  for (const TrialStatus status : {TrialStatus::completed, TrialStatus::stopped_early}) {
    move_latest(
        known, limit,
        [&](const TrialRecord& trial) {
          return trial.status == status && !is_compared(trial.purpose);
        },
        result);
  }
  return result;
}

/// Reads the leaders' best trial if it ranks below the shown trials; otherwise returns nullopt.
/// That happens if many trials are tied, because the tied trial with the smallest batch counts as
/// the best.
Result<std::optional<TrialRecord>> best_below(const StoredStudy& study, const Leaders& leaders,
                                              const std::vector<TrialRecord>& shown) {
  const auto is_best = [&](const TrialRecord& trial) { return trial.number == leaders.best; };
  if (!leaders.best || std::ranges::any_of(shown, is_best)) return std::nullopt;
  auto best = study.history.trial(study.record.id, *leaders.best);
  if (best) return std::optional(*std::move(best));
  if (best.error().kind == ErrorKind::not_found) return std::nullopt;
  return tl::unexpected(best.error());
}

/// Reads the stored study; nullopt if this version cannot read it or it has very many trials.
std::optional<StudySpec> study_of_few(const StoredStudy& study, std::size_t trials) {
  if (trials > k_many_trials) return std::nullopt;
  auto spec = stored_spec(study.record);
  if (!spec) return std::nullopt;
  return *std::move(spec);
}

/// True if the leaderboard shows efficiencies. To compute them, it must read all trials.
bool counts_machines(const StudySpec& spec) {
  return !spec.search.over.empty() || counting_parameter(spec).has_value();
}

/// Reads a leaderboard's facts, and its trials with their ranks. If the caller already has a
/// standing of all trials by the query's objective, `read` is that standing.
Result<Leaderboard> read_rows(const StoredStudy& study, const LeaderboardQuery& query,
                              std::optional<Standing> read = std::nullopt) {
  Leaderboard board;
  board.study = study.record;
  board.objectives = study.objectives;
  board.sorted_by = query.sorted_by;
  auto counts = study.history.status_counts(study.record.id);
  if (!counts) return tl::unexpected(counts.error());
  board.counts = *std::move(counts);
  std::size_t count = 0;
  for (const auto& [status, trials] : board.counts)
    count += static_cast<std::size_t>(trials);
  const auto spec = study_of_few(study, count);
  const bool over_machines = spec && counts_machines(*spec);
  const auto source_leaders = leaders_from(study, query);
  if (!source_leaders) return tl::unexpected(source_leaders.error());
  // A trial that is not shown may decide which of the shown trials are trade-offs.
  const bool needs_front =
      !*source_leaders && study.objectives.size() > 1 && count <= k_many_trials;
  auto standing = read ? Result<Standing>(*std::move(read))
                  : query.sorted_by > 0 || query.limit >= count || over_machines || needs_front
                      ? read_whole_standing(study, query.sorted_by)
                      : read_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  const bool whole = standing->trials().size() >= count;
  std::vector<TrialRecord> ranked;
  std::vector<std::size_t> places;
  if (whole) {
    places = best_first(*standing, query.sorted_by);
    if (places.size() > query.limit) places.resize(query.limit);
  } else {
    auto some = read_ranked(study, *standing, query.limit);
    if (!some) return tl::unexpected(some.error());
    ranked = *std::move(some);
  }
  board.leaders = *source_leaders ? **source_leaders : leaders_of(*standing);
  if (standing->drift().is_significant()) {
    board.drift_log_ratio = standing->drift().largest_log_ratio();
  }
  if (const TrialRecord* baseline = standing->baseline()) board.baseline = *baseline;
  // The scaling curve does not depend on the objective by which the standing ranks.
  if (over_machines) board.scaling = scaling_of_trials(*spec, *standing);
  if (spec) {
    board.machine_hours = read_machine_hours(study, *spec, whole ? &standing->trials() : nullptr);
  }
  std::vector<TrialRecord> known = standing->take_trials();
  for (const std::size_t place : places)
    ranked.push_back(std::move(known[place]));
  std::optional<TrialRecord> best;
  if (!board.baseline || board.baseline->number != board.leaders.best) {
    auto below = best_below(study, board.leaders, ranked);
    if (!below) return tl::unexpected(below.error());
    best = *std::move(below);
  }
  board.rows.reserve(ranked.size() + 2);
  for (std::size_t i = 0; i < ranked.size(); ++i)
    add_row(board, std::move(ranked[i]), static_cast<std::int64_t>(i) + 1);
  if (query.all) {
    auto unranked = unranked_trials(study, std::move(known), whole, query.limit);
    if (!unranked) return tl::unexpected(unranked.error());
    for (TrialRecord& trial : *unranked)
      add_row(board, std::move(trial));
  }
  if (best) add_row(board, *std::move(best));
  return board;
}

bool selects_rows(const LeaderboardQuery& query) {
  return query.pareto || query.feasible || !query.where.empty() || !query.sort_column.empty();
}

/// Returns the values of a row for an expression over `columns`. A value that the trial does not
/// have (a failed trial has no time) becomes `lacking`. An inactive parameter gets no value,
/// because expressions treat it in their own way.
Configuration values_of(const LeaderboardRow& row, const std::vector<LeaderboardColumn>& columns,
                        double lacking) {
  Configuration values;
  for (const LeaderboardColumn& column : columns) {
    if (auto value = column.value(row)) {
      values.set(column.name, *std::move(value));
    } else if (!column.is_parameter) {
      values.set(column.name, lacking);
    }
  }
  return values;
}

/// True if the condition is true both with very large and with very small numbers in place of
/// missing values.
bool holds_for(const Expression& condition, const LeaderboardRow& row,
               const std::vector<LeaderboardColumn>& columns) {
  return condition.holds(values_of(row, columns, k_infinity)) &&
         condition.holds(values_of(row, columns, -k_infinity));
}

/// Keeps the rows that satisfy the condition.
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
  std::erase_if(rows,
                [&](const LeaderboardRow& row) { return !holds_for(*compiled, row, columns); });
  return {};
}

void note_lack_of_trade_offs(Leaderboard& board) {
  const bool is_led = std::ranges::any_of(board.rows, &LeaderboardRow::best);
  if (!is_led || has_trade_offs(board)) return;
  const std::size_t other = board.sorted_by == 0 ? 1 : 0;
  board.notes.push_back(
      {fmt::format("there is no trade-off: no trial is measurably better than the best in {}",
                   printable_line(board.objectives[other].title()))});
}

/// Keeps the rows that the query selects, in its order.
Result<void> select_rows(Leaderboard& board, const StoredStudy& study,
                         const LeaderboardQuery& query) {
  const auto columns = leaderboard_columns(board, parameter_order(study.record.document));
  std::vector<LeaderboardRow>& rows = board.rows;
  if (query.pareto) note_lack_of_trade_offs(board);
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

/// Reads the whole study as a leaderboard and selects the query's rows.
Result<Leaderboard> read_selected(const StoredStudy& study, const LeaderboardQuery& query) {
  LeaderboardQuery everything;
  everything.limit = std::numeric_limits<std::int64_t>::max();
  everything.all = query.all;
  everything.sorted_by = query.sorted_by;
  auto board = read_rows(study, everything);
  if (!board) return board;
  complete_rows(*board);
  const auto selected = select_rows(*board, study, query);
  if (!selected) return tl::unexpected(selected.error());
  describe_rows(*board);
  return board;
}

}  // namespace

Result<Leaderboard> read_leaderboard(const StoredStudy& study, const LeaderboardQuery& query) {
  if (query.pareto && study.objectives.size() < 2) {
    return fail(ErrorKind::usage, "a Pareto front needs two objectives, and the study has one",
                "--pareto", "without it the best trials come first");
  }
  if (selects_rows(query)) return read_selected(study, query);
  return read_rows(study, query).map(make_leaderboard);
}

Result<Leaderboard> whole_leaderboard(const StoredStudy& study, Standing standing) {
  LeaderboardQuery everything;
  everything.all = true;
  everything.limit = std::numeric_limits<std::int64_t>::max();
  return read_rows(study, everything, std::move(standing)).map(make_leaderboard);
}

}  // namespace steptune
