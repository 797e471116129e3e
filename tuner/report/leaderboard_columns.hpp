// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/leaderboard.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {

/// What a leaderboard can show, sort by and filter on.
struct LeaderboardColumn {
  std::string name;   ///< as options know it: `time`, `time_gain`, `samples_per_s`, `batch_size`
  std::string title;  ///< above the table
  Align align = Align::right;
  /// Where a terminal is too narrow, the least important columns go first; those above
  /// `k_never_dropped` stay.
  int importance = 0;
  bool is_default = true;        ///< shown without being asked for
  bool is_objective = false;     ///< the value of one
  bool is_parameter = false;     ///< parameters may share one column
  bool is_status = false;        ///< how the trial ended, and what it was for
  bool larger_is_first = false;  ///< when sorted by
  std::function<std::string(const LeaderboardRow&)> text;
  /// Nothing where the trial has none. SI units.
  std::function<std::optional<Value>(const LeaderboardRow&)> value;
};

/// `confirm incumbent`, `confirm, failed`: completed is what a trial is that nothing else is said
/// of. Shorter than the column `status`, for where room is scarce.
[[nodiscard]] std::string brief_status(const LeaderboardRow& row);

inline constexpr int k_never_dropped = 100;
/// Of a parameter's column.
inline constexpr int k_parameter_importance = 4;

/// All columns that a leaderboard of these objectives, parameters and trials has: trial, each
/// objective with interval and gain, speed, efficiency where the rows have it, status, then on
/// demand purpose, origin, times, memory and bill (as `trial.startup_s` where an objective has that
/// name), then the parameters (as `parameter.time` where a column has that name), then each
/// reported metric as `metric.loss`. The functions refer to the board's objectives, which outlive
/// them.
[[nodiscard]] std::vector<LeaderboardColumn> leaderboard_columns(
    const Leaderboard& board, const std::vector<std::string>& parameters);

/// The column of that name, else the first one that is headed so (`samples/s`); an error with the
/// nearest name if there is none.
[[nodiscard]] Result<LeaderboardColumn> column_named(const std::vector<LeaderboardColumn>& columns,
                                                     const std::string& name);

/// Stable; rows without a value come last.
void sort_rows(std::vector<LeaderboardRow>& rows, const LeaderboardColumn& column);

}  // namespace steptune
