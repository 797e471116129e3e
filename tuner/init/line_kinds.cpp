// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/line_kinds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "common/median.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/reports/text_phase.hpp"
#include "tuner/init/program_option.hpp"

namespace steptune {
namespace {

/// Fewest lines that show how their numbers change.
constexpr std::size_t k_least_count = 3;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool goes_on = false;
  for (const char c : lower_case(text)) {
    if (!is_word_character(c)) {
      goes_on = false;
      continue;
    }
    if (!goes_on) words.emplace_back();
    words.back() += c;
    goes_on = true;
  }
  return words;
}

bool names_training(const std::string& word) {
  return word == "train" || word == "training" || word.starts_with("train_");
}

/// Returns `s` of `12.3s`, `%` of `5%`, `words/s` of `4321 words/s`.
std::string unit_at(const std::vector<LinePiece>& pieces, std::size_t at) {
  if (at >= pieces.size() || pieces[at].kind != LinePiece::Kind::text) return "";
  const std::string& text = pieces[at].text;
  return lower_case(text.substr(0, text.find_first_of(",;:|()[]{}<>=.\"'!")));
}

std::optional<double> number_in(std::string text) {
  std::erase(text, ',');
  if (text.starts_with('+')) text.erase(0, 1);
  if (const auto number = parse_finite(text)) return number;
  return parse_finite("0" + text);  // `.5`
}

}  // namespace

bool is_link_word(std::string_view word) {
  constexpr std::array<std::string_view, 30> k_words{
      "is",    "was",     "of",   "at",    "on",      "for",   "the",      "a",    "an",   "in",
      "after", "by",      "per",  "so",    "far",     "and",   "number",   "no",   "nr",   "num",
      "avg",   "average", "mean", "value", "current", "train", "training", "this", "last", "set"};
  return std::ranges::find(k_words, word) != k_words.end();
}

bool is_epoch_word(std::string_view word) {
  return word == "epoch" || word == "epochs" || word == "ep" || word == "epoche";
}

std::string NumberSeries::name() const {
  const auto named = std::find_if(words.rbegin(), words.rend(),
                                  [](const auto& word) { return !is_link_word(word); });
  return named == words.rend() ? unit : *named;
}

bool NumberSeries::grows_steadily(bool may_rest) const {
  std::vector<double> growth;
  std::size_t falls = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double difference = values[i] - values[i - 1];
    if (difference > 0.0) growth.push_back(difference);
    falls += difference < 0.0 || !std::isfinite(difference) ? 1U : 0U;
  }
  // At least three quarters of the differences that are not zero must be positive.
  if (growth.empty() || growth.size() < 3 * falls) return false;
  if (!may_rest && 2 * growth.size() + 1 < values.size()) return false;
  // At least 70 % of the positive differences must be within a factor of 3 of their median.
  const double middle = *median(growth);
  const auto usual = std::ranges::count_if(
      growth, [&](double step) { return 3.0 * step >= middle && step <= 3.0 * middle; });
  return static_cast<double>(usual) >= 0.7 * static_cast<double>(growth.size());
}

void LineKind::add(ShapedLine line) {
  if (lines.empty()) begin(line);
  std::size_t next = 0;
  for (const LinePiece& piece : line.pieces) {
    if (piece.kind != LinePiece::Kind::number) continue;
    NumberSeries& series = numbers[next++];
    const auto value = number_in(piece.text);
    series.values.push_back(value.value_or(k_nan));
    series.is_whole = series.is_whole && value &&
                      piece.text.find_first_not_of("0123456789,") == std::string::npos;
    series.has_thousands = series.has_thousands || piece.text.find(',') != std::string::npos;
  }
  lines.push_back(line.line);
  if (widest.pieces.size() >= line.pieces.size()) return;
  widest = std::move(line);
  place();
}

void LineKind::begin(const ShapedLine& line) {
  std::string before;
  bool is_of_evaluation = false;
  for (std::size_t at = 0; at < line.pieces.size(); ++at) {
    const LinePiece& piece = line.pieces[at];
    if (piece.kind != LinePiece::Kind::number) {
      before += piece.kind == LinePiece::Kind::text ? piece.text : " ";
      continue;
    }
    NumberSeries series;
    series.words = words_of(before);
    const std::size_t last =
        before.find_last_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    series.is_apart =
        last != std::string::npos && before.find_first_of(",;", last) != std::string::npos;
    for (const std::string& word : series.words) {
      if (names_training(word)) is_of_evaluation = false;
      if (is_evaluation_name(word)) is_of_evaluation = true;
    }
    series.is_of_evaluation = is_of_evaluation;
    series.unit = unit_at(line.pieces, at + 1);
    // `4321 words/s` without a name before it.
    if (series.unit.empty() && series.words.empty()) series.unit = unit_at(line.pieces, at + 2);
    series.is_rate =
        before.find("/s") != std::string::npos || series.unit.find("/s") != std::string::npos;
    numbers.push_back(std::move(series));
    before.clear();
  }
  is_evaluation = std::ranges::any_of(words_of(line.line), is_evaluation_name);
}

void LineKind::place() {
  std::size_t next = 0;
  for (std::size_t at = 0; at < widest.pieces.size(); ++at) {
    if (widest.pieces[at].kind == LinePiece::Kind::number) numbers[next++].piece = at;
  }
}

std::vector<LineKind> line_kinds(const std::vector<std::string>& lines) {
  std::map<std::string, LineKind> by_shape;
  for (const std::string& line : lines) {
    if (line.size() > k_most_line_bytes) continue;
    ShapedLine shaped = shape_of(line);
    if (shaped.shape.find('#') == std::string::npos) continue;
    LineKind& kind = by_shape[shaped.shape];
    kind.add(std::move(shaped));
  }
  std::vector<LineKind> kinds;
  for (auto& [shape, kind] : by_shape) {
    const bool changes = std::ranges::any_of(kind.numbers, [](const NumberSeries& series) {
      return std::ranges::any_of(series.values,
                                 [&](double value) { return value != series.values.front(); });
    });
    if (kind.lines.size() >= k_least_count && changes) kinds.push_back(std::move(kind));
  }
  return kinds;
}

}  // namespace steptune
