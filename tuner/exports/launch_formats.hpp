// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/long_run.hpp"

namespace steptune {

// Each is an error of kind `not_found` where the study has no command, and of kind `usage` where
// what is launched cannot be said in that form (a text that is no UTF-8 in JSON). Texts end with a
// newline.

/// `env OMP_NUM_THREADS=2 torchrun --standalone --nproc_per_node=1 train.py --batch 8`, words for a
/// shell: the program in as many processes as it was measured in, one on each machine. A command
/// that starts torchrun itself is left as it is; one that starts another launcher is a `usage`
/// error.
[[nodiscard]] Result<std::vector<std::string>> torchrun_words(const LongRun& run);

/// The same by `accelerate launch`; it is told the precision if a parameter called `precision`,
/// `mixed_precision`, `dtype` or `amp` has one of its values, and the threads it would set anew.
[[nodiscard]] Result<std::vector<std::string>> accelerate_words(const LongRun& run);

/// ENV instructions and a CMD in exec form. Variables that ENV cannot hold (line breaks, unusual
/// names) are set by env(1) in the CMD.
[[nodiscard]] Result<std::string> dockerfile_lines(const LongRun& run);

/// Lines for `$GITHUB_OUTPUT` of GitHub Actions: each parameter by its name, `configuration` (JSON)
/// and, where there is a command, `args` (a line for a shell) and `env` (KEY=VALUE lines for one).
[[nodiscard]] Result<std::string> github_output(const LongRun& run);

}  // namespace steptune
