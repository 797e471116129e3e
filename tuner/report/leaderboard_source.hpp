// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tuner/report/leaderboard.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

/// Reading more trials takes seconds. A leaderboard of a larger study reads only the trials shown,
/// and the study gets no page. Nobody uses such a study to choose a number of machines.
inline constexpr std::size_t k_many_trials = 10'000;

struct LeaderboardQuery {
  /// Limit for ranked trials; with `all`, also for the trials of each other status.
  std::size_t limit = 20;
  bool all = false;           ///< include trials that are not ranked
  std::size_t sorted_by = 0;  ///< index of the objective
  std::string sort_column{};  ///< name of a column to sort by; if empty, the objective
  bool pareto = false;        ///< only the best and its trade-offs
  bool feasible = false;      ///< only trials that completed within all limits
  std::string where{};        ///< expression over columns and facts; if empty, all rows
};

/// Reads the trials that a leaderboard shows. If the query sorts by the first objective, reads
/// about `limit` trials, even from a large study. If it sorts by another objective or selects rows,
/// reads all trials. Returns `usage` for an invalid expression or an unknown column. Other errors
/// are those of `stored_spec`, `stored_recommendation` and the history.
[[nodiscard]] Result<Leaderboard> read_leaderboard(const StoredStudy& study,
                                                   const LeaderboardQuery& query);

/// Makes a leaderboard of all trials in any state from a standing of all trials
/// (`read_whole_standing`). Saves time if the caller also needs this standing for other purposes.
/// Errors as in `read_leaderboard`.
[[nodiscard]] Result<Leaderboard> whole_leaderboard(const StoredStudy& study, Standing standing);

}  // namespace steptune
