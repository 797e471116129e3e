// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"

namespace steptune {

/// Levels of the log. `info` writes one line for each decision, with its numbers. `debug` adds
/// lines about checks that led to no decision.
enum class LogLevel { debug, info, warning, error, off };

/// Destination and level of the diagnostic log.
struct LogOptions {
  LogLevel level = LogLevel::off;
  std::filesystem::path file;  ///< the log is appended to this file; if empty, written to stderr
};

/// Parses the variable STEPTUNE_LOG: `LEVEL`, `FILE` (at level `info`) or `LEVEL:FILE`. A `FILE`
/// alone must contain a slash or a dot. Errors are of kind `usage`.
[[nodiscard]] Result<LogOptions> parse_log_options(std::string_view text);

/// Starts, changes or (`off`) ends this process's log. Errors of kind `store`: the file cannot be
/// written. Not thread-safe; afterwards any thread may log lines.
[[nodiscard]] Result<void> set_up_log(const LogOptions& options);

/// True if lines of this level are written.
[[nodiscard]] bool logs(LogLevel level);

/// Writes one line with time (UTC) and level. Removes control characters from `line` and cuts it at
/// 4096 bytes. A line that cannot be written is lost: the log never stops the program.
void write_log(LogLevel level, std::string_view line);

/// Writes a line, but formats it only if lines of this level are written.
template <typename... Arguments>
void log_line(LogLevel level, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (logs(level)) write_log(level, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace steptune
