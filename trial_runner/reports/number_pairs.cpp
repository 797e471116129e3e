// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/number_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <re2/re2.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/reports/steptune_line.hpp"

namespace steptune {
namespace {

// Two alternatives: any name with `=` or `:`, and known words with blanks or other signs.
constexpr const char* k_pair_pattern =
    R"((?:\b((?:[A-Za-z_][\w.@/-]* )?[A-Za-z_][\w.@/-]*)["'#]?\s*[=:]\s*|)"
    R"(\b((?i:(?:(?:train|val(?:i|id(?:ation)?)?|eval|test|dev|global|lm) )?)"
    R"((?:step|iter|iteration|update|batch|epoch|episode|samples|\w*loss|cost|\w*acc|accuracy|lr)"
    R"(|num_updates|global_step|nll|mse|rmse|mae|elbo|ppl|perplexity|psnr|auc|wer|cer|bleu|acc@1)"
    R"(|acc@5|(?:up|ep|sen)\.))))"
    R"((?:\s*(?:\|{1,2}|[-=]{1,2}>)\s*|\s+(?:is\s+|was\s+|number\s+|#)?)))"
    R"(["']?(?:tensor\()?)"
    R"(([+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?\b)"
    R"(|[+-]?(?:\d+\.\d+f[+-]?\d+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|[+-]?(?i:nan|inf|infinity)\b))"
    R"((%|[KM]\b| ?(?:s|ms|us|ns)\b)?(?:\s?/\s*(\d+(?:,\d{3})*))?)";

const re2::RE2& pair_regex() {
  static const re2::RE2 k_regex(k_pair_pattern, re2::RE2::Quiet);
  return k_regex;
}

bool qualifies(std::string_view word) {
  constexpr std::array<std::string_view, 18> k_qualifiers{
      "train", "training", "val",  "vali",   "valid", "validation", "eval",  "test", "lm",
      "total", "consumed", "seen", "global", "mean",  "learning",   "batch", "grad", "dev"};
  const std::string lower = metric_name(word);
  return std::find(k_qualifiers.begin(), k_qualifiers.end(), lower) != k_qualifiers.end();
}

bool is_split(std::string_view word) {
  return word == "train" || word == "val" || word == "valid" || word == "test" || word == "eval" ||
         word == "dev";
}

/// Normalises a name: `DEBUG loss` becomes `loss`; `val loss` and `loss val` become `val_loss`.
std::string pair_name(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::string(text);
  const std::string_view last = text.substr(blank + 1);
  const std::string first = metric_name(text.substr(0, blank));
  if (is_split(last) && (first == "loss" || first == "acc" || first == "accuracy")) {
    return std::string(last) + "_" + first;
  }
  if (!qualifies(first)) return std::string(last);
  std::string name(text);
  name[blank] = '_';
  return name;
}

std::string without_commas(const re2::StringPiece& text) {
  std::string digits(text.data(), text.size());
  std::erase(digits, ',');
  // Julia prints `0.5f0` for single precision.
  const std::size_t exponent = digits.find('f');
  const bool is_julian = exponent != std::string::npos && digits.find('.') < exponent;
  if (is_julian) digits[exponent] = 'e';
  return digits;
}

std::optional<double> number_of(const std::string& text) {
  if (const auto finite = parse_finite(text)) return finite;
  std::string lower = metric_name(text);
  const bool negative = lower.starts_with('-');
  lower.erase(0, lower.find_first_not_of("+-"));
  if (lower == "nan") return k_nan;
  if (!lower.starts_with("inf")) return std::nullopt;  // 1e400 is neither a number nor infinity
  const double infinity = k_infinity;
  return negative ? -infinity : infinity;
}

double unit_scale(std::string_view unit) {
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "K") return 1e3;
  if (unit == "M") return 1e6;
  if (unit == "ms") return 1e-3;
  if (unit == "us") return 1e-6;
  if (unit == "ns") return 1e-9;
  return 1.0;
}

/// True if a number may end before `rest`. `12:30:00`, `timer.py:215:stop`, `1.2.3`, `0,5`, `4GB`,
/// `12/a` and `3it/s` are not numbers.
bool ends_number(re2::StringPiece rest) {
  if (rest.empty()) return true;
  const char next = rest[0];
  const bool sentence_end = next == '.' && (rest.size() == 1 || rest[1] == ' ');
  const bool alphanumeric = (next >= '0' && next <= '9') || (next >= 'a' && next <= 'z') ||
                            (next >= 'A' && next <= 'Z') || next == '_';
  const bool clock = next == ':' && rest.size() > 1 && rest[1] != ' ';
  const bool decimal_comma = next == ',' && rest.size() > 1 && rest[1] >= '0' && rest[1] <= '9';
  return sentence_end ||
         !(alphanumeric || clock || decimal_comma || next == '/' || next == '.' || next == '-');
}

/// True for a message's source position: `lib/dataloader.py:554: UserWarning`, `train.py:88] `.
bool is_source_line(re2::StringPiece name, re2::StringPiece rest) {
  const std::string_view text(name.data(), name.size());
  const std::size_t file = text.rfind('/') == std::string_view::npos ? 0 : text.rfind('/');
  return !rest.empty() && (rest[0] == ':' || rest[0] == ']') &&
         text.find('.', file) != std::string_view::npos;
}

/// True if a whole number after the word `loss` is a position: `Train loss 100 0.523`.
bool is_before_number(const std::string& digits, re2::StringPiece rest) {
  static const re2::RE2 k_regex(R"(\s+[+-]?\d+\.\d)", re2::RE2::Quiet);
  return digits.find_first_not_of("0123456789") == std::string::npos &&
         k_regex.Match(rest, 0, rest.size(), re2::RE2::ANCHOR_START, nullptr, 0);
}

}  // namespace

std::vector<NumberPair> number_pairs(std::string_view text) {
  std::vector<NumberPair> pairs;
  re2::StringPiece rest(text.data(), text.size());
  re2::StringPiece name, word, number, unit, total;
  while (pairs.size() < k_max_metrics &&
         re2::RE2::FindAndConsume(&rest, pair_regex(), &name, &word, &number, &unit, &total)) {
    const re2::StringPiece& label = name.empty() ? word : name;
    const bool is_pair = label.size() <= k_max_metric_name_bytes && ends_number(rest);
    if (!is_pair || is_source_line(label, rest)) continue;
    std::string digits = without_commas(number);
    const bool is_loss = metric_name({word.data(), word.size()}).ends_with("loss");
    if (is_loss && is_before_number(digits, rest)) continue;
    const bool ends_sentence = digits.ends_with('.') && (rest.empty() || rest[0] == ' ');
    if (ends_sentence && !name.empty()) digits.pop_back();
    const auto value = number_of(digits);
    if (!value) continue;
    NumberPair pair;
    pair.name = pair_name({label.data(), label.size()});
    pair.shortened = pair.name.size() < label.size();
    pair.at = static_cast<std::size_t>(label.data() - text.data());
    pair.value = *value * unit_scale({unit.data(), unit.size()});
    pair.scaled = unit == "K" || unit == "M";
    const bool is_count = unit.empty() || pair.scaled;
    pair.whole = is_count && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!total.empty()) pair.total = parse_finite(without_commas(total));
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

void set_metric(Report& report, std::string name, double value) {
  if (std::isfinite(value)) {
    report.not_finite.erase(name);
    report.metrics.insert_or_assign(std::move(name), value);
  } else {
    report.metrics.erase(name);
    report.not_finite.insert(std::move(name));
  }
}

std::string metric_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else {
      name += c == ' ' ? '_' : c;
    }
  }
  return name;
}

}  // namespace steptune
