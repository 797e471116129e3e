// SPDX-License-Identifier: Apache-2.0
#include "common/shell_quote.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(PosixQuoted, LeavesPlainWordsUnchanged) {
  for (const char* word : {"train.py", "--lr=1e-3", "a/b_c", "x@y:z,1+2%", "AZaz09"})
    EXPECT_EQ(posix_quoted(word), word);
}

TEST(PosixQuoted, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(posix_quoted(""), "''");
  EXPECT_EQ(posix_quoted("a b"), "'a b'");
  EXPECT_EQ(posix_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(posix_quoted("$HOME"), "'$HOME'");
  EXPECT_EQ(posix_quoted("=ls"), "'=ls'") << "zsh expands it";
  for (const char c : std::string("`!*?[](){}<>|&;#~\\\"\n\t"))
    EXPECT_EQ(posix_quoted(std::string(1, c)), "'" + std::string(1, c) + "'");
  EXPECT_EQ(posix_quoted("\xC3\xA9"), "'\xC3\xA9'");
}

TEST(PosixQuoted, WordsBecomeOneLine) {
  EXPECT_EQ(posix_quoted(std::vector<std::string>{"train", "a b", ""}), "train 'a b' ''");
  EXPECT_EQ(posix_quoted(std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace steptune
