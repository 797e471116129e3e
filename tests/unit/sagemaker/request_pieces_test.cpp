// SPDX-License-Identifier: Apache-2.0
//
// Tests texts that are cut to the limits of CreateTrainingJob.
#include "trial_runner/sagemaker/request_pieces.hpp"

#include <iterator>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RequestPieces, JoinToTheTextInOrder) {
  EXPECT_THAT(pieces_of("abcdefg", 3), ElementsAre("abc", "def", "g"));
  EXPECT_THAT(pieces_of("abc", 3), ElementsAre("abc"));
  EXPECT_THAT(pieces_of("", 3), IsEmpty());
}

TEST(RequestPieces, DoNotCutACharacterInTwo) {
  EXPECT_THAT(pieces_of("ab\u00e4\u20ac", 3), ElementsAre("ab", "\u00e4", "\u20ac"));
  EXPECT_THAT(pieces_of("a\U0001F600b", 4), ElementsAre("a", "\U0001F600", "b"));
}

TEST(RequestPieces, PiecesOfAnyTextAreShortAndRestoreIt) {
  constexpr const char* k_characters[] = {"a", "\n", "'", "\u00e4", "\u20ac", "\U0001F600", " "};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "pieces");
    std::string text;
    for (std::uint64_t left = rng.below(200); left > 0; --left)
      text += k_characters[rng.below(std::size(k_characters))];
    const std::size_t longest = 4 + rng.below(20);
    std::string together;
    for (const std::string& piece : pieces_of(text, longest)) {
      ASSERT_FALSE(piece.empty());
      ASSERT_LE(piece.size(), longest);
      ASSERT_NE(static_cast<unsigned char>(piece.front()) & 0xc0U, 0x80U)
          << "begins inside a character";
      together += piece;
    }
    ASSERT_EQ(together, text);
  }
}

TEST(RequestPieces, BytesThatAreNoUtf8AreRestored) {
  const std::string continuation_bytes(50, '\x80');
  std::string together;
  for (const std::string& piece : pieces_of(continuation_bytes, 4))
    together += piece;
  EXPECT_EQ(together, continuation_bytes);
}

TEST(PutScript, SplitsTheScriptOverVariablesThatTheShellJoins) {
  const std::string script(2 * k_longest_variable + 10, 'x');
  std::map<std::string, std::string> environment{{"OTHER", "1"}};
  EXPECT_EQ(put_script(script, "STEP", environment), "eval \"$STEP_1$STEP_2$STEP_3\"");
  EXPECT_EQ(environment.size(), 4U);
  EXPECT_EQ(environment["STEP_1"] + environment["STEP_2"] + environment["STEP_3"], script);
  EXPECT_EQ(environment["STEP_1"].size(), k_longest_variable);
}

TEST(WithoutComments, KeepsTheCommandsOfAShellScript) {
  EXPECT_EQ(without_comments("#!/bin/sh\n# one\n\n  if true; then\n    # two\n    echo '#' a # b\n"
                             "  fi\n\n"),
            "if true; then\necho '#' a # b\nfi\n");
  EXPECT_EQ(without_comments("last line without an end"), "last line without an end");
  EXPECT_EQ(without_comments("a\n   \n# x"), "a\n");
  EXPECT_EQ(without_comments(""), "");
}

}  // namespace
}  // namespace steptune
