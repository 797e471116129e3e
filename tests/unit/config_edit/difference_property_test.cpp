// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tuner/config_edit/text_edit.hpp"

namespace steptune {
namespace {

/// Splits a text into lines with their ends; the last line may have none.
std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

/// Parses `12,3` or `12`: first line and count.
std::pair<std::size_t, std::size_t> range_of(const std::string& text) {
  std::size_t first = 0;
  std::size_t count = 1;
  const auto end = text.data() + text.size();
  const auto comma = std::from_chars(text.data(), end, first).ptr;
  if (comma != end) std::from_chars(comma + 1, end, count);
  return {first, count};
}

/// Applies a unified difference exactly: every hunk must match at the lines in its header, in the
/// old and in the new text. patch(1) would also search nearby.
std::string strictly_patched(const std::string& text, const std::string& difference) {
  const auto old_lines = split_lines(text);
  const auto lines = split_lines(difference);
  std::vector<std::string> result;
  std::size_t at = 0;
  std::size_t i = 2;  // after the file names
  while (i < lines.size()) {
    const std::string& header = lines[i++];
    EXPECT_TRUE(header.starts_with("@@ -")) << header;
    const std::size_t plus = header.find(" +");
    const auto [old_first, old_count] = range_of(header.substr(4, plus - 4));
    const auto [new_first, new_count] =
        range_of(header.substr(plus + 2, header.find(" @@") - plus - 2));
    const std::size_t begin = old_count == 0 ? old_first : old_first - 1;
    EXPECT_LE(at, begin) << "hunks are in order";
    for (; at < begin && at < old_lines.size(); ++at)
      result.push_back(old_lines[at]);
    EXPECT_EQ(result.size(), new_count == 0 ? new_first : new_first - 1) << header;
    std::size_t taken = 0;
    std::size_t put = 0;
    for (; i < lines.size() && !lines[i].starts_with("@@"); ++i) {
      std::string line = lines[i].substr(1);
      const char mark = lines[i][0];
      if (i + 1 < lines.size() && lines[i + 1].starts_with('\\')) line.pop_back();
      if (mark == '\\') continue;
      if (mark != '+') {
        EXPECT_LT(at, old_lines.size());
        if (at < old_lines.size()) {
          EXPECT_EQ(line, old_lines[at]);
        }
        ++at;
        ++taken;
      }
      if (mark != '-') {
        result.push_back(line);
        ++put;
      }
    }
    EXPECT_EQ(taken, old_count) << header;
    EXPECT_EQ(put, new_count) << header;
  }
  std::string patched;
  for (const std::string& line : result)
    patched += line;
  for (; at < old_lines.size(); ++at)
    patched += old_lines[at];
  return patched;
}

TEST(UnifiedDifference, NamesTheLinesOfBothTextsWhateverIsEdited) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed, "difference");
    std::string text;
    const std::uint64_t count = 1 + rng.below(60);
    for (std::uint64_t line = 0; line < count; ++line)
      text += std::string(rng.below(4), static_cast<char>('a' + line % 26)) + "\n";
    if (rng.below(3) == 0) text += "no end";
    std::vector<TextEdit> edits;
    for (std::size_t at = rng.below(20); at < text.size(); at += 1 + rng.below(50)) {
      const std::size_t end = std::min(text.size(), at + rng.below(4));
      const char* const texts[] = {"X", "", "new\nlines\n", "two\nparts"};
      edits.push_back({at, end, texts[rng.below(4)]});
      at = end;
    }
    if (edits.empty()) continue;
    const std::string difference = unified_difference(text, edits, "f");
    EXPECT_TRUE(difference.starts_with("--- f\n+++ f\n@@ ")) << difference;
    ASSERT_EQ(strictly_patched(text, difference), edited_text(text, edits))
        << "seed " << seed << "\n"
        << difference;
  }
}

TEST(UnifiedDifference, HasThreeLinesOfContextAndJoinsNearHunks) {
  std::string text;
  for (int line = 0; line < 40; ++line)
    text += std::to_string(10 + line) + "\n";
  const auto hunks = [&](int first, int second) {
    const auto edit = [](int line) {
      const auto at = static_cast<std::size_t>(3 * line);
      return TextEdit{at, at + 2, "x"};
    };
    const auto lines = split_lines(unified_difference(text, {edit(first), edit(second)}, "f"));
    std::vector<std::string> headers;
    for (const std::string& line : lines)
      if (line.starts_with("@@")) headers.push_back(line);
    return headers;
  };
  EXPECT_EQ(hunks(10, 17), (std::vector<std::string>{"@@ -8,14 +8,14 @@\n"}))
      << "six lines between them: their contexts touch";
  EXPECT_EQ(hunks(10, 18), (std::vector<std::string>{"@@ -8,7 +8,7 @@\n", "@@ -16,7 +16,7 @@\n"}));
  EXPECT_EQ(hunks(0, 39), (std::vector<std::string>{"@@ -1,4 +1,4 @@\n", "@@ -37,4 +37,4 @@\n"}))
      << "no more than the text has";
}

}  // namespace
}  // namespace steptune
