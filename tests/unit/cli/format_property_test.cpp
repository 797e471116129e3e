// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

/// Returns a random number of any size and sign.
double any_number(Rng& rng) {
  const double size = std::pow(10.0, -12.0 + 24.0 * rng.uniform());
  return rng.below(4) == 0 ? -size : size;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

TEST(FormatProperty, NumbersReadBackToFourDigits) {
  Rng rng(1, "numbers");
  for (int i = 0; i < 5000; ++i) {
    const double value = any_number(rng);
    const std::string text = format_number(value);
    const auto read = parse_finite(text);
    ASSERT_TRUE(read) << text;
    EXPECT_NEAR(*read, value, 0.5005e-3 * std::abs(value)) << text;
    EXPECT_LE(text.size(), 11U) << "fits a column";
  }
}

TEST(FormatProperty, ALargerNumberIsNeverPrintedAsASmallerOne) {
  Rng rng(2, "order");
  for (int i = 0; i < 5000; ++i) {
    const double a = std::abs(any_number(rng));
    const double b = a * (1.0 + 0.01 * rng.uniform());
    EXPECT_LE(*parse_finite(format_number(a)), *parse_finite(format_number(b)));
    const auto ratio = [](double value) { return std::stod(format_ratio(value)); };
    EXPECT_LE(ratio(a), ratio(b));
    const auto percent = [](double value) { return std::stod(format_percent(value)); };
    EXPECT_LE(percent(a), percent(b)) << a << " " << b;
  }
}

TEST(FormatProperty, SharesReadBackWithinHalfOfTheirLastDigit) {
  Rng rng(3, "shares");
  for (int i = 0; i < 5000; ++i) {
    const double share = std::pow(10.0, -6.0 + 7.0 * rng.uniform());
    const std::string text = format_percent(share);
    ASSERT_TRUE(text.ends_with(" %"));
    const double digit = share < 0.000995 ? 0.06 * share * 100 : share < 0.0995 ? 0.0501 : 0.501;
    EXPECT_NEAR(std::stod(text), 100.0 * share, digit) << text;
  }
}

TEST(FormatProperty, BytesReadBackInTheirUnit) {
  const std::map<std::string, double> units = {
      {"B", 1.0}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  Rng rng(4, "bytes");
  for (int i = 0; i < 5000; ++i) {
    const double bytes = std::floor(std::pow(10.0, 15.0 * rng.uniform()));
    std::istringstream text(format_bytes(bytes));
    double number = 0.0;
    std::string unit;
    text >> number >> unit;
    ASSERT_TRUE(units.contains(unit)) << unit;
    EXPECT_NEAR(number * units.at(unit), bytes, 0.051 * bytes);
    if (unit != "TiB") {
      EXPECT_LT(number, 1024.0);
    }
    if (unit != "B") {
      EXPECT_GE(number, 1.0);
    }
  }
}

TEST(FormatProperty, ElidedTextsAreAsWideAsTheyMayBeAndKeepBothEnds) {
  Rng rng(5, "elided");
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (std::uint64_t n = rng.below(40); n > 0; --n)
      text += rng.below(4) == 0 ? "ü" : std::string(1, static_cast<char>('a' + rng.below(26)));
    const std::size_t whole = display_width(text);
    for (std::size_t width = 0; width < 45; ++width) {
      const std::string elided = elide_middle(text, width);
      EXPECT_EQ(display_width(elided), std::min(whole, width)) << text << " in " << width;
      if (whole <= width) {
        EXPECT_EQ(elided, text);
      }
      if (whole <= width || width < 5) continue;
      const std::size_t dots = elided.find("...");
      ASSERT_NE(dots, std::string::npos);
      EXPECT_TRUE(text.starts_with(elided.substr(0, dots)));
      EXPECT_TRUE(text.ends_with(elided.substr(dots + 3)));
    }
  }
}

TEST(FormatProperty, WrappedLinesKeepEveryWordAndBreakNoneTooEarly) {
  Rng rng(6, "wrapped");
  for (int i = 0; i < 400; ++i) {
    std::vector<std::string> words;
    std::string text;
    for (std::uint64_t n = 1 + rng.below(20); n > 0; --n) {
      words.emplace_back(1 + rng.below(9), static_cast<char>('a' + rng.below(26)));
      text += (text.empty() ? "" : " ") + words.back();
    }
    for (const std::size_t width : {0U, 5U, 10U, 20U, 40U}) {
      const std::string result = wrapped(text, width);
      std::istringstream stream(result);
      std::vector<std::string> read;
      for (std::string word; stream >> word;)
        read.push_back(word);
      EXPECT_EQ(read, words);
      const auto lines = lines_in(result);
      if (width == 0) {
        EXPECT_EQ(lines.size(), 1U);
      }
      for (std::size_t line = 0; width > 0 && line < lines.size(); ++line) {
        const bool one_word = lines[line].find(' ') == std::string::npos;
        EXPECT_TRUE(one_word || lines[line].size() <= width) << lines[line];
        if (line + 1 == lines.size()) continue;
        const std::string next = lines[line + 1].substr(0, lines[line + 1].find(' '));
        EXPECT_GT(lines[line].size() + 1 + next.size(), width) << "the next word would have fitted";
      }
    }
  }
}

TEST(FormatProperty, ColumnsOfTablesAreAlignedForAnyCells) {
  Rng rng(7, "tables");
  for (int i = 0; i < 200; ++i) {
    const std::size_t columns = 1 + rng.below(5);
    std::vector<TextTable::Column> heads;
    for (std::size_t c = 0; c < columns; ++c) {
      heads.push_back({std::string(1 + rng.below(6), static_cast<char>('A' + c)),
                       rng.below(2) == 0 ? Align::left : Align::right});
    }
    TextTable table(heads);
    std::vector<std::size_t> widths;
    for (const auto& head : heads)
      widths.push_back(head.title.size());
    for (std::uint64_t rows = rng.below(6); rows > 0; --rows) {
      std::vector<std::string> cells;
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t size = rng.below(8);
        std::string cell(size, static_cast<char>('a' + c));
        widths[c] = std::max(widths[c], size);
        if (rng.below(3) == 0 && size > 0) cell = "\x1b[1m" + cell + "\x1b[0m";
        cells.push_back(cell);
      }
      table.add_row(cells);
    }
    std::size_t whole = 2 * (columns - 1);
    for (const std::size_t width : widths)
      whole += width;
    EXPECT_EQ(table.width(), whole);
    for (const std::string& line : lines_in(table.text())) {
      EXPECT_LE(display_width(line), whole);
      EXPECT_FALSE(line.ends_with(' '));
      std::string plain;
      for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '\x1b') {
          at = line.find('m', at);
          continue;
        }
        plain += line[at];
      }
      std::size_t begin = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        const std::string cell = begin < plain.size() ? plain.substr(begin, widths[c]) : "";
        const std::string others = cell.substr(0, cell.find_last_not_of(' ') + 1);
        for (const char letter : others) {
          EXPECT_TRUE(letter == ' ' || std::tolower(letter) == static_cast<char>('a' + c))
              << "column " << c << " of " << plain;
        }
        begin += widths[c] + 2;
      }
    }
  }
}

}  // namespace
}  // namespace steptune
