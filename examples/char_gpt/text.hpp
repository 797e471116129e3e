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

/// A file's bytes; with an empty path the licence texts that every Debian system has, one after the
/// other in the order of their names (about 220 KB). At most 1 GiB.
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& file);

/// A text as numbers: each byte value that occurs has one, in ascending order.
struct EncodedText {
  std::vector<std::uint8_t> symbols;
  int symbol_count = 0;
};
[[nodiscard]] EncodedText encode(std::string_view text);

}  // namespace steptune::example
