// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/leaderboard.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {

/// A column by which a leaderboard can be shown, sorted and filtered.
struct LeaderboardColumn {
  std::string name;   ///< name in options: `time`, `time_gain`, `samples_per_s`, `batch_size`
  std::string title;  ///< title in the table
  Align align = Align::right;
  /// On a narrow terminal the least important columns are dropped first. Columns at or above
  /// `k_never_dropped` stay.
  int importance = 0;
  bool is_default = true;        ///< shown by default
  bool is_objective = false;     ///< the value of an objective
  bool is_parameter = false;     ///< parameters may share one column
  bool is_status = false;        ///< the column of a trial's status and purpose
  bool larger_is_first = false;  ///< sorting by this column puts large values first
  std::function<std::string(const LeaderboardRow&)> text;
  /// Returns the value in SI units; nullopt if the trial has no value.
  std::function<std::optional<Value>(const LeaderboardRow&)> value;
};

/// Returns a text that is shorter than the column `status`, for narrow terminals. For a confirming
/// run, returns `confirm incumbent` if it completed, otherwise `confirm, failed` and so on. For a
/// trial of the search, returns only its status.
[[nodiscard]] std::string brief_status(const LeaderboardRow& row);

/// Importance of a parameter's column.
inline constexpr int k_parameter_importance = 4;

/// Returns all columns of a leaderboard: trial; each objective with interval and gain; speed;
/// efficiency if the rows have it; status. Then come columns shown only on request: purpose,
/// origin, times, memory and bill (as `trial.startup_s` if an objective has that name). Then the
/// parameters (as `parameter.time` if a column has that name), and each reported metric as
/// `metric.loss`. The columns' functions refer to the board's objectives. These must outlive the
/// functions.
[[nodiscard]] std::vector<LeaderboardColumn> leaderboard_columns(
    const Leaderboard& board, const std::vector<std::string>& parameters);

/// Returns the column of that name. If there is none, returns the first column with that title
/// (`samples/s`). The error suggests the nearest name.
[[nodiscard]] Result<LeaderboardColumn> column_named(const std::vector<LeaderboardColumn>& columns,
                                                     const std::string& name);

/// Sorts rows by the column. Rows with equal values keep their order; rows without a value come
/// last.
void sort_rows(std::vector<LeaderboardRow>& rows, const LeaderboardColumn& column);

}  // namespace steptune
