// SPDX-License-Identifier: Apache-2.0
#include "search/space/parameter.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "tests/unit/search/spaces.hpp"

namespace steptune::testing {
namespace {

using ::testing::HasSubstr;

std::string parameter_fault(const Parameter& parameter) {
  const auto checked = parameter.check();
  EXPECT_FALSE(checked);
  return checked ? "" : checked.error().text();
}

std::vector<std::string> level_texts(const Parameter& parameter) {
  std::vector<std::string> texts;
  for (std::uint64_t level = 0; level < parameter.level_count().value_or(0); ++level) {
    texts.push_back(to_text(parameter.level(level)));
  }
  return texts;
}

TEST(Parameter, ListsItsLevels) {
  EXPECT_EQ(level_texts(integer("x", 2, 5)), (std::vector<std::string>{"2", "3", "4", "5"}));
  EXPECT_EQ(level_texts(stepped(integer("x", 1, 8), 3)), (std::vector<std::string>{"1", "4", "7"}));
  EXPECT_EQ(level_texts(integer("x", 16, 130, Scale::log2)),
            (std::vector<std::string>{"16", "32", "64", "128"}));
  EXPECT_EQ(level_texts(stepped(floating("x", 0, 0.3), 0.1)),
            (std::vector<std::string>{"0", "0.1", "0.2", "0.3"}));
  EXPECT_EQ(level_texts(boolean("x")), (std::vector<std::string>{"false", "true"}));
  EXPECT_EQ(floating("x", 0, 1).level_count(), std::nullopt);
  EXPECT_EQ(floating("x", 1, 1).level_count(), 1u);
}

TEST(Parameter, EveryLevelReadsBackFromItsPosition) {
  const std::vector<Parameter> parameters = {
      integer("a", -3, 9),
      integer("b", 1, 700, Scale::log),
      integer("c", 3, 5000, Scale::log2),
      stepped(floating("d", 0.05, 2.0), 0.05),
      boolean("e"),
      categorical("f", {text("x"), whole(3), Value{true}}),
      categorical("g", {whole(1), whole(4), whole(16)}, ParameterKind::ordinal),
      integer("h", 7, 7)};
  for (const Parameter& parameter : parameters) {
    ASSERT_TRUE(parameter.check()) << parameter.name;
    for (std::uint64_t level = 0; level < *parameter.level_count(); ++level) {
      const Value value = parameter.level(level);
      EXPECT_EQ(parameter.level_of(value), level) << parameter.name;
      const double position = parameter.position_of(value);
      EXPECT_EQ(parameter.at_position(position), value) << parameter.name << ' ' << position;
      if (!parameter.unordered()) {
        EXPECT_GE(position, 0.0);
        EXPECT_LE(position, 1.0);
      }
    }
  }
}

TEST(Parameter, PositionsFollowTheScale) {
  EXPECT_DOUBLE_EQ(integer("x", 16, 256, Scale::log2).position_of(whole(64)), 0.5);
  EXPECT_DOUBLE_EQ(integer("x", 1, 100, Scale::log).position_of(whole(10)), 0.5);
  EXPECT_DOUBLE_EQ(floating("x", 1e-4, 1e-2, Scale::log).position_of(Value{1e-3}), 0.5);
  EXPECT_TRUE(std::isnan(integer("x", 16, 256, Scale::log2).position_of(whole(48))));
  EXPECT_TRUE(std::isnan(floating("x", 0, 1).position_of(text("a"))));
  EXPECT_TRUE(std::isnan(floating("x", 0, 1).position_of(Value{1.5})));
  EXPECT_TRUE(std::isnan(boolean("x").position_of(whole(1))));
}

TEST(Parameter, ContinuousValuesAreShortAndStable) {
  const Parameter linear = floating("x", 0.0, 1.0);
  EXPECT_EQ(to_text(linear.at_position(1.0 / 3.0)), "0.333333");
  const Parameter log = floating("x", 1e-5, 1e-1, Scale::log);
  EXPECT_EQ(to_text(log.at_position(0.5)), "0.001");
  for (const double position : {0.0, 0.123456789, 0.999999, 1.0}) {
    for (const Parameter& parameter : {linear, log}) {
      const Value value = parameter.at_position(position);
      EXPECT_EQ(parameter.at_position(parameter.position_of(value)), value);
    }
  }
  EXPECT_EQ(log.at_position(1.0), Value{1e-1});
}

TEST(Parameter, QuantilesGiveEachLevelItsShare) {
  const Parameter even = integer("x", 1, 4);
  EXPECT_EQ(even.at_quantile(0.0), whole(1));
  EXPECT_EQ(even.at_quantile(0.2499), whole(1));
  EXPECT_EQ(even.at_quantile(0.25), whole(2));
  EXPECT_EQ(even.at_quantile(0.9999), whole(4));
  const Parameter log = integer("x", 1, 1000, Scale::log);
  int small = 0;
  for (int i = 0; i < 1000; ++i)
    small += to_number(log.at_quantile(i / 1000.0)) <= 31 ? 1 : 0;
  EXPECT_NEAR(small, 546, 5) << "log(31.5/0.5) / log(1000.5/0.5)";
}

TEST(Parameter, CountsFromZeroHaveALogScale) {
  const Parameter workers = integer("workers", 0, 127, Scale::log);
  ASSERT_TRUE(workers.check());
  EXPECT_DOUBLE_EQ(workers.position_of(whole(0)), 0.0);
  EXPECT_DOUBLE_EQ(workers.position_of(whole(127)), 1.0);
  // 1, 3, 7, 15, ... are at equal distances: each doubles 1 + workers.
  EXPECT_DOUBLE_EQ(workers.position_of(whole(15)), 4.0 / 7.0);
  for (std::int64_t count = 0; count <= 127; ++count)
    EXPECT_EQ(workers.at_position(workers.position_of(whole(count))), whole(count)) << count;
  EXPECT_EQ(workers.at_quantile(0.0), whole(0));
  EXPECT_EQ(workers.at_quantile(0.9999), whole(127));
}

TEST(Parameter, TakesTheSameNumberInEitherType) {
  EXPECT_EQ(integer("x", 0, 9).level_of(Value{4.0}), 4u);
  EXPECT_EQ(integer("x", 0, 9).level_of(Value{4.5}), std::nullopt);
  EXPECT_DOUBLE_EQ(floating("x", 0, 2).position_of(whole(1)), 0.5);
  EXPECT_EQ(categorical("x", {whole(1), whole(2)}).level_of(Value{2.0}), 1u);
  EXPECT_EQ(categorical("x", {whole(1), Value{true}}).level_of(Value{true}), 1u);
}

TEST(Parameter, FindsFaultsInDefinitions) {
  EXPECT_THAT(parameter_fault(integer("x", 5, 4)), HasSubstr("/low: the range is empty"));
  EXPECT_THAT(parameter_fault(integer("x", -1, 4, Scale::log)), HasSubstr("positive low"));
  EXPECT_THAT(parameter_fault(floating("x", 0, 4, Scale::log)), HasSubstr("positive low"));
  EXPECT_THAT(parameter_fault(integer("x", 0, 4, Scale::log2)), HasSubstr("positive low"));
  EXPECT_THAT(parameter_fault(integer("x", 17, 31, Scale::log2)), HasSubstr("no power of two"));
  EXPECT_THAT(parameter_fault(stepped(floating("x", 1, 4, Scale::log), 1)),
              HasSubstr("linear scale"));
  EXPECT_THAT(parameter_fault(stepped(floating("x", 1, 4), 0)), HasSubstr("not a positive"));
  EXPECT_THAT(parameter_fault(stepped(integer("x", 1, 4), 1.5)), HasSubstr("fraction"));
  EXPECT_THAT(parameter_fault(stepped(floating("x", 0, 1e9), 1e-9)), HasSubstr("too small"));
  EXPECT_THAT(parameter_fault(categorical("x", {})), HasSubstr("no choices"));
  EXPECT_THAT(parameter_fault(categorical("x", {text("a"), text("b"), text("a")})),
              HasSubstr("/choices/2: the choice \"a\" is repeated"));
  EXPECT_THAT(parameter_fault(categorical("x", {whole(1), Value{1.0}})), HasSubstr("repeated"));
  constexpr std::int64_t k_beyond_doubles = std::int64_t{1} << 53;
  const auto seeds = categorical("x", {whole(k_beyond_doubles), whole(k_beyond_doubles + 1)});
  EXPECT_TRUE(seeds.check()) << seeds.check().error().text();
}

}  // namespace
}  // namespace steptune::testing
