// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/text_phase.hpp"

#include <array>

#include <re2/re2.h>

#include "trial_runner/reports/number_pairs.hpp"

namespace steptune {
namespace {

// Names of evaluations, also as first words of their metrics.
#define STEPTUNE_EVALUATION \
  "(?:test(?:ing)?|val(?:i|id(?:at(?:e|ing|ion))?)?|eval(?:uat(?:e|ing|ion))?|dev)"

std::string prefix_of(const re2::StringPiece& word) {
  std::string name = metric_name({word.data(), word.size()});
  if (name.starts_with("test")) return "test";
  if (name == "vali" || name == "validate" || name == "validating") return "val";
  if (name.starts_with("infer") || name == "evaluate") return "eval";
  return name;
}

/// Returns the end of the brackets in which `text` begins; npos if they do not close.
std::size_t end_of_brackets(std::string_view text) {
  int depth = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == '}') --depth;
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

bool is_evaluation_name(std::string_view name) {
  static const re2::RE2 k_regex("^" STEPTUNE_EVALUATION "(?:$|[^a-z]|loss|acc)|_(?:val|test)$",
                                re2::RE2::Quiet);
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), k_regex);
}

std::string evaluation_of_line(std::string_view line) {
  // These verbs may be anywhere: `[ITER 7000] Evaluating test: L1 0.03`.
  static const re2::RE2 k_anywhere(
      R"((?i)\b(evaluating|validating)\b|\b(?:computing|calculating|running|starting) (validation|evaluation)\b)"
      R"(|\b(?:epoch|iter)\((val|test)\)|\| (valid) on '|\bepoch[\s:\[#]*\d+[\s:\]|,-]*(testing)\b)",
      re2::RE2::Quiet);
  // These words must be the first after dates and log levels.
  static const re2::RE2 k_first(R"((?i)^(.{0,120}?)\b()" STEPTUNE_EVALUATION R"(|inference)\b)",
                                re2::RE2::Quiet);
  static const re2::RE2 k_words(
      R"((?i)(?:(?-i:.*\b(?:INFO|DEBUG)\b|[DIW] ))?(?:(?-i:\[[A-Z0-9_]+\])|[^a-z])"
      R"(|\b(?:info|debug|warning|root|__main__|rank|main|logger|model|end|finished|final)\b)*)",
      re2::RE2::Quiet);
  const re2::StringPiece text(line.data(), line.size());
  std::array<re2::StringPiece, 5> words;
  if (re2::RE2::PartialMatch(text, k_anywhere, &words[0], &words[1], &words[2], &words[3],
                             &words[4])) {
    for (const re2::StringPiece& word : words) {
      if (!word.empty()) return prefix_of(word);
    }
  }
  re2::StringPiece before, word;
  if (!re2::RE2::PartialMatch(text, k_first, &before, &word)) return {};
  return re2::RE2::FullMatch(before, k_words) ? prefix_of(word) : std::string();
}

std::string evaluation_before(std::string_view text) {
  static const re2::RE2 k_section(R"((?i)(?:^|[^\w.])(train|training|)" STEPTUNE_EVALUATION
                                  R"()(?:\s*[:\])|]|(["']\s*:\s*\{|\s*=\s*[({])))",
                                  re2::RE2::Quiet);
  re2::StringPiece rest(text.data(), text.size());
  re2::StringPiece word, opening;
  std::string section;
  while (re2::RE2::FindAndConsume(&rest, k_section, &word, &opening)) {
    section = word[0] == 't' && word.size() > 1 && word[1] == 'r' ? "" : prefix_of(word);
    const std::size_t end =
        opening.empty() ? std::string_view::npos : end_of_brackets({rest.data(), rest.size()});
    if (end == std::string_view::npos) continue;
    rest.remove_prefix(end);
    section.clear();
  }
  return section.starts_with("train") ? std::string() : section;
}

#undef STEPTUNE_EVALUATION

}  // namespace steptune
