// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_edit/text_edit.hpp"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

/// Returns the result of patch(1) on `text` with the difference.
std::string patched(const std::string& text, const std::string& difference) {
  const TemporaryFolder folder("patch");
  std::ofstream(folder.path() / "f", std::ios::binary) << text;
  std::ofstream(folder.path() / "d", std::ios::binary) << difference;
  const std::string command =
      fmt::format("cd {} && patch --binary --fuzz=0 -s f d", folder.path().string());
  EXPECT_EQ(std::system(command.c_str()), 0) << difference;
  return read_file(folder.path() / "f");
}

TEST(UnifiedDifference, IsWhatDiffShows) {
  EXPECT_EQ(unified_difference("a\nb\nc\nd\ne\nf\n", {{4, 5, "X"}}, "f"),
            "--- f\n+++ f\n@@ -1,6 +1,6 @@\n a\n b\n-c\n+X\n d\n e\n f\n");
  EXPECT_EQ(unified_difference("a", {{0, 1, "b"}}, "f"),
            "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
            "\\ No newline at end of file\n");
  EXPECT_EQ(unified_difference("a\n", {}, "f"), "");
}

TEST(UnifiedDifference, IsAppliedByPatchToTheSameText) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += fmt::format("line {}\n", i);
  const auto at = [&](int line) { return text.find(fmt::format("line {}\n", line)); };
  for (const auto& edits : std::vector<std::vector<TextEdit>>{
           {{at(0), at(0) + 4, "first"}},
           {{at(59), text.size(), "last"}},
           {{at(10), at(13) + 2, "four lines become one"}, {at(15), at(15), "more\nlines\n"}},
           {{at(1), at(1) + 1, "x"}, {at(1) + 2, at(1) + 3, "y"}, {at(30), at(30) + 1, "\n\n"}},
           {{at(20), at(21), ""}, {at(27), at(28), ""}, {at(40), at(41), ""}}}) {
    EXPECT_EQ(patched(text, unified_difference(text, edits, "f")), edited_text(text, edits));
  }
}

}  // namespace
}  // namespace steptune
