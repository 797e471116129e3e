// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/progress_bar.hpp"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "common/text.hpp"

namespace steptune {
namespace {

using re2::RE2;
using re2::StringPiece;

std::string_view view(const StringPiece& piece) {
  return {piece.data(), piece.size()};
}

// `12/100 [00:03<00:20,  4.10it/s, loss=0.3]` or, without a total, `12it [00:03,  4.10it/s]`.
const RE2& counts_regex() {
  static const RE2 k_regex(
      R"((?:^|[\s|:])(\d+(?:\.\d+)?)(?:/(\d+(?:\.\d+)?)|([^\s\d/\[\].,]{1,20})))"
      R"( \[(?:\d+:)?\d+:\d{2}(?:<[^,\]]*)?(?:, *([^,\]]*))?(?:, (.*))?\])",
      RE2::Quiet);
  return k_regex;
}

// Ultralytics since 8.3.190: `desc: 12% ━╸────────── 12/100 4.1it/s 3.0s<20.1s`.
const RE2& line_bar_regex() {
  static const RE2 k_regex(
      R"(^(.*):\s+\d+% [━╸─]+ (\d+)/(\d+)(?:\s+(\d\S*/s))?(?:\s+\d\S*s\S*|\s+[\d:<]+)?\s*$)",
      RE2::Quiet);
  return k_regex;
}

const RE2& rate_regex() {
  static const RE2 k_regex(R"(\s*(\d+(?:\.\d+)?)(?:([^\s\d/]+)/s|s/(\S+))\s*)", RE2::Quiet);
  return k_regex;
}

const RE2& percent_regex() {
  static const RE2 k_regex(R"(:?\s*\d+%\|[^|]*\|?\s*$)", RE2::Quiet);
  return k_regex;
}

const RE2& epoch_regex() {
  static const RE2 k_regex(R"((?i:epochs?)[\s:=#\[(]*(\d{1,9})\b)", RE2::Quiet);
  return k_regex;
}

/// True for a unit with a prefix: `kit`, `Ksamples`, `MB`. tqdm (`unit_scale`) and Ultralytics
/// scale large numbers. The first letter of an unknown unit is assumed to be no prefix.
bool is_scaled(std::string_view unit) {
  constexpr std::array<std::string_view, 20> k_units{
      "it",      "B",    "step", "steps",  "batch", "batches", "sample",
      "samples", "img",  "imgs", "images", "ex",    "example", "examples",
      "seq",     "seqs", "tok",  "toks",   "token", "tokens"};
  return !unit.empty() &&
         std::string_view("kKMGTPEZY").find(unit.front()) != std::string_view::npos &&
         std::ranges::find(k_units, unit.substr(1)) != k_units.end();
}

/// Reads the rate. Ignores scaled rates (`1.2Kit/s`), which are too coarse.
void read_rate(const StringPiece& text, ProgressBar& bar) {
  StringPiece number, per_second, seconds_per;
  if (!RE2::FullMatch(text, rate_regex(), &number, &per_second, &seconds_per)) return;
  const auto value = parse_finite(view(number));
  if (!value || *value <= 0.0) return;
  bar.unit = view(per_second.empty() ? seconds_per : per_second);
  if (is_scaled(bar.unit)) {
    bar.unit.remove_prefix(1);
    return;
  }
  bar.units_per_s = per_second.empty() ? 1.0 / *value : *value;
}

/// Parses Ultralytics' bar.
std::optional<ProgressBar> parse_line_bar(const StringPiece& text) {
  StringPiece description, rate;
  ProgressBar bar;
  double total = 0.0;
  if (!RE2::FullMatch(text, line_bar_regex(), &description, &bar.done, &total, &rate)) {
    return std::nullopt;
  }
  bar.total = total;
  read_rate(rate, bar);
  bar.description = view(description);
  const std::size_t begin = bar.description.find_first_not_of(' ');
  bar.description.remove_prefix(std::min(begin, bar.description.size()));
  return bar;
}

std::string_view trimmed_description(StringPiece text) {
  StringPiece match;
  if (RE2::PartialMatch(text, percent_regex()) &&
      percent_regex().Match(text, 0, text.size(), RE2::UNANCHORED, &match, 1)) {
    text = StringPiece(text.data(), static_cast<std::size_t>(match.data() - text.data()));
  }
  std::string_view description = view(text);
  while (!description.empty() && (description.back() == ' ' || description.back() == ':')) {
    description.remove_suffix(1);
  }
  const std::size_t begin = description.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view{} : description.substr(begin);
}

}  // namespace

std::optional<ProgressBar> parse_progress_bar(std::string_view line) {
  const StringPiece text(line.data(), line.size());
  std::array<StringPiece, 6> match;
  if (!counts_regex().Match(text, 0, text.size(), RE2::UNANCHORED, match.data(), match.size())) {
    return parse_line_bar(text);
  }
  const auto done = parse_finite(view(match[1]));
  if (!done || is_scaled(view(match[3]))) return std::nullopt;
  ProgressBar bar;
  bar.done = *done;
  if (!match[2].empty()) bar.total = parse_finite(view(match[2]));
  read_rate(match[4], bar);
  bar.postfix = view(match[5]);
  // The description is the text before the count, without the bar itself.
  bar.description = trimmed_description(
      StringPiece(text.data(), static_cast<std::size_t>(match[1].data() - text.data())));
  return bar;
}

std::optional<double> epoch_of(std::string_view text) {
  StringPiece number;
  if (!RE2::PartialMatch(StringPiece(text.data(), text.size()), epoch_regex(), &number)) {
    return std::nullopt;
  }
  return parse_finite(view(number));
}

}  // namespace steptune
