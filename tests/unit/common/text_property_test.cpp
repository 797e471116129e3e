// SPDX-License-Identifier: Apache-2.0
// Properties of text from outside with random bytes, over fixed seeds.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "common/terminal_text.hpp"
#include "common/text.hpp"
#include "common/utf8.hpp"

namespace steptune {
namespace {

/// Returns letters, control characters, escape sequences and pieces of UTF-8 in random order.
std::string random_bytes(Rng& rng, std::size_t most_pieces = 30) {
  static const std::vector<std::string> k_pieces{"a",
                                                 "Z",
                                                 " ",
                                                 "\n",
                                                 "\r\n",
                                                 "\t",
                                                 "\x1b",
                                                 "\x1b[31m",
                                                 "\x1b]0;t",
                                                 "\a",
                                                 "\x1b\\",
                                                 "\xC3\xA9",
                                                 "\xC3",
                                                 "\xFF",
                                                 "\x7F",
                                                 "\xC2\x9B",
                                                 "\xC2\x80",
                                                 "\xE2\x82\xAC",
                                                 "\xED\xA0\x80",
                                                 "\xF0\x9F\x98\x80",
                                                 "\"",
                                                 "|",
                                                 "{",
                                                 "<",
                                                 "\x01",
                                                 "0"};
  std::string text;
  for (std::uint64_t i = rng.below(most_pieces); i > 0; --i)
    text += k_pieces[rng.below(k_pieces.size())];
  return text;
}

/// True if the text has control characters of a terminal: ASCII's, or those of ISO 6429 in UTF-8.
bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const bool is_c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (is_c1) return true;
  }
  return false;
}

TEST(AnyText, PrintableLinesAreUtf8WithoutControls) {
  Rng rng(1, "texts");
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string text = random_bytes(rng);
    const std::size_t most = rng.below(40);
    const std::string line = printable_line(text, most);
    EXPECT_LE(line.size(), most) << seed;
    EXPECT_TRUE(is_utf8(line)) << seed;
    EXPECT_FALSE(has_control(line)) << seed;
    EXPECT_EQ(printable_line(line, most), line) << "once is enough: " << seed;
  }
}

TEST(AnyText, PrintableLinesKeepTheirCount) {
  Rng rng(1, "texts");
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string text = random_bytes(rng);
    const std::string lines = printable_lines(text);
    EXPECT_EQ(std::ranges::count(lines, '\n'), std::ranges::count(text, '\n')) << seed;
    EXPECT_TRUE(is_utf8(lines)) << seed;
    std::string without_ends = lines;
    std::erase(without_ends, '\n');
    EXPECT_FALSE(has_control(without_ends)) << seed;
  }
}

TEST(AnyText, AsUtf8IsUtf8AndKeepsValidText) {
  Rng rng(1, "texts");
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string text = random_bytes(rng);
    const std::string valid = as_utf8(text);
    EXPECT_TRUE(is_utf8(valid)) << seed;
    EXPECT_EQ(as_utf8(valid), valid) << seed;
    if (is_utf8(text)) {
      EXPECT_EQ(valid, text) << seed;
    }
  }
}

TEST(AnyText, AFileNameStaysInItsFolder) {
  int names = 0;
  Rng rng(1, "names");
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string name = random_bytes(rng, 4);
    if (!is_file_name(name)) continue;
    ++names;
    EXPECT_EQ(name.find('/'), std::string::npos);
    EXPECT_NE(name, "..");
    EXPECT_FALSE(has_control(name)) << seed;
    EXPECT_EQ(printable_line(name), name) << "it is shown unchanged";
  }
  EXPECT_GT(names, 100);
}

TEST(AnyText, AnEscapeSequenceIsPartOfTheTextItBegins) {
  Rng rng(1, "escapes");
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::string text = "\x1b" + random_bytes(rng, 6);
    const std::size_t length = escape_sequence_length(text);
    EXPECT_GE(length, 1U);
    EXPECT_LE(length, text.size());
    EXPECT_EQ(escape_sequence_length(text.substr(1)) > 0, text.size() > 1 && text[1] == '\x1b');
  }
}

TEST(NearestNameProperty, IsFoundAfterOneSlip) {
  const std::vector<std::string> names{"batch_size", "num_workers", "precision", "prefetch_factor"};
  Rng rng(1, "slips");
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string& meant = names[rng.below(names.size())];
    std::string slip = meant;
    const std::size_t at = rng.below(slip.size() - 1);
    switch (rng.below(4)) {
      case 0:
        slip.erase(at, 1);
        break;
      case 1:
        slip.insert(at, 1, 'x');
        break;
      case 2:
        slip[at] = 'x';
        break;
      default:
        std::swap(slip[at], slip[at + 1]);
    }
    EXPECT_EQ(nearest_name(slip, names), meant) << slip;
    EXPECT_NE(did_you_mean(slip, names).find('"' + meant + '"'), std::string::npos) << slip;
  }
}

TEST(AnyNumber, IsReadBackAsWritten) {
  Rng rng(1, "numbers");
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const double number = rng.normal() * std::pow(10.0, 40.0 * rng.uniform() - 20.0);
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", number);
    EXPECT_EQ(parse_finite(text), number) << text;
  }
}

TEST(AnyDuration, IsReadBackWithinItsRounding) {
  Rng rng(1, "durations");
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const double seconds = std::pow(10.0, 9.0 * rng.uniform() - 2.0);
    std::string text = format_duration(seconds);
    std::erase(text, ' ');
    const std::size_t minutes = text.find("min");
    if (minutes != std::string::npos) text.replace(minutes, 3, "m");
    const auto read = parse_duration_s(text);
    ASSERT_TRUE(read) << format_duration(seconds);
    EXPECT_NEAR(*read, seconds, 0.051 * seconds) << format_duration(seconds);
  }
}

TEST(Money, AnyAmountHasTwoSignificantDigits) {
  Rng rng(1, "money");
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const double usd = std::pow(10.0, 12.0 * rng.uniform() - 7.0);
    const std::string text = format_usd(usd);
    ASSERT_EQ(text.front(), '$');
    EXPECT_EQ(text.find('e'), std::string::npos) << text;
    const auto read = parse_finite(text.substr(1));
    ASSERT_TRUE(read) << text;
    EXPECT_NEAR(*read, usd, 0.06 * usd) << text;
    EXPECT_EQ(format_usd(-usd), "-" + text);
  }
}

}  // namespace
}  // namespace steptune
