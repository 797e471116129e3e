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

/// What was removed of a history and its logs, or would be.
struct Collected {
  std::vector<GcStep> steps;
  std::int64_t freed_bytes = 0;  ///< of the files
  std::int64_t left_bytes = 0;
};

/// What `collect` would do, about. `is_written`: another process tunes with the database.
[[nodiscard]] Result<Collected> plan_collection(const History& history,
                                                const std::filesystem::path& database,
                                                const GcRequest& request, bool is_written,
                                                double now_wall_s);

/// Removes what `request` asks for (`plan_gc`) and gives the room back to the file system. The
/// caller is the writer of the history and tunes nothing.
[[nodiscard]] Result<Collected> collect(History& history, const std::filesystem::path& database,
                                        const GcRequest& request, double now_wall_s);

/// The option `--history-limit SIZE`, which `when` says more of.
void add_history_limit_option(CLI::App& command, std::optional<std::uint64_t>& limit_bytes,
                              const std::string& when);

/// Collects where database and logs take more than the limit, after a study was tuned, which stays.
/// Returns what the user should know: that it was not reached, or why nothing could be removed.
[[nodiscard]] std::optional<std::string> keep_within(std::optional<std::uint64_t> limit_bytes,
                                                     History& history,
                                                     const std::filesystem::path& database,
                                                     const std::string& study, double now_wall_s);

/// What is said where a limit is not reached.
inline constexpr const char* k_limit_not_reached =
    "the limit is not reached: running studies, the latest one and those that retune needs are "
    "kept";

}  // namespace steptune
