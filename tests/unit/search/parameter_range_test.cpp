// SPDX-License-Identifier: Apache-2.0
// Tests the possible ranges of a parameter, and their text.
#include <cmath>

#include <gmock/gmock.h>

#include "search/space/parameter.hpp"
#include "tests/unit/search/spaces.hpp"

namespace steptune::testing {
namespace {

using ::testing::HasSubstr;

std::string fault_of(const Parameter& parameter) {
  const auto checked = parameter.check();
  return checked ? "" : checked.error().text();
}

Parameter of_choices(std::size_t count, ParameterKind kind = ParameterKind::categorical) {
  std::vector<Value> choices;
  for (std::size_t i = 0; i < count; ++i)
    choices.push_back(whole(static_cast<std::int64_t>(i)));
  return categorical("x", std::move(choices), kind);
}

TEST(ParameterRange, EndsAreFiniteNumbers) {
  const double nan = std::nan("");
  EXPECT_THAT(fault_of(floating("x", nan, 1)), HasSubstr("/low: not a finite number"));
  EXPECT_THAT(fault_of(floating("x", -INFINITY, 1)), HasSubstr("/low: not a finite number"));
  EXPECT_THAT(fault_of(floating("x", 0, nan)), HasSubstr("/high: not a finite number"));
  EXPECT_THAT(fault_of(floating("x", -1e308, 1e308)), HasSubstr("/high: not a finite number"))
      << "their difference is not finite either";
  EXPECT_EQ(fault_of(floating("x", 1, 1)), "");
  EXPECT_THAT(fault_of(floating("x", 1e-200, 1e200, Scale::log)),
              HasSubstr("/high: the range is too large for a log scale"));
}

TEST(ParameterRange, AnIntegerHasWholeEndsExactAsDoubles) {
  EXPECT_THAT(fault_of(integer("x", 1, 4.5)), HasSubstr("/high: 4.5 is not a whole number"));
  EXPECT_THAT(fault_of(integer("x", 1.5, 4)), HasSubstr("/low: 1.5 is not a whole number"));
  EXPECT_THAT(fault_of(integer("x", -0x1p54, 0)), HasSubstr("/low: -1.8014398509481984e+16 is"));
  EXPECT_THAT(fault_of(integer("x", 0, 0x1p54)), HasSubstr("/high: 1.8014398509481984e+16 is"));
  EXPECT_EQ(fault_of(stepped(integer("x", -0x1p53, 0x1p53), 0x1p20)), "");
}

TEST(ParameterRange, HasABoundedNumberOfLevels) {
  EXPECT_EQ(fault_of(integer("x", 0, 0x1p40)), "");
  EXPECT_THAT(fault_of(integer("x", 0, 0x1p40 + 1)), HasSubstr("/high: the range is too large"));
  EXPECT_EQ(fault_of(stepped(integer("x", 0, 0x1p41), 2)), "");
  EXPECT_EQ(fault_of(integer("x", 1, 0x1p53, Scale::log2)), "") << "54 powers of two";
  EXPECT_THAT(fault_of(stepped(floating("x", 0, 0x1p40), 0.5)),
              HasSubstr("/step: the step 0.5 is"));
  EXPECT_THAT(fault_of(stepped(floating("x", 0, 1), INFINITY)), HasSubstr("not a positive number"));
  EXPECT_THAT(fault_of(of_choices(10'001)), HasSubstr("10001 choices are more than 10000"));
}

TEST(ParameterRange, OnePowerOfTwoIsEnough) {
  EXPECT_EQ(fault_of(integer("x", 16, 16, Scale::log2)), "");
  EXPECT_EQ(fault_of(integer("x", 9, 31, Scale::log2)), "");
}

TEST(ParameterRange, ChoicesAreFiniteAndParametersHaveNames) {
  EXPECT_THAT(fault_of(categorical("x", {whole(1), Value{INFINITY}})),
              HasSubstr("/choices/1: a choice is not a finite number"));
  EXPECT_THAT(fault_of(boolean("")), HasSubstr("the name is empty"));
  EXPECT_EQ(fault_of(boolean("x")), "");
}

TEST(ParameterRange, IsDescribedInWords) {
  EXPECT_EQ(boolean("x").range_text(), "true or false");
  EXPECT_EQ(categorical("x", {text("fp32")}).range_text(), "\"fp32\"");
  EXPECT_EQ(categorical("x", {text("a"), text("b"), whole(3)}).range_text(), "\"a\", \"b\" or 3");
  EXPECT_EQ(of_choices(12, ParameterKind::ordinal).range_text(),
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 or 11");
  EXPECT_EQ(of_choices(14).range_text(), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 or 2 more");
  EXPECT_EQ(integer("x", 1, 8).range_text(), "1 to 8, whole numbers");
  EXPECT_EQ(integer("x", 16, 512, Scale::log2).range_text(), "16 to 512, powers of two");
  EXPECT_EQ(stepped(integer("x", 0, 8), 2).range_text(), "0 to 8 in steps of 2, whole numbers");
  EXPECT_EQ(stepped(floating("x", 0, 0.5), 0.1).range_text(), "0 to 0.5 in steps of 0.1");
}

TEST(ParameterValues, EndsAreExactHoweverLong) {
  const Parameter linear = floating("x", 0.123456789012, 7.123456789012);
  EXPECT_EQ(linear.at_position(0.0), Value{0.123456789012});
  EXPECT_EQ(linear.at_position(1.0), Value{7.123456789012});
  EXPECT_EQ(linear.at_position(-0.5), Value{0.123456789012});
  EXPECT_EQ(linear.at_position(1.5), Value{7.123456789012});
  EXPECT_EQ(linear.at_position(std::nan("")), Value{0.123456789012});
}

TEST(ParameterValues, AreShortInRangesOfAnySize) {
  EXPECT_EQ(to_text(floating("x", 0, 9e9).at_position(1.0 / 3.0)), "3000000000");
  EXPECT_EQ(to_text(floating("x", 0, 9e-9).at_position(1.0 / 7.0)), "1.285714e-09");
  EXPECT_EQ(to_text(floating("x", 0, 7e12).at_position(1.0 / 9.0)), "777778000000");
  // Numbers beyond exact powers of ten are not rounded.
  EXPECT_EQ(floating("x", 0, 3e40).at_position(0.5), Value{1.5e40});
  EXPECT_EQ(floating("x", 0, 3e-40).at_position(0.5), Value{1.5e-40});
}

TEST(ParameterValues, OnlyNearValuesAreSteps) {
  const Parameter steps = stepped(floating("x", 0, 1), 0.1);
  EXPECT_EQ(steps.level_of(Value{0.3}), 3U);
  EXPECT_EQ(steps.level_of(Value{0.1 + 0.2}), 3U) << "0.1 + 0.2 is not exactly 0.3";
  for (const double other : {0.35, 0.3001, 0.2999, -0.1, 1.1})
    EXPECT_EQ(steps.level_of(Value{other}), std::nullopt) << other;
  EXPECT_EQ(steps.level_of(Value{std::nan("")}), std::nullopt);
  EXPECT_EQ(steps.level_of(text("0.3")), std::nullopt);
  EXPECT_EQ(to_text(stepped(floating("x", -0.3, 0.3), 0.1).level(3)), "0");
  EXPECT_EQ(to_text(stepped(floating("x", -0.3, 0.3), 0.1).level(4)), "0.1");
  EXPECT_EQ(to_text(stepped(floating("x", -1e-9, 1), 1e-9).level(2)), "1e-09");
  EXPECT_EQ(to_text(stepped(floating("x", 1e-12, 1), 0.01).level(0)), "1e-12") << "not 0";
  EXPECT_EQ(integer("x", 1, 64, Scale::log2).level_of(whole(0)), std::nullopt);
  EXPECT_EQ(integer("x", 1, 64, Scale::log2).level_of(whole(128)), std::nullopt);
  EXPECT_EQ(categorical("x", {text("a")}).level_of(text("b")), std::nullopt);
  EXPECT_EQ(categorical("x", {text("a")}).level_of(whole(1)), std::nullopt);
}

TEST(ParameterValues, OnALogScaleAreTheNearestWholeNumber) {
  const Parameter factors = integer("x", 1, 1000, Scale::log);
  // The middle between 1 and 2 on the scale is their geometric mean.
  const double of_2 = factors.position_of(whole(2));
  EXPECT_EQ(factors.at_position(0.49 * of_2), whole(1));
  EXPECT_EQ(factors.at_position(0.51 * of_2), whole(2));
  EXPECT_EQ(factors.at_position(1.0), whole(1000));
  EXPECT_EQ(integer("x", 7, 7, Scale::log).at_position(0.7), whole(7));
  EXPECT_EQ(integer("x", 7, 7, Scale::log).at_quantile(0.7), whole(7));
}

}  // namespace
}  // namespace steptune::testing
