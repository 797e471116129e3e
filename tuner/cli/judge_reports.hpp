// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/cli/console.hpp"
#include "tuner/report/fail_conditions.hpp"
#include "tuner/report/judged_commands.hpp"

namespace steptune {

/// Returns the exit code. Without conditions (`--fail-if`), `verdict_of_all` decides. With
/// conditions, returns `failure` if a command failed. Otherwise the first true condition decides,
/// in the order slower, worse, undecided. If no condition is true, or it is not known, returns
/// `ok`.
[[nodiscard]] ExitCode exit_code_of(const JudgedCommands& judged,
                                    const std::vector<FailResult>& results);

/// Returns annotations for GitHub Actions, a line for each command except the first. The level is
/// `error` if the command failed or a condition is true for it. Without conditions, it is `warning`
/// if the command is slower, worse or undecided. Otherwise it is `notice`.
[[nodiscard]] std::string github_annotations(const JudgedCommands& judged,
                                             const std::vector<FailResult>& results);

/// Returns the verdicts as a table in Markdown.
[[nodiscard]] std::string markdown_table(const JudgedCommands& judged);

/// Returns the figures in the text format of OpenMetrics, as GitLab's `artifacts:reports:metrics`
/// reads them.
[[nodiscard]] std::string open_metrics(const JudgedCommands& judged);

/// Shows the verdicts where a pipeline looks for them. Writes `open_metrics` to the file `report`,
/// unless that name is empty. In GitHub Actions (`GITHUB_ACTIONS`, `GITHUB_STEP_SUMMARY`), also
/// prints annotations on stderr and appends the table to the summary of the step. Fails if a file
/// cannot be written.
[[nodiscard]] Result<void> report_to_pipeline(Console& console, const JudgedCommands& judged,
                                              const std::vector<FailResult>& results,
                                              const std::filesystem::path& report);

}  // namespace steptune
