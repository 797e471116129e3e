// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace steptune::example {

/// Returns the bytes of a file of at most 1 GiB. For an empty path, returns the licence texts of a
/// Debian system, in the order of their names (about 220 KB).
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& file);

/// A text as numbers: the byte values that occur, numbered in ascending order.
struct EncodedText {
  std::vector<std::uint8_t> symbols;
  int symbol_count = 0;
};
[[nodiscard]] EncodedText encode(std::string_view text);

}  // namespace steptune::example
