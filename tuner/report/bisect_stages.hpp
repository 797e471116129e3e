// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/report/judged_commands.hpp"

namespace steptune {

/// A stage of a bisection in the history: commands compared with the first one.
struct BisectStage {
  std::string study;  ///< name of the study that compared them
  std::vector<std::vector<std::string>> commands;
  bool is_finished = false;
  double elapsed_s = 0.0;
  JudgedCommands judged;  ///< result; only of a finished stage
};

/// Returns the stages of the bisection `name` in order: the studies `name`, `name-2`, `name-3` and
/// so on. Errors: the history's, or a study that this version cannot read.
[[nodiscard]] Result<std::vector<BisectStage>> read_bisect_stages(const History& history,
                                                                  const std::string& name);

}  // namespace steptune
