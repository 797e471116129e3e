// SPDX-License-Identifier: Apache-2.0
#include "search/space/expression.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> k_parameters = {"workers", "threads",  "precision",
                                               "amp",     "optim.lr", "sin"};
const Facts k_facts = {{"cpus", 8.0}, {"memory_gb", 32.0}};

Configuration example() {
  return Configuration({{"workers", Value{std::int64_t{3}}},
                        {"threads", Value{std::int64_t{2}}},
                        {"precision", Value{std::string("bf16")}},
                        {"amp", Value{true}},
                        {"optim.lr", Value{0.5}}});
}

double value_of(const std::string& text) {
  auto expression = Expression::compile(text, k_parameters, k_facts);
  EXPECT_TRUE(expression) << text << ": " << expression.error().text();
  return expression ? expression->evaluate(example()) : std::nan("");
}

std::string error_of(const std::string& text) {
  const auto expression = Expression::compile(text, k_parameters, k_facts);
  EXPECT_FALSE(expression) << text;
  return expression ? "" : expression.error().text();
}

TEST(Expression, ComputesWithParametersAndFacts) {
  EXPECT_EQ(value_of("workers + threads <= 2 * cpus"), 1.0);
  EXPECT_EQ(value_of("workers * threads"), 6.0);
  EXPECT_EQ(value_of("cpus % workers"), 2.0);
  EXPECT_EQ(value_of("2 ^ workers"), 8.0);
  EXPECT_EQ(value_of("min(workers, threads) + max(1, 2.5e1)"), 27.0);
  EXPECT_EQ(value_of("ceil(workers / threads)"), 2.0);
  EXPECT_EQ(value_of("floor(workers / threads)"), 1.0);
  EXPECT_EQ(value_of("floor(-1.5)"), -2.0);
  EXPECT_EQ(value_of("round(workers / 4)"), 1.0);
  EXPECT_EQ(value_of("round(2.5) + round(-2.4)"), 1.0);
  EXPECT_EQ(value_of("workers > 5 ? 10 : 20"), 20.0);
  EXPECT_EQ(value_of("optim.lr * 4"), 2.0);
  EXPECT_EQ(value_of("-workers + 1"), -2.0);
}

TEST(Expression, ComparesTexts) {
  EXPECT_EQ(value_of("precision == 'bf16'"), 1.0);
  EXPECT_EQ(value_of("precision == \"fp32\""), 0.0);
  EXPECT_EQ(value_of("precision != 'fp32'"), 1.0);
  EXPECT_EQ(value_of("'bf16' == precision && amp"), 1.0);
}

TEST(Expression, TakesWordsAndSymbolsForLogic) {
  EXPECT_EQ(value_of("workers > 5 or threads == 2"), 1.0);
  EXPECT_EQ(value_of("workers > 2 and threads == 3"), 0.0);
  EXPECT_EQ(value_of("!(workers > 2)"), 0.0);
  EXPECT_EQ(value_of("not workers > 5"), 1.0) << "comparisons bind more tightly than `not`";
  EXPECT_EQ(value_of("!workers > 5"), 0.0) << "! binds tightly";
  EXPECT_EQ(value_of("not not amp"), 1.0);
  EXPECT_EQ(value_of("!!amp"), 1.0);
  EXPECT_EQ(value_of("!!!amp"), 0.0);
  EXPECT_EQ(value_of("not not not workers > 5"), 1.0);
  EXPECT_EQ(value_of("not amp or workers == 3"), 1.0);
  EXPECT_EQ(value_of("amp == true && not false"), 1.0);
}

TEST(Expression, AnyNumberButZeroIsTrue) {
  EXPECT_EQ(value_of("0.5 and 1"), 1.0);
  EXPECT_EQ(value_of("0.25 or 0"), 1.0);
  EXPECT_EQ(value_of("-0.5 && 1e-9"), 1.0);
  EXPECT_EQ(value_of("optim.lr and 0.5"), 1.0);
  EXPECT_EQ(value_of("1e300 and 5e9"), 1.0);
  EXPECT_EQ(value_of("0.0 or 0 * 0.5"), 0.0);
  EXPECT_EQ(value_of("not 0.5"), 0.0);
  EXPECT_EQ(value_of("!0.5"), 0.0);
  EXPECT_EQ(value_of("3 and 0.5 ? 7 : 8"), 7.0);
}

/// Simplifying the formula to 0.29 * workers would give 28.999999999999996.
TEST(Expression, RoundsEachOperationAndNothingElse) {
  const auto floor_of_share =
      Expression::compile("floor(29 * workers / 100)", k_parameters, k_facts);
  ASSERT_TRUE(floor_of_share);
  EXPECT_EQ(floor_of_share->evaluate(std::vector<double>{100.0}), 29.0);
  const auto share = Expression::compile("workers * 29 / 100 == 29", k_parameters, k_facts);
  ASSERT_TRUE(share);
  EXPECT_TRUE(share->holds(std::vector<double>{100.0}));
  for (int exponent = 0; exponent <= 62; ++exponent) {
    EXPECT_EQ(value_of("log2(2 ^ " + std::to_string(exponent) + ")"), exponent);
  }
}

TEST(Expression, CountsInactiveParametersAsZeroAndAsNoText) {
  const auto number = Expression::compile("workers == 0", k_parameters, k_facts);
  const auto text = Expression::compile("precision == 'bf16'", k_parameters, k_facts);
  EXPECT_TRUE(number->holds(Configuration{}));
  EXPECT_FALSE(text->holds(Configuration{}));
}

TEST(Expression, NamesMayCollideWithTheLibrarysOwn) {
  const auto expression = Expression::compile("sin == 2", k_parameters, k_facts);
  ASSERT_TRUE(expression) << expression.error().text();
  EXPECT_TRUE(expression->holds(Configuration({{"sin", Value{std::int64_t{2}}}})));
}

TEST(Expression, HasNoValueForUndefinedArithmetic) {
  EXPECT_TRUE(std::isnan(value_of("(workers - 3) / (threads - 2)")));
  const auto expression = Expression::compile("0 / (workers - 3)", k_parameters, k_facts);
  EXPECT_FALSE(expression->holds(example()));
}

TEST(Expression, ListsWhatItMentions) {
  const auto expression = Expression::compile("threads > 1 && precision == 'x' && threads < cpus",
                                              k_parameters, k_facts);
  ASSERT_TRUE(expression);
  EXPECT_THAT(expression->mentioned_parameters(), ElementsAre("threads", "precision"));
  EXPECT_THAT(expression->compared_texts(), ElementsAre(std::pair("precision", "x")));
}

TEST(Expression, CopiesEvaluateIndependently) {
  const auto original = Expression::compile("workers > 1", k_parameters, k_facts);
  const Expression copy{*original};
  EXPECT_TRUE(copy.holds(example()));
  EXPECT_FALSE(original->holds(Configuration{}));
  EXPECT_TRUE(copy.holds(example()));
  EXPECT_EQ(copy.text(), "workers > 1");
}

TEST(Expression, ErrorsNameTheNearestNameAndThePosition) {
  EXPECT_EQ(
      error_of("worker > 0"),
      "at character 1 of \"worker > 0\": \"worker\" is neither a parameter nor a fact; did you "
      "mean \"workers\"?");
  EXPECT_THAT(error_of("workers > 0 && cpu < 3"), HasSubstr("character 16"));
  EXPECT_THAT(error_of("workers > 0 && cpu < 3"), HasSubstr("did you mean \"cpus\""));
  EXPECT_THAT(error_of("precision == bf16"), HasSubstr("put strings in quotes"));
  EXPECT_THAT(error_of("mn(1, 2)"), HasSubstr("did you mean \"min\""));
}

TEST(Expression, ErrorsOfSyntaxNameThePosition) {
  EXPECT_THAT(error_of("workers = 3"), HasSubstr("write =="));
  EXPECT_THAT(error_of("workers >"), HasSubstr("ends too early"));
  EXPECT_THAT(error_of("(workers > 1"), HasSubstr("not closed"));
  EXPECT_THAT(error_of("precision == 'bf16"), HasSubstr("character 14"));
  EXPECT_THAT(error_of("workers threads"), HasSubstr("character 9"));
  EXPECT_THAT(error_of("workers $ 2"), HasSubstr("unexpected \"$\""));
  EXPECT_THAT(error_of("workers, threads"), HasSubstr("unexpected \",\""));
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("precision > 'bf16'"), HasSubstr("== or !="));
  EXPECT_THAT(error_of("1.2.3 > 2"), HasSubstr("not a number"));
  EXPECT_THAT(error_of(std::string(5000, '1')), HasSubstr("longer than"));
}

TEST(Expression, AnyTextCompilesOrIsRefused) {
  const std::vector<std::string> pieces = {
      "workers", "precision", "cpus", "'bf16'", "\"", "'", "==", "!=", "=", "<=",  "!",   "not ",
      "and ",    " or ",      "(",    ")",      ",",  "?", ":",  "+",  "-", "1e9", ".5",  "1e",
      "min(",    "^",         "%",    " ",      "\n", "é", "p0", "c0", "~", "_pi", "0x1", ";"};
  int compiled = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng(seed, "expression");
    std::string text;
    for (std::uint64_t i = 0, n = 1 + rng.below(7); i < n; ++i) {
      text += pieces[rng.below(pieces.size())];
    }
    const auto expression = Expression::compile(text, k_parameters, k_facts);
    if (expression) {
      ++compiled;
      (void)expression->holds(example());
      (void)Expression(*expression).holds(Configuration{});
    } else {
      EXPECT_FALSE(expression.error().message.empty()) << text;
    }
  }
  EXPECT_GT(compiled, 300);
}

}  // namespace
}  // namespace steptune
