// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/error.hpp"
#include "tuner/history/gc_plan.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// Result of removing parts of a history and its logs, done or planned.
struct Collected {
  std::vector<GcStep> steps;
  std::int64_t freed_bytes = 0;  ///< bytes freed in files
  std::int64_t left_bytes = 0;
};

/// Returns approximately what `collect` would do. `is_written` is true if another process has the
/// database open for writing.
[[nodiscard]] Result<Collected> plan_collection(const History& history,
                                                const std::filesystem::path& database,
                                                const GcRequest& request, bool is_written,
                                                double now_wall_s);

/// Removes what `request` selects (`plan_gc`) and returns the space to the file system. The caller
/// must have the history open for writing and must not tune a study at the same time.
[[nodiscard]] Result<Collected> collect(History& history, const std::filesystem::path& database,
                                        const GcRequest& request, double now_wall_s);

/// Adds the option `--history-limit SIZE`. The option's help begins with `when`, which says when
/// data are removed; may be empty.
void add_history_limit_option(CLI::App& command, std::optional<std::uint64_t>& limit_bytes,
                              const std::string& when);

/// Removes data if database and logs exceed the limit after `study` was tuned; keeps that study.
/// Returns a warning for the user if they still exceed the limit, or if removing failed.
[[nodiscard]] std::optional<std::string> keep_within(std::optional<std::uint64_t> limit_bytes,
                                                     History& history,
                                                     const std::filesystem::path& database,
                                                     const std::string& study, double now_wall_s);

/// Message if a limit is not reached.
inline constexpr const char* k_limit_not_reached =
    "the limit is not reached: running studies, the latest one and those that retune or a campaign "
    "needs are kept";

}  // namespace steptune
