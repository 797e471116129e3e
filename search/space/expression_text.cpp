// SPDX-License-Identifier: Apache-2.0
#include "search/space/expression_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/formula.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

constexpr std::array<std::string_view, 11> k_functions = {
    "min", "max", "abs", "round", "floor", "ceil", "sqrt", "exp", "ln", "log2", "log10"};

enum class TokenKind { number, name, text, symbol };

struct Token {
  TokenKind kind = TokenKind::symbol;
  std::string text;  ///< a quoted text has no quotes here
  std::size_t at = 0;
};

bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t number_length(std::string_view rest) {
  std::size_t length = 0;
  while (length < rest.size()) {
    const char c = rest[length];
    const bool exponent =
        (c == 'e' || c == 'E') && length + 1 < rest.size() &&
        (digit(rest[length + 1]) || ((rest[length + 1] == '-' || rest[length + 1] == '+') &&
                                     length + 2 < rest.size() && digit(rest[length + 2])));
    if (exponent) {
      length += 2;
    } else if (digit(c) || c == '.') {
      ++length;
    } else {
      break;
    }
  }
  return length;
}

std::size_t name_length(std::string_view rest) {
  std::size_t length = 0;
  while (length < rest.size() &&
         (letter(rest[length]) || digit(rest[length]) ||
          (rest[length] == '.' && length + 1 < rest.size() && letter(rest[length + 1])))) {
    ++length;
  }
  return length;
}

Result<Token> next_token(const std::string& source, std::size_t at, std::size_t& end) {
  const std::string_view rest = std::string_view(source).substr(at);
  const char first = rest[0];
  if (first == '\'' || first == '"') {
    const std::size_t closing = rest.find(first, 1);
    if (closing == std::string_view::npos) {
      return tl::unexpected(expression_error(source, at, "the quote is not closed"));
    }
    end = at + closing + 1;
    return Token{TokenKind::text, std::string(rest.substr(1, closing - 1)), at};
  }
  if (digit(first) || (first == '.' && rest.size() > 1 && digit(rest[1]))) {
    end = at + number_length(rest);
    return Token{TokenKind::number, source.substr(at, end - at), at};
  }
  if (letter(first)) {
    end = at + name_length(rest);
    return Token{TokenKind::name, source.substr(at, end - at), at};
  }
  constexpr std::array<std::string_view, 6> k_pairs = {"==", "!=", "<=", ">=", "&&", "||"};
  for (const std::string_view pair : k_pairs) {
    if (!rest.starts_with(pair)) continue;
    end = at + 2;
    return Token{TokenKind::symbol, std::string(pair), at};
  }
  if (first == '=') {
    return tl::unexpected(
        expression_error(source, at, "\"=\" does not compare", "write == to compare"));
  }
  if (std::string_view("+-*/%^<>!()?:,").find(first) == std::string_view::npos) {
    return tl::unexpected(expression_error(
        source, at, fmt::format("unexpected \"{}\"", printable_line(rest.substr(0, 1)))));
  }
  end = at + 1;
  return Token{TokenKind::symbol, std::string(1, first), at};
}

Result<std::vector<Token>> tokens_of(const std::string& source) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < source.size();) {
    if (source[at] == ' ' || source[at] == '\t') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    auto token = next_token(source, at, end);
    if (!token) return tl::unexpected(token.error());
    tokens.push_back(*std::move(token));
    at = end;
  }
  return tokens;
}

class Translator {
 public:
  Translator(const std::string& source, const std::vector<std::string>& parameters,
             const Facts& facts, std::vector<Token> tokens)
      : source_(source), parameters_(parameters), facts_(facts), tokens_(std::move(tokens)) {}

  Result<TranslatedExpression> run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (merged_negation(i)) continue;
      auto outcome = token(i);
      if (!outcome) return tl::unexpected(outcome.error());
    }
    return std::move(out_);
  }

 private:
  void emit(std::string_view text, std::size_t at) {
    out_.text += text;
    // The blank separates tokens: `not not x` must not become one token.
    out_.text += ' ';
    out_.origins.insert(out_.origins.end(), text.size() + 1, at);
  }

  void emit_constant(double number, std::size_t at) {
    emit(fmt::format("c{}", out_.constants.size()), at);
    out_.constants.push_back(number);
  }

  [[nodiscard]] std::string_view symbol_at(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::symbol ? tokens_[i].text
                                                                      : std::string_view();
  }

  Result<void> token(std::size_t i) {
    const Token& token = tokens_[i];
    switch (token.kind) {
      case TokenKind::name:
        return name(i);
      case TokenKind::text:
        return quoted(i);
      case TokenKind::number:
        if (!parse_finite(token.text)) {
          return error(token, fmt::format("\"{}\" is not a number", token.text));
        }
        emit(token.text, token.at);
        return {};
      case TokenKind::symbol:
        return symbol(token);
    }
    return {};
  }

  Result<void> symbol(const Token& token) {
    if (token.text == "(") ++depth_;
    if (token.text == ")") --depth_;
    if (token.text == "," && depth_ <= 0) return error(token, "unexpected \",\"");
    emit(token.text, token.at);
    return {};
  }

  Result<void> quoted(std::size_t i) {
    const auto compares = [](std::string_view symbol) { return symbol == "==" || symbol == "!="; };
    const bool left = i > 0 && compares(symbol_at(i - 1));
    const bool right = compares(symbol_at(i + 1));
    if (left == right) {
      return error(tokens_[i], "a string can only be compared, with == or !=");
    }
    const std::size_t other = left ? i - 2 : i + 2;
    const bool named = (left ? i >= 2 : i + 2 < tokens_.size()) &&
                       tokens_[other].kind == TokenKind::name && known_parameter(tokens_[other]);
    if (named) out_.compared_texts.emplace_back(tokens_[other].text, tokens_[i].text);
    emit_constant(Expression::number_of(Value{tokens_[i].text}), tokens_[i].at);
    return {};
  }

  [[nodiscard]] bool known_parameter(const Token& token) const {
    return std::find(parameters_.begin(), parameters_.end(), token.text) != parameters_.end();
  }

  [[nodiscard]] bool used_as_number(std::size_t i) const {
    const auto numeric = [](std::string_view symbol) {
      return !symbol.empty() &&
             std::string_view("+-*/%^<><=>=").find(symbol) != std::string_view::npos;
    };
    const auto equality = [](std::string_view symbol) { return symbol == "==" || symbol == "!="; };
    const auto is_number = [&](std::size_t at) {
      return at < tokens_.size() && tokens_[at].kind == TokenKind::number;
    };
    if (numeric(symbol_at(i + 1)) || (equality(symbol_at(i + 1)) && is_number(i + 2))) return true;
    if (i == 0) return false;
    return numeric(symbol_at(i - 1)) || (i > 1 && equality(symbol_at(i - 1)) && is_number(i - 2));
  }

  Result<void> name(std::size_t i) {
    const Token& token = tokens_[i];
    if (symbol_at(i + 1) == "(" && token.text != "and" && token.text != "or" &&
        token.text != "not") {
      return function(token);
    }
    if (known_parameter(token)) {
      auto found = std::find(out_.parameters.begin(), out_.parameters.end(), token.text);
      if (found == out_.parameters.end()) {
        found = out_.parameters.insert(out_.parameters.end(), token.text);
      }
      if (used_as_number(i)) out_.used_as_numbers.push_back(token.text);
      emit(fmt::format("p{}", found - out_.parameters.begin()), token.at);
      return {};
    }
    if (const auto fact = facts_.find(token.text); fact != facts_.end()) {
      emit_constant(fact->second, token.at);
      return {};
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> k_words = {
        {{"and", "&&"}, {"or", "||"}, {"not", "~"}, {"true", "1"}, {"false", "0"}}};
    for (const auto& [word, replacement] : k_words) {
      if (token.text != word) continue;
      emit(replacement, token.at);
      return {};
    }
    return unknown_name(token);
  }

  Result<void> unknown_name(const Token& token) {
    std::vector<std::string> names = parameters_;
    for (const auto& [fact, value] : facts_)
      names.push_back(fact);
    const std::string nearest = did_you_mean(token.text, names);
    // Bounds of parameters may mention only facts, so `parameters_` is then empty.
    const bool has_parameters = !parameters_.empty();
    std::string hint;
    if (nearest.empty()) {
      hint = has_parameters  ? "put strings in quotes, as in precision == 'bf16'"
             : names.empty() ? ""
                             : fmt::format("facts: {}", fmt::join(names, ", "));
    }
    return error(
        token,
        fmt::format("\"{}\" is {}{}", token.text,
                    has_parameters ? "neither a parameter nor a fact" : "no fact", nearest),
        std::move(hint));
  }

  Result<void> function(const Token& token) {
    if (std::find(k_functions.begin(), k_functions.end(), token.text) == k_functions.end()) {
      const std::vector<std::string> names(k_functions.begin(), k_functions.end());
      return error(token, fmt::format("there is no function \"{}\"{}", token.text,
                                      did_you_mean(token.text, names)));
    }
    emit(token.text, token.at);
    out_.text.pop_back();  // muParser requires the parenthesis right after the name
    out_.origins.pop_back();
    return {};
  }

  [[nodiscard]] bool is_word(std::size_t i, std::string_view word) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::name && tokens_[i].text == word &&
           !known_parameter(tokens_[i]);
  }

  /// Merges a second negation into the one before it. muParser refuses two prefix operators in a
  /// row, so `!!` is a single operator for it. If the negation before is single, it becomes double;
  /// if it is already double, it becomes single. The second negation is dropped.
  bool merged_negation(std::size_t i) {
    if (i == 0) return false;
    const bool words = is_word(i, "not") && is_word(i - 1, "not");
    if (!words && !(symbol_at(i) == "!" && symbol_at(i - 1) == "!")) return false;
    const std::string_view one = words ? "~" : "!";
    const std::string two = std::string(one) + std::string(one);
    const bool doubled = out_.text.ends_with(two + " ");
    const std::size_t at = out_.origins.back();
    const std::size_t length = doubled ? 3 : 2;
    out_.text.resize(out_.text.size() - length);
    out_.origins.resize(out_.origins.size() - length);
    emit(doubled ? std::string(one) : two, at);
    return true;
  }

  [[nodiscard]] tl::unexpected<Error> error(const Token& token, const std::string& reason,
                                            std::string hint = {}) const {
    return tl::unexpected(expression_error(source_, token.at, reason, std::move(hint)));
  }

  const std::string& source_;
  const std::vector<std::string>& parameters_;
  const Facts& facts_;
  std::vector<Token> tokens_;
  TranslatedExpression out_;
  int depth_ = 0;
};

}  // namespace

Error expression_error(const std::string& source, std::size_t at, const std::string& reason,
                       std::string hint) {
  return Error{
      ErrorKind::usage,
      fmt::format("at character {} of \"{}\": {}", at + 1, printable_line(source, 120), reason),
      {},
      std::move(hint)};
}

Result<TranslatedExpression> translate_expression(const std::string& source,
                                                  const std::vector<std::string>& parameters,
                                                  const Facts& facts) {
  if (source.size() > document::k_max_expression_bytes) {
    return fail(ErrorKind::usage, fmt::format("the expression is longer than {} bytes",
                                              document::k_max_expression_bytes));
  }
  auto tokens = tokens_of(source);
  if (!tokens) return tl::unexpected(tokens.error());
  if (tokens->empty()) return fail(ErrorKind::usage, "the expression is empty");
  return Translator(source, parameters, facts, *std::move(tokens)).run();
}

}  // namespace steptune
