// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tuner/init/repeated_line.hpp"

namespace steptune {

/// Output in which nothing was read as progress.
struct UnreadOutput {
  bool is_empty = false;
  bool has_ended = false;  ///< the program ended by itself
  double watched_s = 0.0;
  std::optional<RepeatedLine> repeated;
  std::filesystem::path log;  ///< the output; empty: not in a file
};

/// For people, one line: nothing was printed, or which line came how often.
[[nodiscard]] std::string unread_note(const UnreadOutput& output);

/// For people, several lines: the same, what makes progress readable, and the log.
[[nodiscard]] std::string unread_text(const UnreadOutput& output);

/// Comment of a study file in front of the key that follows `reports`; empty if no expression is
/// known.
[[nodiscard]] std::string unread_comment(const UnreadOutput& output);

}  // namespace steptune
