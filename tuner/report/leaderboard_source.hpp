// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tuner/report/leaderboard.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

struct LeaderboardQuery {
  std::size_t limit = 20;     ///< ranked trials, and trials of each other state with `all`
  bool all = false;           ///< trials that are not ranked, too
  std::size_t sorted_by = 0;  ///< objective
  std::string sort_column{};  ///< name of a column instead; empty: by the objective
  bool pareto = false;        ///< only the best and its trade-offs
  bool feasible = false;      ///< only trials that completed and respect all limits
  std::string where{};        ///< expression over columns and facts; empty: all
};

/// Reads what a leaderboard shows and no more: by the first objective, `limit` trials whatever the
/// size of the study; by another one, or where rows are selected, all of them. Errors of kind
/// `usage`: an expression or a column that does not exist; others are those of `stored_spec`, of
/// `stored_recommendation` and of the history.
[[nodiscard]] Result<Leaderboard> read_leaderboard(const StoredStudy& study,
                                                   const LeaderboardQuery& query);

/// Every trial of the study, whatever its state, from a standing of all of them
/// (`read_whole_standing`): for whoever needs that for more than the leaderboard. Errors as above.
[[nodiscard]] Result<Leaderboard> whole_leaderboard(const StoredStudy& study, Standing standing);

}  // namespace steptune
