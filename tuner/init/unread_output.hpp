// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tuner/init/repeated_line.hpp"

namespace steptune {

/// Output in which no known format recognised progress.
struct UnreadOutput {
  bool is_empty = false;
  bool has_ended = false;  ///< the program ended by itself
  double watched_s = 0.0;
  double silent_s = 0.0;                 ///< since its last output; `watched_s` if there is none
  std::optional<RepeatedLine> repeated;  ///< line that repeats with other numbers
  std::filesystem::path log;             ///< file with the output; empty: none
};

/// Returns one line for people. It says that the program printed nothing, for how long it was
/// silent, or which line repeats.
[[nodiscard]] std::string unread_note(const UnreadOutput& output);

/// Returns several lines for people: `unread_note`, how to make progress readable, and the log.
[[nodiscard]] std::string unread_text(const UnreadOutput& output);

/// Returns a comment for a study file: a proposed `reports` section, commented out. Empty if there
/// is no proposal.
[[nodiscard]] std::string unread_comment(const UnreadOutput& output);

}  // namespace steptune
