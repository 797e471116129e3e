// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/standing.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/study_scaling.hpp"

namespace steptune {

/// Over the whole trial, see `is_disturbing`.
[[nodiscard]] bool was_disturbed(const TrialRecord& trial);

/// What of a standing a leaderboard marks, by numbers of trials.
struct Leaders {
  std::optional<std::int64_t> best;
  std::vector<std::int64_t> tied;  ///< with the best: they cannot be told from it
  std::vector<std::int64_t>
      front;  ///< two objectives: best and its trade-offs, see `Standing::front`
};
[[nodiscard]] Leaders leaders_of(const Standing& standing);
/// As they were told at the end of a study, confirmation included.
[[nodiscard]] Leaders leaders_of(const Recommendation& recommendation);

struct LeaderboardRow {
  TrialRecord trial;
  std::optional<std::int64_t>
      rank;  ///< nothing for unranked trials, and a best or baseline that is far down
  bool best = false;
  bool tied = false;
  bool disturbed = false;            ///< by other processes or the hypervisor while it was measured
  bool pareto = false;               ///< best, or a trade-off against it
  std::optional<double> efficiency;  ///< of its machines, as `steptune scaling` tells it
  std::optional<double> machine_hours;  ///< see `MachineHours`
  std::vector<double> gains;            ///< per objective, over the baseline; NaN where unknown
};

/// What a leaderboard is made from. The trials stand in the order in which they are shown.
struct LeaderboardInput {
  StudyRecord study;
  std::vector<ObjectiveView> objectives;
  std::size_t sorted_by = 0;            ///< objective
  std::vector<TrialRecord> ranked;      ///< best first
  std::vector<TrialRecord> unranked;    ///< shown below: failed, infeasible, running, confirmations
  std::optional<TrialRecord> baseline;  ///< shown even where `ranked` does not contain it
  std::optional<TrialRecord> best{};    ///< the leaders', where `ranked` does not contain it
  Leaders leaders;
  /// Natural logarithm of how much longer everything took on the machine when that was farthest
  /// from what it was at the baseline; 0: it did not drift.
  double drift_log_ratio = 0.0;
  std::map<TrialStatus, std::int64_t> counts;
  std::optional<StudyScaling> scaling{};  ///< nothing with fewer than two counts of machines
  std::optional<MachineHours> machine_hours{};
};

struct Leaderboard {
  StudyRecord study;
  std::vector<ObjectiveView> objectives;
  std::size_t sorted_by = 0;
  std::vector<LeaderboardRow> rows;
  std::set<std::string> metrics;  ///< that the trials reported, those of rows left out included
  std::vector<std::string> parameters;    ///< that differ among the rows, in order of declaration
  std::map<std::string, Value> constant;  ///< parameters that all rows share
  std::map<TrialStatus, std::int64_t> counts;
  double drift_log_ratio = 0.0;               ///< as in `LeaderboardInput`
  std::optional<StudyScaling> scaling;        ///< likewise
  std::optional<MachineHours> machine_hours;  ///< of the whole study
  std::vector<Note> notes;
};

/// Whether a trial is on the front beside the best.
[[nodiscard]] bool has_trade_offs(const Leaderboard& leaderboard);

[[nodiscard]] Leaderboard make_leaderboard(LeaderboardInput input);

/// The two halves of `make_leaderboard`, for who selects among the rows in between: rows with
/// ranks, gains and marks; then what the rows that are left share, differ in, and want said of
/// them.
[[nodiscard]] Leaderboard ranked_rows(LeaderboardInput input);
void describe_rows(Leaderboard& board);

/// How text is written.
struct TextStyle {
  bool color = false;
  std::size_t width = 0;  ///< columns of the terminal; 0: no limit
  /// Names of `leaderboard_columns`; empty: the usual ones. All of them must exist.
  std::vector<std::string> columns{};
};

/// Table, legend of the marks in use, notes, what further machines pay, and counts; ends with a
/// newline. Where the table is wider than the terminal, columns that matter less than the
/// parameters go, the least important first, never those that tell unranked trials apart; where
/// that is not enough, the parameters share one column (`ConfigurationColumn`). Columns that were
/// asked for all stay.
[[nodiscard]] std::string leaderboard_text(const Leaderboard& leaderboard, const TextStyle& style);
[[nodiscard]] Json leaderboard_json(const Leaderboard& leaderboard);

/// RFC 4180, one line per row, with raw values in SI units; `columns` as in `TextStyle`. A text
/// that a spreadsheet would take for a formula begins with an apostrophe.
[[nodiscard]] std::string leaderboard_csv(const Leaderboard& leaderboard,
                                          const std::vector<std::string>& columns);

/// `40 trials: 31 completed, 5 stopped early, 4 out of memory`
[[nodiscard]] std::string counts_text(const std::map<TrialStatus, std::int64_t>& counts);

}  // namespace steptune
