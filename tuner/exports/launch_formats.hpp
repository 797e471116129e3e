// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/long_run.hpp"

namespace steptune {

// Each function except `github_output` fails with `not_found` if the study has no command. Each
// function fails with `usage` if its format cannot express the run, such as a text that is not
// UTF-8 in JSON. Texts end with a newline.

/// Returns words for a shell: `env OMP_NUM_THREADS=2 torchrun --standalone --nproc_per_node=1
/// train.py --batch 8`. Starts as many processes as were measured, one on each machine. If the
/// command already starts torchrun, does not change it. If it starts another launcher, fails with
/// `usage`.
[[nodiscard]] Result<std::vector<std::string>> torchrun_words(const LongRun& run);

/// Returns words for a shell that start the program with `accelerate launch`. Passes the number of
/// threads, because accelerate would otherwise reset it. Also passes the precision if a parameter
/// called `precision`, `mixed_precision`, `dtype` or `amp` has one of accelerate's values.
[[nodiscard]] Result<std::vector<std::string>> accelerate_words(const LongRun& run);

/// Returns ENV instructions and a CMD in exec form. In the CMD, env(1) sets the variables that ENV
/// cannot express (line breaks, unusual names).
[[nodiscard]] Result<std::string> dockerfile_lines(const LongRun& run);

/// Returns lines for `$GITHUB_OUTPUT` of GitHub Actions: each parameter by name, and
/// `configuration` (JSON). If there is a command, adds `args` (a line for a shell) and `env`
/// (KEY=VALUE lines for a shell).
[[nodiscard]] Result<std::string> github_output(const LongRun& run);

}  // namespace steptune
