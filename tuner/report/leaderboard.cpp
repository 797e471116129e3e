// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leaderboard.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/outcome.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

std::vector<double> gains_over(const std::optional<TrialRecord>& baseline, const TrialRecord& trial,
                               const std::vector<ObjectiveView>& objectives) {
  std::vector<double> gains(objectives.size(), k_nan);
  if (!baseline) return gains;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (i < baseline->objectives.size() && i < trial.objectives.size()) {
      gains[i] = objectives[i].gain(baseline->objectives[i], trial.objectives[i]);
    }
  }
  return gains;
}

bool contains(const std::vector<std::int64_t>& numbers, std::int64_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

void mark_rows(Leaderboard& board) {
  const Leaders& leaders = board.leaders;
  for (LeaderboardRow& row : board.rows) {
    row.disturbed = was_disturbed(row.trial);
    // Do not mark an unranked trial, even if it is recommended.
    if (!is_ranked(row.trial.status) || !is_compared(row.trial.purpose)) continue;
    row.best = leaders.best == row.trial.number;
    row.tied = contains(leaders.tied, row.trial.number);
    row.pareto = contains(leaders.front, row.trial.number);
  }
}

/// True if the values differ as text. Null stands for an inactive parameter.
bool looks_different(const Value* a, const Value* b) {
  if (a == nullptr || b == nullptr) return a != b;
  return *a != *b && to_text(*a) != to_text(*b);
}

void split_parameters(Leaderboard& board) {
  std::vector<std::string> names = parameter_order(board.study.document);
  std::set<std::string> known(names.begin(), names.end());
  for (const LeaderboardRow& row : board.rows) {
    for (const auto& [name, value] : row.trial.configuration.values()) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  if (board.rows.empty()) return;
  for (const std::string& name : names) {
    const Value* first = board.rows.front().trial.configuration.find(name);
    const bool differs = std::ranges::any_of(board.rows, [&](const LeaderboardRow& row) {
      return looks_different(first, row.trial.configuration.find(name));
    });
    if (differs) {
      board.parameters.push_back(name);
    } else if (first != nullptr) {
      board.constant.emplace(name, *board.rows.back().trial.configuration.find(name));
    }
  }
}

/// Samples per optimizer step as reported by the trial.
struct StepSize {
  double mean = 0.0;
  /// Upper bound for the size of a full batch. A full batch may be larger than the mean, because a
  /// pass over the data may end with a smaller batch.
  double full_at_most = 0.0;
};

std::optional<StepSize> step_size(const TrialRecord& trial) {
  if (!trial.measurement) return std::nullopt;
  const Measurement& m = *trial.measurement;
  const double mean = m.window_samples / m.window_steps;
  if (!std::isfinite(mean) || mean <= 0.0) return std::nullopt;
  const double all_but_one = std::max(m.window_steps - 1.0, 0.0);
  return StepSize{mean, std::max(1.01 * mean, m.window_samples / all_but_one)};
}

/// Adds a note that a gain in the table comes from one trial, and says which gain fresh launches
/// confirmed.
void note_confirmed_gain(Leaderboard& board) {
  if (board.rows.empty() || board.objectives.empty()) return;
  if (!board.study.recommendation.is_object()) return;
  const auto result = recommendation_from_json(board.study.recommendation, board.study.name);
  if (!result || result->claim != Claim::faster) return;
  board.notes.push_back({fmt::format(
      "a gain is that of one trial of the search; fresh launches showed trial {} to be {}",
      result->incumbent_trial,
      speed_up_text(result->speed_up, board.objectives[0].objective,
                    text_at(board.study.document, "trials") == "attached"))});
}

void add_notes(Leaderboard& board) {
  note_confirmed_gain(board);
  if (board.drift_log_ratio != 0.0) {
    board.notes.push_back(
        {fmt::format("the machine became {:.0f} % {} during the search: ranks are corrected for "
                     "it, values are as measured",
                     100.0 * std::abs(std::expm1(board.drift_log_ratio)),
                     board.drift_log_ratio > 0.0 ? "slower" : "faster"),
         NoteSubject::drift});
  }
  std::optional<double> smallest;
  std::optional<double> largest;
  double least_full = k_infinity;
  for (const LeaderboardRow& row : board.rows) {
    const auto size = step_size(row.trial);
    if (!row.rank || !size) continue;
    smallest = std::min(smallest.value_or(size->mean), size->mean);
    largest = std::max(largest.value_or(size->mean), size->mean);
    least_full = std::min(least_full, size->full_at_most);
  }
  const bool compares_speed =
      std::any_of(board.objectives.begin(), board.objectives.end(),
                  [](const auto& view) { return view.objective.is_timed(); });
  if (compares_speed && smallest && *largest > least_full) {
    const auto guards = board.study.document.find("guards");
    const bool is_guarded = guards != board.study.document.end() && !guards->empty();
    board.notes.push_back(
        {fmt::format(
             "trials differ in batch size ({} to {} samples per step); a larger batch may need "
             "more samples to reach the same loss{}check it before the long run",
             format_number(*smallest), format_number(*largest),
             is_guarded ? ", and the guard sees a trial's samples only: "
                        : ": add a guard on the loss, or "),
         NoteSubject::batch_size});
  }
}

}  // namespace

bool was_disturbed(const TrialRecord& trial) {
  return trial.disturbance && is_disturbing(*trial.disturbance);
}

bool has_trade_offs(const Leaderboard& leaderboard) {
  return std::ranges::any_of(leaderboard.rows,
                             [](const LeaderboardRow& row) { return row.pareto && !row.best; });
}

Leaders leaders_of(const Standing& standing) {
  Leaders leaders;
  if (const TrialRecord* best = standing.incumbent()) {
    leaders.best = best->number;
    leaders.tied = standing.tied_with(*best);
    leaders.front = standing.front(*best);
  }
  return leaders;
}

Leaders leaders_of(const Recommendation& recommendation) {
  return {recommendation.incumbent_trial, recommendation.tied, recommendation.pareto};
}

void add_row(Leaderboard& board, TrialRecord trial, std::optional<std::int64_t> rank) {
  LeaderboardRow& row = board.rows.emplace_back();
  row.trial = std::move(trial);
  row.rank = rank;
}

void complete_rows(Leaderboard& board) {
  const auto is_baseline = [&](const LeaderboardRow& row) {
    return row.trial.number == board.baseline->number;
  };
  if (board.baseline && std::ranges::none_of(board.rows, is_baseline)) {
    add_row(board, *board.baseline);
  }
  for (LeaderboardRow& row : board.rows) {
    const TrialRecord& trial = row.trial;
    row.gains = gains_over(board.baseline, trial, board.objectives);
    if (board.scaling) {
      const auto& by_trial = board.scaling->efficiency_by_trial;
      const auto efficiency = by_trial.find(trial.number);
      if (efficiency != by_trial.end()) row.efficiency = efficiency->second;
    }
    if (board.machine_hours) row.machine_hours = board.machine_hours->by_trial[trial.number];
    if (!trial.measurement) continue;
    for (const auto& [name, value] : trial.measurement->metrics)
      board.metrics.insert(name);
  }
  mark_rows(board);
}

void describe_rows(Leaderboard& board) {
  split_parameters(board);
  add_notes(board);
}

Leaderboard make_leaderboard(Leaderboard board) {
  complete_rows(board);
  describe_rows(board);
  return board;
}

std::string counts_text(const std::map<TrialStatus, std::int64_t>& counts) {
  std::int64_t total = 0;
  std::string parts;
  for (const auto& [status, count] : counts) {
    if (count == 0) continue;
    total += count;
    parts +=
        fmt::format("{}{} {}", parts.empty() ? ": " : ", ", count, with_blanks(to_text(status)));
  }
  return fmt::format("{} trial{}{}", total, total == 1 ? "" : "s", parts);
}

}  // namespace steptune
