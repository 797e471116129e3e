// SPDX-License-Identifier: Apache-2.0
#include "common/terminal_text.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(EscapeSequence, EndsWhereATerminalEndsIt) {
  struct Case {
    std::string_view text;
    std::size_t length;
  };
  const Case cases[] = {
      {"", 0},
      {"plain", 0},
      {"\x1b[1;32mgreen", 7},
      {"\x1b[K\x1b[A", 3},
      {"\x1b]0;title\atext", 10},
      {"\x1b]8;;link\x1b\\text", 11},
      {"\x1b(B", 2},
      {"\x1b", 1},
      {"\x1b[12", 4},
      {"\x1b]0;no end", 10},
      {"\x1b]0;cut\x1b", 8},
  };
  for (const auto& [text, length] : cases) {
    EXPECT_EQ(escape_sequence_length(text), length) << text.substr(text.empty() ? 0 : 1);
  }
}

}  // namespace
}  // namespace steptune
