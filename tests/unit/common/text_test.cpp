// SPDX-License-Identifier: Apache-2.0
#include "common/text.hpp"

#include <cmath>
#include <limits>
#include <utility>
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

TEST(LowerCase, ChangesAsciiLettersAlone) {
  EXPECT_EQ(lower_case("Batch-Size 12 [Z]"), "batch-size 12 [z]");
  EXPECT_EQ(lower_case("\xC3\x89"), "\xC3\x89") << "a letter beyond ASCII";
}

TEST(PrintableLine, NeutralisesControlSequences) {
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

TEST(PrintableLines, KeepNewlinesButNoOtherControls) {
  EXPECT_EQ(printable_lines("one\x1b[31m\n  two\r\x07\n"), "one\n  two\n");
  EXPECT_EQ(printable_lines(""), "");
  EXPECT_EQ(printable_lines(std::string(5000, 'x')).size(), 5000U);
}

TEST(PrintableLine, CutsBetweenCharacters) {
  EXPECT_EQ(printable_line("\xC3\xA9\xC3\xA9", 3), "\xC3\xA9");
  EXPECT_EQ(printable_line("\xED\xA0\x80", 30), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(NearestName, MayDifferByAThirdOfItsLengthAndByOneEditAtLeast) {
  const auto nearest = [](std::string_view name, const std::string& candidate) {
    return nearest_name(name, std::vector<std::string>{candidate}).has_value();
  };
  EXPECT_TRUE(nearest("ab", "ac"));
  EXPECT_FALSE(nearest("ab", "cd"));
  EXPECT_TRUE(nearest("abcdef", "abcdxy")) << "two of six";
  EXPECT_FALSE(nearest("abcdef", "abcxyz")) << "three of six";
  EXPECT_TRUE(nearest("abc", "abcd"));
  EXPECT_TRUE(nearest("abcd", "abc"));
  EXPECT_TRUE(nearest("ba", "ab")) << "neighbours swapped are one edit";
  EXPECT_FALSE(nearest("cba", "abc"));
  EXPECT_FALSE(nearest_name("x", std::vector<std::string>{}));
}

TEST(NearestName, IsTheFirstOfEquallyNearNames) {
  const std::vector<std::string> names{"axe", "abx", "abc"};
  EXPECT_EQ(nearest_name("abe", names), "axe");
  EXPECT_EQ(nearest_name("abc", names), "abc") << "none is nearer than the name itself";
  EXPECT_EQ(did_you_mean("zzz", names), "");
}

TEST(PrintableLine, CountsTheSeparatorsOfLinesAmongItsBytes) {
  EXPECT_EQ(printable_line("ab\ncd", 7), "ab | cd");
  EXPECT_EQ(printable_line("ab\ncd", 5), "ab") << "a separator never ends the line";
  EXPECT_EQ(printable_line("a\tb"), "a b");
}

TEST(Utf8, LengthsFollowTheUnicodeStandard) {
  const std::vector<std::pair<std::string, std::size_t>> sequences{
      {"a", 1},
      {"\x7F", 1},
      {"\x80", 0},      // a lone continuation byte
      {"\xC1\xBF", 0},  // overlong
      {"\xC2\x80", 2},
      {"\xDF\xBF", 2},
      {"\xDF", 0},          // truncated
      {"\xE0\x9F\xBF", 0},  // overlong
      {"\xE0\xA0\x80", 3},
      {"\xED\x9F\xBF", 3},
      {"\xED\xA0\x80", 0},  // a surrogate
      {"\xEE\x80\x80", 3},
      {"\xEF\xBF\xBF", 3},
      {"\xE1\xA0", 0},  // truncated
      {"\xE1\xA0z", 0},
      {"\xF0\x8F\xBF\xBF", 0},  // overlong
      {"\xF0\x90\x80\x80", 4},
      {"\xF4\x8F\xBF\xBF", 4},
      {"\xF4\x90\x80\x80", 0},  // beyond U+10FFFF
      {"\xF5\x80\x80\x80", 0},
      {"\xF1\x80\x80", 0},  // truncated
      {"\xF1\x80zz", 0},
  };
  for (const auto& [text, length] : sequences) {
    EXPECT_EQ(utf8_length(text, 0), length) << testing::PrintToString(text);
    EXPECT_EQ(utf8_length("x" + text, 1), length) << testing::PrintToString(text);
    EXPECT_EQ(is_utf8(text), length == text.size()) << testing::PrintToString(text);
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain \xC3\xA9\xE2\x82\xAC\xF0\x9F\x8E\x89"));
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
  EXPECT_EQ(parse_share("5%"), 0.05);
  EXPECT_EQ(parse_share("0.05"), 0.05);
  EXPECT_EQ(parse_share("%"), std::nullopt);
  EXPECT_EQ(parse_finite("1.5"), 1.5);
  EXPECT_EQ(parse_finite("+2e3"), 2000.0);
  for (const char* bad :
       {"", "1.5abc", "1,5", "nan", "inf", "1e400", " 1", "0x10", "+-5", "++5", "+"}) {
    EXPECT_EQ(parse_finite(bad), std::nullopt) << bad;
  }
}

TEST(ParseDuration, UnitsAndSums) {
  EXPECT_EQ(parse_duration_s("90"), 90.0);
  EXPECT_EQ(parse_duration_s("30m"), 1800.0);
  EXPECT_EQ(parse_duration_s("1h30m"), 5400.0);
  EXPECT_EQ(parse_duration_s("250ms"), 0.25);
  EXPECT_EQ(parse_duration_s("2d"), 172800.0);
  EXPECT_EQ(parse_duration_s("1m500ms"), 60.5);
  for (const char* bad : {"", "m", "1x", "1h30", "-5s", "1..5s", ".", "1 h", "1e3"}) {
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
  EXPECT_EQ(parse_bytes("3KiB"), 3072.0);
  EXPECT_EQ(parse_bytes("3 TiB"), 3.0 * 0x1p40);
  EXPECT_EQ(parse_bytes("0"), 0.0);
  for (const char* wrong : {"", "much", "5XB", "8 gigs", "GB", "1,5GB", "5 i", "5iB", "-5",
                            "-1.5 GB", "5 apples", "5 bytes", "nan", "1e400"})
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

TEST(Format, DurationsRoundUpToTheNextUnit) {
  const std::vector<std::pair<double, std::string>> durations{
      {0.0, "0 ms"},
      {0.001, "1 ms"},
      {0.9994, "999 ms"},
      {0.9996, "1.0 s"},
      {1.0, "1.0 s"},
      {59.94, "59.9 s"},
      {59.96, "1 min"},
      {60.0, "1 min"},
      {61.0, "1 min 1 s"},
      {3599.0, "59 min 59 s"},
      {3599.6, "1.0 h"},
      {3600.0, "1.0 h"},
      {71.9 * 3600.0, "71.9 h"},
      {72.0 * 3600.0, "3.0 d"},
      {-90.0, "-1 min 30 s"},
  };
  for (const auto& [seconds, text] : durations)
    EXPECT_EQ(format_duration(seconds), text) << seconds;
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(format_duration(std::nan("")), "-");
  EXPECT_EQ(format_duration(864e20), "1000000000000000000.0 d") << "too many days for an integer";
}

TEST(Format, MoneyHasTwoDigitsHoweverLittleItIs) {
  const std::vector<std::pair<double, std::string>> amounts{
      {0.1, "$0.10"},        {0.0951, "$0.10"},     {0.0949, "$0.095"},    {0.05, "$0.05"},
      {0.00016, "$0.00016"}, {4.1e-5, "$0.000041"}, {2e-7, "$0.00000020"}, {1234.5, "$1234.50"},
      {1e-10, "$0.00"},      {-0.29, "-$0.29"},     {-0.0041, "-$0.0041"},
  };
  for (const auto& [usd, text] : amounts)
    EXPECT_EQ(format_usd(usd), text) << usd;
  EXPECT_EQ(format_usd(std::nan("")), "-");
  EXPECT_EQ(format_usd(-0.0), "$0.00");
  EXPECT_EQ(format_usd(-1e-10), "$0.00") << "zero has no sign";
}

}  // namespace
}  // namespace steptune
