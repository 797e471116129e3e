// SPDX-License-Identifier: Apache-2.0
#include "search/space/expression.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <muParser.h>

#include "common/numbers.hpp"
#include "search/space/expression_text.hpp"

namespace steptune {
namespace {

double negate(double x) {
  return x == 0.0 ? 1.0 : 0.0;
}
double truth(double x) {
  return x == 0.0 ? 0.0 : 1.0;
}
double ceiling(double x) {
  return std::ceil(x);
}
double flooring(double x) {
  return std::floor(x);
}
double rounding(double x) {
  return std::round(x);
}
// Replaces muParser's log2, which divides logarithms and gives 29.000000000000004 for 2^29.
double binary_logarithm(double x) {
  return std::log2(x);
}
double remainder_of(double x, double y) {
  return std::fmod(x, y);
}

std::string reason_for(const mu::ParserError& error) {
  switch (error.GetCode()) {
    case mu::ecUNEXPECTED_EOF:
      return "the expression ends too early";
    case mu::ecMISSING_PARENS:
      return "a parenthesis is not closed";
    case mu::ecUNEXPECTED_PARENS:
      return "a parenthesis too many";
    case mu::ecUNEXPECTED_OPERATOR:
    case mu::ecUNEXPECTED_CONDITIONAL:
      return "an operator where a value is expected";
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      return "an operator is missing before this";
    case mu::ecTOO_FEW_PARAMS:
    case mu::ecTOO_MANY_PARAMS:
      return "wrong number of arguments";
    default:
      return "not understood";
  }
}

}  // namespace

struct Expression::Compiled {
  explicit Compiled(std::string source, TranslatedExpression translation)
      : text(std::move(source)), translated(std::move(translation)) {
    slots.resize(translated.parameters.size());
    // Switch off muParser's optimizer. The optimizer converts the operands of `0.5 and 1` to int,
    // which gives 0. It also folds `29 * p0 / 100` into 0.29 * p0, which is below 29 for p0 = 100.
    parser.EnableOptimizer(false);
    parser.DefineInfixOprt("!", negate);
    parser.DefineInfixOprt("!!", truth);
    // `not a == b` means `not (a == b)`: `not` binds more tightly than &&, but less tightly than
    // comparisons.
    const int not_precedence = mu::prLAND + 1;
    parser.DefineInfixOprt("~", negate, not_precedence);
    parser.DefineInfixOprt("~~", truth, not_precedence);
    parser.DefineOprt("%", remainder_of, mu::prMUL_DIV);
    parser.DefineFun("ceil", ceiling);
    parser.DefineFun("floor", flooring);
    parser.DefineFun("round", rounding);
    parser.DefineFun("log2", binary_logarithm);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      parser.DefineVar(fmt::format("p{}", i), &slots[i]);
    }
    for (std::size_t i = 0; i < translated.constants.size(); ++i) {
      parser.DefineConst(fmt::format("c{}", i), translated.constants[i]);
    }
    parser.SetExpr(translated.text);
  }

  // Copies are forbidden, because the parser keeps the addresses of `slots`.
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  double evaluate() {
    try {
      return parser.Eval();
    } catch (const mu::ParserError&) {
      // Compilation checked the grammar. Only arithmetic without a result remains.
      return k_nan;
    }
  }

  std::string text;
  TranslatedExpression translated;
  std::vector<double> slots;
  mu::Parser parser;
};

Result<Expression> Expression::compile(const std::string& text,
                                       const std::vector<std::string>& parameters,
                                       const Facts& facts) {
  auto translated = translate_expression(text, parameters, facts);
  if (!translated) return tl::unexpected(translated.error());
  const std::vector<std::size_t> origins = translated->origins;
  try {
    auto compiled = std::make_unique<Compiled>(text, *std::move(translated));
    (void)compiled->parser.Eval();
    return Expression(std::move(compiled));
  } catch (const mu::ParserError& error) {
    const int at = error.GetPos();
    const bool inside = at >= 0 && static_cast<std::size_t>(at) < origins.size();
    return tl::unexpected(expression_error(
        text, inside ? origins[static_cast<std::size_t>(at)] : text.size(), reason_for(error)));
  }
}

Expression::Expression(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Expression::Expression(const Expression& other)
    : compiled_(std::make_unique<Compiled>(other.compiled_->text, other.compiled_->translated)) {}
Expression& Expression::operator=(const Expression& other) {
  if (this != &other) *this = Expression(other);
  return *this;
}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

double Expression::evaluate(const Configuration& configuration) const {
  for (std::size_t i = 0; i < compiled_->slots.size(); ++i) {
    const Value* value = configuration.find(compiled_->translated.parameters[i]);
    compiled_->slots[i] = value == nullptr ? 0.0 : number_of(*value);
  }
  return compiled_->evaluate();
}

double Expression::evaluate(std::span<const double> numbers) const {
  std::copy(numbers.begin(), numbers.end(), compiled_->slots.begin());
  return compiled_->evaluate();
}

bool Expression::holds(const Configuration& configuration) const {
  const double value = evaluate(configuration);
  return value != 0.0 && !std::isnan(value);
}

bool Expression::holds(std::span<const double> numbers) const {
  const double value = evaluate(numbers);
  return value != 0.0 && !std::isnan(value);
}

double Expression::number_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return to_number(value);
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char character : *text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3ULL;
  }
  // 52 bits of the hash as the fraction of a number larger than any that a study computes with.
  return std::ldexp(1.0 + std::ldexp(static_cast<double>(hash >> 12), -52), 600);
}

const std::string& Expression::text() const {
  return compiled_->text;
}

const std::vector<std::string>& Expression::mentioned_parameters() const {
  return compiled_->translated.parameters;
}

const std::vector<std::pair<std::string, std::string>>& Expression::compared_texts() const {
  return compiled_->translated.compared_texts;
}

const std::vector<std::string>& Expression::used_as_numbers() const {
  return compiled_->translated.used_as_numbers;
}

}  // namespace steptune
