// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// The standard stream that a failed program lacked, by its own last words.
enum class LackedStream {
  none,
  terminal,  ///< "Inappropriate ioctl for device", "not a tty"
  input,     ///< "EOF when reading a line"
};

[[nodiscard]] LackedStream lacked_stream(std::string_view last_words);

/// How a study gives it, for people; empty for `none`.
[[nodiscard]] std::string advice_for(LackedStream lacked);

}  // namespace steptune
