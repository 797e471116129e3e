// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "common/text.hpp"

namespace steptune {
namespace {

TEST(Format, NumbersKeepFourSignificantDigits) {
  EXPECT_EQ(format_number(0.0), "0");
  EXPECT_EQ(format_number(3.14159), "3.142");
  EXPECT_EQ(format_number(0.041666), "0.04167");
  EXPECT_EQ(format_number(1842.4), "1842");
  EXPECT_EQ(format_number(-12.5), "-12.5");
  EXPECT_EQ(format_number(1.23456e12), "1.235e+12");
  EXPECT_EQ(format_number(1e-7), "1e-07");
  EXPECT_EQ(format_number(std::nan("")), "-");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "-");
}

TEST(Format, RatiosAndShares) {
  EXPECT_EQ(format_ratio(2.1349), "2.13x");
  EXPECT_EQ(format_ratio(412.6), "413x");
  EXPECT_EQ(format_percent(0.0181), "1.8 %");
  EXPECT_EQ(format_percent(0.0995), "10 %");
  EXPECT_EQ(format_percent(0.4), "40 %");
  EXPECT_EQ(format_percent(0.00012), "0.012 %");
  EXPECT_EQ(format_percent(0.0), "0.0 %");
}

TEST(Format, BytesInBinaryUnits) {
  EXPECT_EQ(format_bytes(812), "812 B");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
  EXPECT_EQ(format_bytes(200.0 * 1024), "200 KiB");
}

TEST(Format, TimesAreIso8601InUtc) {
  EXPECT_EQ(format_utc(0.0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_utc(1795246560.9), "2026-11-21T07:36:00Z");
  EXPECT_EQ(format_utc(-1.0), "1969-12-31T23:59:59Z");
  EXPECT_EQ(format_utc(1e300), "9999-12-31T23:59:59Z");
  EXPECT_EQ(format_utc(std::nan("")), "1970-01-01T00:00:00Z");
}

TEST(Format, OnlyVeryLargeOrSmallNumbersHaveAnExponent) {
  EXPECT_EQ(format_number(1000.0), "1000");
  EXPECT_EQ(format_number(999.96), "1000");
  EXPECT_EQ(format_number(9999999.0), "9999999");
  EXPECT_EQ(format_number(1e7), "1e+07");
  EXPECT_EQ(format_number(1e-4), "0.0001");
  EXPECT_EQ(format_number(9.9e-5), "9.9e-05");
  EXPECT_EQ(format_number(-0.00001), "-1e-05");
}

TEST(Format, NumbersThatAreNotFiniteAreADash) {
  const double none = std::nan("");
  EXPECT_EQ(format_ratio(none), "-");
  EXPECT_EQ(format_percent(none), "-");
  EXPECT_EQ(format_bytes(none), "-");
}

TEST(Format, RatiosAndSharesLoseDigitsAsTheyGrow) {
  EXPECT_EQ(format_ratio(0.00333), "0.0033x");
  EXPECT_EQ(format_ratio(0.0949), "0.095x");
  EXPECT_EQ(format_ratio(0.0951), "0.10x");
  EXPECT_EQ(format_ratio(0.0), "0.00x");
  EXPECT_EQ(format_ratio(-1.5), "-1.50x");
  EXPECT_EQ(format_factor(0.00333), "0.0033") << "intervals show factors without the x";
  EXPECT_EQ(format_factor(123.4), "123");
  EXPECT_EQ(format_ratio(99.9), "99.90x");
  EXPECT_EQ(format_ratio(100.0), "100x");
  EXPECT_EQ(format_percent(0.001), "0.1 %");
  EXPECT_EQ(format_percent(0.0994), "9.9 %");
  EXPECT_EQ(format_percent(-0.0181), "-1.8 %");
  EXPECT_EQ(format_percent(-0.4), "-40 %");
}

TEST(Format, BytesRoundUpToTheNextUnit) {
  constexpr double k_mib = 1024.0 * 1024.0;
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(99.9 * 1024.0), "99.9 KiB");
  EXPECT_EQ(format_bytes(100.0 * 1024.0), "100 KiB");
  EXPECT_EQ(format_bytes(k_mib - 1.0), "1.0 MiB");
  EXPECT_EQ(format_bytes(-2.0 * k_mib), "-2.0 MiB");
  EXPECT_EQ(format_bytes(5000.0 * k_mib * k_mib), "5000 TiB") << "there is no larger unit";
}

TEST(Format, ConfigurationsFollowTheOrderOfTheStudyThenTheirNames) {
  Configuration configuration;
  configuration.set("a", std::int64_t{1});
  configuration.set("b", std::string("x\ny"));
  configuration.set("c", true);
  EXPECT_EQ(configuration_text(configuration, {"c", "gone", "a"}), "c=true a=1 b=x | y");
  EXPECT_EQ(configuration_text({}, {"a"}), "");
  EXPECT_EQ(value_or_dash(configuration, "a"), "1");
  EXPECT_EQ(value_or_dash(configuration, "gone"), "-");
  EXPECT_EQ(value_or_dash(configuration, "c", 2), "tr");
}

TEST(Format, WidthCountsColumnsWithoutAnsiSequences) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("\x1b[1;32mabc\x1b[0m"), 3U);
  EXPECT_EQ(display_width("gr\xc3\xbcn"), 4U);
  EXPECT_EQ(display_width("\x1b[1"), 0U) << "a sequence that was cut off";
  EXPECT_EQ(display_width("\u6f22\u5b57 \U0001f600"), 7U) << "wide characters";
  EXPECT_EQ(display_width("e\u0301"), 1U) << "a mark that combines";
  EXPECT_EQ(display_width("a\xff\xe6\xbc"), 4U) << "bytes that are no characters";
}

TEST(Format, ElidingKeepsBothEndsAndNeverExceedsTheWidth) {
  EXPECT_EQ(elide_middle("batch_size=256 threads=2", 24), "batch_size=256 threads=2");
  EXPECT_EQ(elide_middle("batch_size=256 threads=2", 13), "batch...ads=2");
  EXPECT_EQ(elide_middle("\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57", 8), "\u6f22...\u5b57");
  EXPECT_EQ(elide_middle("e\u0301e\u0301abe\u0301e\u0301", 5), "e\u0301...e\u0301");
  EXPECT_EQ(elide_middle("abcdef", 2), "..");
  EXPECT_EQ(elide_middle("abcdef", 0), "");
  EXPECT_EQ(elide_middle("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 5),
            "\xc3\xbc...\xc3\xbc");
  for (std::size_t width = 0; width < 30; ++width) {
    EXPECT_LE(display_width(elide_middle("\x1b[32mworkers=6 prefetch=4\x1b[0m", width)), width);
  }
}

TEST(Format, LinesBreakBetweenWordsAndNotBeforeAPerCent) {
  EXPECT_EQ(wrapped("gains 70 % each", 9), "gains\n70 % each\n");
  EXPECT_EQ(wrapped("each gains 70 %", 13), "each gains\n70 %\n");
  EXPECT_EQ(wrapped("a word wider than its line", 4), "a\nword\nwider\nthan\nits\nline\n");
  EXPECT_EQ(wrapped("100 %", 3), "100 %\n");
}

TEST(Format, EntriesAreWrappedBelowTheirTexts) {
  const std::string lines = "best   a b c\nwhy    one two three\n";
  EXPECT_EQ(wrapped_entries(lines, 16, 7), "best   a b c\nwhy    one two\n       three\n");
  EXPECT_EQ(wrapped_entries(lines, 0, 7), lines) << "no limit";
  EXPECT_EQ(wrapped_entries(lines, 6, 7), lines) << "no room beside the titles";
  EXPECT_EQ(wrapped_entries("one two three", 8, 0), "one two\nthree\n");
  EXPECT_EQ(wrapped_entries("", 8, 0), "");
  EXPECT_EQ(wrapped_entry("failed  night 12", 14, 7), "failed  night\n        12\n")
      << "blanks after the title stay";
}

TEST(Format, ConfigurationsCannotDriveTheTerminal) {
  Configuration configuration;
  configuration.set("name", std::string("a\x1b[2Jb\nc"));
  const std::string text = configuration_text(configuration, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace steptune
