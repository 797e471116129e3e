// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/space/expression.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> k_names = {"workers", "threads", "precision", "amp"};
const Facts k_machine = {{"cpus", 8.0}, {"gpus", 2.0}};

/// A formula as text, with its value and how tightly its outermost operator binds.
struct Formula {
  std::string text;
  double value = 0.0;
  int binds = 0;
};

// Precedence according to the header and docs/study-file.md, loosest first.
constexpr int k_choice = 0;
constexpr int k_or = 1;
constexpr int k_and = 2;
constexpr int k_not = 3;
constexpr int k_comparison = 4;
constexpr int k_sum = 5;
constexpr int k_product = 6;
constexpr int k_atom = 9;

/// Random formulas of small whole numbers, whose arithmetic is exact. They have only the
/// parentheses that their operators need.
class Formulas {
 public:
  Formulas(std::uint64_t seed, Configuration configuration)
      : rng_(seed, "formulas"), configuration_(std::move(configuration)) {}

  Formula any(int depth) {
    if (depth == 0) return atom();
    switch (rng_.below(8)) {
      case 0:
        return logical(depth);
      case 1:
        return negation(depth);
      case 2:
        return comparison(depth);
      case 3:
        return choice(depth);
      case 4:
        return function(depth);
      case 5:
        return {"(" + any(depth - 1).text + ")", last_, k_atom};
      default:
        return arithmetic(depth);
    }
  }

 private:
  /// Returns the formula, in parentheses if it binds more loosely than its position needs.
  static std::string within(const Formula& formula, int binds) {
    return formula.binds < binds ? "(" + formula.text + ")" : formula.text;
  }
  Formula made(std::string text, double value, int binds) {
    last_ = value;
    return {std::move(text), value, binds};
  }
  std::string gap() { return rng_.below(3) == 0 ? "  " : " "; }

  Formula atom() {
    switch (rng_.below(6)) {
      case 0:
        return made("workers", number("workers"), k_atom);
      case 1:
        return made("threads", number("threads"), k_atom);
      case 2:
        return made("cpus", 8.0, k_atom);
      case 3:
        return made(rng_.below(2) == 0 ? "true" : "amp", 1.0, k_atom);
      case 4: {
        const bool equal = rng_.below(2) == 0;
        const std::string text = rng_.below(2) == 0 ? "'bf16'" : "\"fp32\"";
        const bool same = (text == "'bf16'") == equal;
        return made("precision " + std::string(equal ? "==" : "!=") + gap() + text,
                    same ? 1.0 : 0.0, k_comparison);
      }
      default: {
        const auto value = static_cast<double>(rng_.below(7));
        const char* const forms[] = {"", ".0", "e0", "E+0", "e-0"};
        return made(std::to_string(static_cast<int>(value)) + forms[rng_.below(5)], value, k_atom);
      }
    }
  }
  double number(const std::string& name) const {
    const Value* value = configuration_.find(name);
    return value == nullptr ? 0.0 : to_number(*value);
  }
  Formula arithmetic(int depth) {
    const Formula a = any(depth - 1);
    const Formula b = any(depth - 1);
    switch (rng_.below(4)) {
      case 0:
        return made(within(a, k_sum) + gap() + "+ " + within(b, k_product), a.value + b.value,
                    k_sum);
      case 1:
        return made(within(a, k_sum) + " -" + gap() + within(b, k_product), a.value - b.value,
                    k_sum);
      case 2:
        return made(within(a, k_product) + " / 4", a.value / 4.0, k_product);
      default:
        return made(within(a, k_product) + " * " + within(b, k_atom), a.value * b.value, k_product);
    }
  }
  Formula comparison(int depth) {
    const Formula a = any(depth - 1);
    const Formula b = any(depth - 1);
    const std::string left = within(a, k_sum);
    const std::string right = within(b, k_sum);
    switch (rng_.below(6)) {
      case 0:
        return made(left + " < " + right, a.value < b.value ? 1.0 : 0.0, k_comparison);
      case 1:
        return made(left + "<=" + right, a.value <= b.value ? 1.0 : 0.0, k_comparison);
      case 2:
        return made(left + " > " + right, a.value > b.value ? 1.0 : 0.0, k_comparison);
      case 3:
        return made(left + " >= " + right, a.value >= b.value ? 1.0 : 0.0, k_comparison);
      case 4:
        return made(left + "==" + right, a.value == b.value ? 1.0 : 0.0, k_comparison);
      default:
        return made(left + " != " + right, a.value != b.value ? 1.0 : 0.0, k_comparison);
    }
  }
  Formula logical(int depth) {
    const Formula a = any(depth - 1);
    const Formula b = any(depth - 1);
    const bool left = a.value != 0.0;
    const bool right = b.value != 0.0;
    if (rng_.below(2) == 0) {
      return made(within(a, k_and) + (rng_.below(2) == 0 ? " and " : "&&") + within(b, k_not),
                  left && right ? 1.0 : 0.0, k_and);
    }
    return made(within(a, k_or) + (rng_.below(2) == 0 ? " or " : "||") + within(b, k_and),
                left || right ? 1.0 : 0.0, k_or);
  }
  Formula negation(int depth) {
    Formula a = any(depth - 1);
    const double negated = a.value == 0.0 ? 1.0 : 0.0;
    // Consecutive `not` and `!` need parentheses between them.
    if (a.text.starts_with('!') || a.text.starts_with("not ")) a.binds = k_choice;
    if (rng_.below(2) == 0) return made("not " + within(a, k_comparison), negated, k_not);
    return made("!" + within(a, k_atom), negated, k_atom);
  }
  Formula choice(int depth) {
    const Formula condition = any(depth - 1);
    const Formula yes = any(depth - 1);
    const Formula no = any(depth - 1);
    return made(within(condition, k_or) + " ? " + within(yes, k_or) + " : " + within(no, k_or),
                condition.value != 0.0 ? yes.value : no.value, k_choice);
  }
  Formula function(int depth) {
    const Formula a = any(depth - 1);
    const Formula b = any(depth - 1);
    switch (rng_.below(5)) {
      case 0:
        return made("min(" + a.text + ", " + b.text + ")", std::min(a.value, b.value), k_atom);
      case 1:
        return made("max(" + a.text + "," + b.text + ")", std::max(a.value, b.value), k_atom);
      case 2:
        return made("abs(" + a.text + ")", std::abs(a.value), k_atom);
      case 3:
        return made("floor(" + a.text + ")", std::floor(a.value), k_atom);
      default:
        return made("ceil(" + a.text + ")", std::ceil(a.value), k_atom);
    }
  }

  Rng rng_;
  Configuration configuration_;
  double last_ = 0.0;
};

TEST(ExpressionValue, IsWhatTheOperatorsMeanInEveryNesting) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Rng rng(seed, "configuration");
    Configuration configuration;
    if (rng.below(4) != 0) {
      configuration.set("workers", Value{static_cast<std::int64_t>(rng.below(5))});
    }
    configuration.set("threads", Value{static_cast<double>(rng.below(4))});
    configuration.set("precision", Value{std::string("bf16")});
    configuration.set("amp", Value{true});
    const Formula formula = Formulas(seed, configuration).any(1 + static_cast<int>(seed % 4));
    if (!(std::abs(formula.value) < 1e12)) continue;
    const auto expression = Expression::compile(formula.text, k_names, k_machine);
    ASSERT_TRUE(expression) << formula.text << ": " << expression.error().text();
    ASSERT_EQ(expression->evaluate(configuration), formula.value) << formula.text;
    EXPECT_EQ(expression->holds(configuration), formula.value != 0.0) << formula.text;
    ++compared;
  }
  EXPECT_GT(compared, 3500);
}

TEST(ExpressionValue, NumbersGiveTheValueOfTheirConfiguration) {
  const auto expression =
      Expression::compile("threads > 1 and precision == 'x' or workers == 3", k_names, k_machine);
  ASSERT_TRUE(expression);
  ASSERT_THAT(expression->mentioned_parameters(), ElementsAre("threads", "precision", "workers"));
  for (const std::string precision : {"x", "y", ""}) {
    for (std::int64_t workers = 2; workers < 5; ++workers) {
      for (std::int64_t threads = 0; threads < 3; ++threads) {
        Configuration configuration;
        configuration.set("workers", Value{workers});
        configuration.set("threads", Value{threads});
        configuration.set("precision", Value{precision});
        const std::vector<double> numbers = {Expression::number_of(Value{threads}),
                                             Expression::number_of(Value{precision}),
                                             Expression::number_of(Value{workers})};
        EXPECT_EQ(expression->holds(numbers), expression->holds(configuration));
        EXPECT_EQ(expression->holds(configuration),
                  (threads > 1 && precision == "x") || workers == 3);
      }
    }
  }
}

TEST(ExpressionValue, TextsHaveDistinctNumbers) {
  std::set<double> numbers;
  std::size_t count = 0;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (const std::string tail : {"", "1", "16", "-mixed", " ", "é"}) {
      const double number = Expression::number_of(Value{std::string(1, a) + tail});
      EXPECT_GT(number, 1e180) << "far above ordinary numbers";
      EXPECT_TRUE(std::isfinite(number));
      numbers.insert(number);
      ++count;
    }
  }
  EXPECT_EQ(numbers.size(), count);
  EXPECT_EQ(Expression::number_of(Value{true}), 1.0);
  EXPECT_EQ(Expression::number_of(Value{2.5}), 2.5);
}

std::vector<std::string> numeric_in(const std::string& text) {
  const auto expression = Expression::compile(text, k_names, k_machine);
  EXPECT_TRUE(expression) << text;
  return expression ? expression->used_as_numbers() : std::vector<std::string>();
}

TEST(ExpressionValue, FindsParametersUsedAsNumbers) {
  for (const std::string text :
       {"workers > 1", "1 < workers", "workers + 0", "2 * workers", "workers == 3", "3 != workers",
        "-workers", "workers % 2", "workers ^ 2", "cpus / workers", "(amp) and workers <= 2"}) {
    EXPECT_THAT(numeric_in(text), ElementsAre("workers")) << text;
  }
  for (const std::string text : {"workers == 'a'", "'a' != workers", "workers", "not workers",
                                 "workers and amp", "workers == amp", "(workers)"}) {
    EXPECT_THAT(numeric_in(text), ElementsAre()) << text;
  }
}

TEST(ExpressionValue, FindsTextsComparedWithParameters) {
  const auto compared = [](const std::string& text) {
    return Expression::compile(text, k_names, k_machine)->compared_texts();
  };
  EXPECT_THAT(compared("precision == 'a' or \"b\" != precision"),
              ElementsAre(std::pair("precision", "a"), std::pair("precision", "b")));
  EXPECT_THAT(compared("cpus == 'a'"), ElementsAre()) << "a fact has no choices";
  EXPECT_THAT(compared("(precision) == 'a'"), ElementsAre());
}

std::string fault_of(const std::string& text) {
  const auto expression = Expression::compile(text, k_names, k_machine);
  EXPECT_FALSE(expression) << text;
  return expression ? "" : expression.error().text();
}

TEST(ExpressionValue, FaultsHaveTheirPosition) {
  EXPECT_THAT(fault_of("workers > 'a'"), HasSubstr("at character 11"));
  EXPECT_THAT(fault_of("'a' == 'b' == workers"), HasSubstr("a string can only be compared"));
  EXPECT_THAT(fault_of("workers > 1)"), HasSubstr("at character 12"));
  EXPECT_THAT(fault_of("workers > 1)"), HasSubstr("a parenthesis too many"));
  EXPECT_THAT(fault_of("min(workers) + min()"), HasSubstr("wrong number of arguments"));
  EXPECT_THAT(fault_of("workers * * 2"), HasSubstr("an operator where a value is expected"));
  EXPECT_THAT(fault_of("not not workers cpus"), HasSubstr("at character 17"))
      << "the library reads two words as one";
  EXPECT_THAT(fault_of("2 workers"), HasSubstr("an operator is missing before this"));
  EXPECT_THAT(fault_of("1e999 > 2"), HasSubstr("\"1e999\" is not a number"));
  EXPECT_THAT(fault_of("floo(2)"), HasSubstr("there is no function \"floo\"; did you mean"));
  EXPECT_THAT(fault_of("workers (2)"), HasSubstr("there is no function \"workers\""));
}

}  // namespace
}  // namespace steptune
