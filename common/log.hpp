// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"

namespace steptune {

/// `info`: one line for each decision, with the numbers behind it. `debug`: what was looked at
/// without a decision, too.
enum class LogLevel { debug, info, warning, error, off };

/// Where the diagnostic log goes, and how much of it.
struct LogOptions {
  LogLevel level = LogLevel::off;
  std::filesystem::path file;  ///< appended to; empty: stderr
};

/// `LEVEL`, `FILE` (then `info`) or `LEVEL:FILE`, as in the variable STEPTUNE_LOG. A `FILE` alone
/// has a slash or a dot in it. Errors of kind `usage`.
[[nodiscard]] Result<LogOptions> parse_log_options(std::string_view text);

/// Begins, changes or (`off`) ends the log of this process. Errors of kind `store`: the file cannot
/// be written. Not thread safe; lines may be logged from any thread afterwards.
[[nodiscard]] Result<void> set_up_log(const LogOptions& options);

/// True where lines of this level are written.
[[nodiscard]] bool logs(LogLevel level);

/// One line, after time (UTC) and level; control characters are removed. A line that cannot be
/// written is lost: the log never stops what it tells about.
void write_log(LogLevel level, std::string_view line);

/// A line of which nothing is formatted unless it is written.
template <typename... Arguments>
void log_line(LogLevel level, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (logs(level)) write_log(level, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace steptune
