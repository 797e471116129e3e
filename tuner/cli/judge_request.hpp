// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/environment.hpp"
#include "common/error.hpp"
#include "tuner/cli/judging.hpp"
#include "tuner/init/judge_study.hpp"
#include "tuner/report/fail_conditions.hpp"

namespace steptune {

/// Checked options of `judge`.
struct CheckedJudgeOptions {
  /// With `--git`, `commands` are as given. With `--trial`, there are none.
  JudgeRequest request;
  std::vector<FailCondition> conditions;  ///< of `--fail-if`
};

/// Checks the options. For `--env` and `--venv`, makes one command for each version from the given
/// command. Returns `usage` for wrong options. Also fails if a file cannot be read or written.
[[nodiscard]] Result<CheckedJudgeOptions> checked_judge_options(const JudgeOptions& options,
                                                                const Environment& environment);

}  // namespace steptune
