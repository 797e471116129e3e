// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace steptune {

/// The standard stream that a failed program needed and did not have, judged by its last output.
enum class LackedStream {
  none,
  terminal,  ///< "Inappropriate ioctl for device", "not a tty"
  input,     ///< "EOF when reading a line"
};

[[nodiscard]] LackedStream lacked_stream(std::string_view last_words);

/// Says, for people, how a study provides the stream; empty for `none`.
[[nodiscard]] std::string advice_for(LackedStream lacked);

}  // namespace steptune
