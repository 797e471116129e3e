// SPDX-License-Identifier: Apache-2.0
#include "common/text.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "common/utf8.hpp"

namespace steptune {
namespace {

TEST(NearestName, FindsALikelySlipOnly) {
  const std::vector<std::string> names{"batch_size", "workers", "precision"};
  EXPECT_EQ(nearest_name("worker", names), "workers");
  EXPECT_EQ(nearest_name("batchsize", names), "batch_size");
  EXPECT_EQ(nearest_name("wrokers", names), "workers");
  EXPECT_EQ(nearest_name("tdqm", std::vector<std::string>{"tqdm", "keras"}), "tqdm");
  EXPECT_EQ(nearest_name("learning_rate", names), std::nullopt);
  EXPECT_EQ(did_you_mean("precison", names), "; did you mean \"precision\"?");
}

TEST(PrintableLine, NeutralisesWhatATerminalWouldObey) {
  EXPECT_EQ(printable_line("a\x1b[31mred\x1b[0m\r\nb"), "ared | b");
  EXPECT_EQ(printable_line("\nfirst\n\nlast\n"), "first | last");
  EXPECT_EQ(printable_line(std::string_view("nul\0byte", 8)), "nulbyte");
  EXPECT_EQ(printable_line("bad\xff!"), "bad\xEF\xBF\xBD!");
  EXPECT_EQ(printable_line("\x1b]0;title\aof a window"), "of a window");
  EXPECT_EQ(printable_line("\x1b["), "");
  EXPECT_EQ(printable_line("plain ~"), "plain ~");
  EXPECT_EQ(printable_line("plain", 3), "pla");
  EXPECT_EQ(printable_line("plain\x7F"), "plain");
}

TEST(PrintableLines, KeepLinesApartAndNothingElseThatATerminalWouldObey) {
  EXPECT_EQ(printable_lines("one\x1b[31m\n  two\r\x07\n"), "one\n  two\n");
  EXPECT_EQ(printable_lines(""), "");
  EXPECT_EQ(printable_lines(std::string(5000, 'x')).size(), 5000U);
}

TEST(PrintableLine, CutsBetweenCharacters) {
  EXPECT_EQ(printable_line("\xC3\xA9\xC3\xA9", 3), "\xC3\xA9");
  EXPECT_EQ(printable_line("\xED\xA0\x80", 30), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(FileName, IsOneOfTheFolderItself) {
  for (const char* name : {"loss", "val loss", "a:b", "-x", "a..", "gr\xC3\xBCn"})
    EXPECT_TRUE(is_file_name(name)) << name;
  for (const char* name :
       {"", ".", "..", ".hidden", "a/b", "/etc", "../x", "a\nb", "\x1b[31m", "\x7f", "bad\xff"})
    EXPECT_FALSE(is_file_name(name)) << name;
  EXPECT_TRUE(is_file_name(std::string(255, 'x')));
  EXPECT_FALSE(is_file_name(std::string(256, 'x')));
}

TEST(AsUtf8, ReplacesWhatIsNotWellFormed) {
  EXPECT_EQ(as_utf8("plain \xC3\xA9\n"), "plain \xC3\xA9\n");
  EXPECT_EQ(as_utf8("\xff\xc3("), "\xEF\xBF\xBD\xEF\xBF\xBD(");
  EXPECT_EQ(as_utf8(""), "");
}

TEST(ParseFinite, TakesWholeFiniteNumbersOnly) {
  EXPECT_EQ(parse_finite("1.5"), 1.5);
  EXPECT_EQ(parse_finite("+2e3"), 2000.0);
  for (const char* bad : {"", "1.5abc", "1,5", "nan", "inf", "1e400", " 1", "0x10"}) {
    EXPECT_EQ(parse_finite(bad), std::nullopt) << bad;
  }
}

TEST(ParseDuration, UnitsAndSums) {
  EXPECT_EQ(parse_duration_s("90"), 90.0);
  EXPECT_EQ(parse_duration_s("30m"), 1800.0);
  EXPECT_EQ(parse_duration_s("1h30m"), 5400.0);
  EXPECT_EQ(parse_duration_s("250ms"), 0.25);
  for (const char* bad : {"", "m", "1x", "1h30", "-5s", "1..5s"}) {
    EXPECT_FALSE(parse_duration_s(bad)) << bad;
  }
}

TEST(ParseBytes, UnitsOfBothKinds) {
  EXPECT_EQ(parse_bytes("1e9"), 1e9);
  EXPECT_EQ(parse_bytes("512"), 512.0);
  EXPECT_EQ(parse_bytes("500MB"), 5e8);
  EXPECT_EQ(parse_bytes("1.5 GB"), 1.5e9);
  EXPECT_EQ(parse_bytes("2GiB"), 0x1p31);
  EXPECT_EQ(parse_bytes("64g"), 64e9);
  EXPECT_EQ(parse_bytes("7 B"), 7.0);
  for (const char* wrong : {"", "much", "5XB", "8 gigs", "GB", "1,5GB", "5 i", "5iB"})
    EXPECT_FALSE(parse_bytes(wrong)) << wrong;
}

TEST(Format, ForPeople) {
  EXPECT_EQ(format_duration(0.85), "850 ms");
  EXPECT_EQ(format_duration(4.21), "4.2 s");
  EXPECT_EQ(format_duration(860), "14 min 20 s");
  EXPECT_EQ(format_duration(41.2 * 3600), "41.2 h");
  EXPECT_EQ(format_duration(12.5 * 86400), "12.5 d");
  EXPECT_EQ(format_usd(49.926), "$49.93");
  EXPECT_EQ(format_usd(0.0041), "$0.0041");
  EXPECT_EQ(format_usd(0), "$0.00");
}

}  // namespace
}  // namespace steptune
