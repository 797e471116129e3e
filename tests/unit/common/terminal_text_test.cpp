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

TEST(CharacterSize, IsWhatATerminalGivesIt) {
  struct Case {
    std::string_view text;
    std::size_t bytes;
    std::size_t columns;
  };
  const Case cases[] = {{"ab", 1, 1},          {"\n", 1, 1},          {"\u00fcb", 2, 1},
                        {"\u6f22", 3, 2},      {"\U0001f600x", 4, 2}, {"\u0301", 2, 0},
                        {"\xff\xff", 1, 1},    {"\xe6\xbc", 1, 1},    {"\u200b", 3, 0},
                        {"\uac00\u0301", 3, 2}};
  for (const auto& [text, bytes, columns] : cases) {
    EXPECT_EQ(character_size(text).bytes, bytes) << text;
    EXPECT_EQ(character_size(text).columns, columns) << text;
  }
}

}  // namespace
}  // namespace steptune
