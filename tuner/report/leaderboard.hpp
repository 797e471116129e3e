// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/json_record.hpp"
#include "tuner/history/history.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/study_scaling.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// True if the trial's disturbance over its whole time counts as disturbing (`is_disturbing`).
[[nodiscard]] bool was_disturbed(const TrialRecord& trial);

/// Numbers of the trials that a leaderboard marks.
struct Leaders {
  std::optional<std::int64_t> best;
  std::vector<std::int64_t> tied;  ///< statistically equal to the best
  std::vector<std::int64_t>
      front;  ///< with two objectives: the best and its trade-offs, see `Standing::front`
};
[[nodiscard]] Leaders leaders_of(const Standing& standing);
/// Returns the leaders as the study recommended them at its end, after confirming runs.
[[nodiscard]] Leaders leaders_of(const Recommendation& recommendation);

struct LeaderboardRow {
  TrialRecord trial;
  std::optional<std::int64_t> rank;  ///< nullopt for unranked trials, and for a best trial or
                                     ///< baseline that ranks below the other rows
  bool best = false;
  bool tied = false;
  /// True if other processes or the hypervisor disturbed the trial during its measurement.
  bool disturbed = false;
  bool pareto = false;                  ///< the best, or a trade-off against it
  std::optional<double> efficiency;     ///< efficiency of its machines, as in `steptune scaling`
  std::optional<double> machine_hours;  ///< see `MachineHours`
  std::vector<double> gains;  ///< gain over the baseline for each objective; NaN if unknown
};
/// Fields of a row in `--json`. `leaderboard_json` adds the fields of the trial and of its
/// machines.
template <>
const JsonRecord<LeaderboardRow>& json_record<LeaderboardRow>();

struct Leaderboard {
  StudyRecord study;
  std::vector<ObjectiveView> objectives;
  std::size_t sorted_by = 0;  ///< index of the objective
  /// Ranked trials, best first, then unranked trials: failed, infeasible, running, confirmations.
  std::vector<LeaderboardRow> rows;
  std::optional<TrialRecord> baseline;  ///< always has a row
  Leaders leaders;
  /// Natural logarithm of the machine's largest change of step time since the baseline ran. It is
  /// positive if the machine became slower, and 0 without drift.
  double drift_log_ratio = 0.0;
  std::map<TrialStatus, std::int64_t> counts;
  std::optional<StudyScaling> scaling;        ///< nullopt with fewer than two counts of machines
  std::optional<MachineHours> machine_hours;  ///< machine-hours of the whole study

  // `complete_rows` and `describe_rows` set the members below.
  std::set<std::string> metrics;  ///< metrics that the trials reported, including rows left out
  /// Parameters that differ among the rows, in order of declaration.
  std::vector<std::string> parameters;
  std::map<std::string, Value> constant;  ///< parameters that all rows share
  std::vector<Note> notes;
};

/// True if the Pareto front has a trial besides the best.
[[nodiscard]] bool has_trade_offs(const Leaderboard& leaderboard);

/// Adds a row that has only a trial and its rank.
void add_row(Leaderboard& board, TrialRecord trial, std::optional<std::int64_t> rank = {});

/// Adds a row for the baseline if it has none, and sets gains, marks and machines of all rows.
void complete_rows(Leaderboard& board);
/// Finds the parameters that all rows share and those that differ, and adds notes. Call it after
/// `complete_rows`. In between, the caller may remove rows.
void describe_rows(Leaderboard& board);
/// Returns `board` after `complete_rows` and `describe_rows`.
[[nodiscard]] Leaderboard make_leaderboard(Leaderboard board);

/// Style of text output.
struct TextStyle {
  bool color = false;
  std::size_t width = 0;  ///< columns of the terminal; 0: no limit
  /// Names of the columns to show, each from `leaderboard_columns`; if empty, the default columns.
  std::vector<std::string> columns{};
};

/// Returns the table, a legend of its marks, notes, the benefit of further machines, and counts;
/// ends with a newline. If the table is wider than the terminal, drops columns that matter less
/// than the parameters, the least important first. Never drops the columns that distinguish
/// unranked trials. If that is not enough, the parameters share one column (`ConfigurationColumn`).
/// Keeps all requested columns.
[[nodiscard]] std::string leaderboard_text(const Leaderboard& leaderboard, const TextStyle& style);
[[nodiscard]] Json leaderboard_json(const Leaderboard& leaderboard);

/// Returns CSV (RFC 4180), one line for each row, with raw values in SI units; `columns` as in
/// `TextStyle`. A text that a spreadsheet would interpret as a formula gets a leading apostrophe.
[[nodiscard]] std::string leaderboard_csv(const Leaderboard& leaderboard,
                                          const std::vector<std::string>& columns);

/// Returns `40 trials: 31 completed, 5 stopped early, 4 out of memory`.
[[nodiscard]] std::string counts_text(const std::map<TrialStatus, std::int64_t>& counts);

}  // namespace steptune
