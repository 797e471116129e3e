// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_edit/truth_word.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "common/text.hpp"

namespace steptune {
namespace {

using Words = std::pair<std::string_view, std::string_view>;
constexpr std::array<Words, 4> k_truths = {
    {{"true", "false"}, {"yes", "no"}, {"on", "off"}, {"1", "0"}}};

std::optional<Words> pair_of(std::string_view text) {
  const std::string small = lower_case(text);
  for (const Words& words : k_truths)
    if (small == words.first || small == words.second) return words;
  return std::nullopt;
}

}  // namespace

std::optional<bool> truth_of(std::string_view text) {
  const auto words = pair_of(text);
  return words ? std::optional(lower_case(text) == words->first) : std::nullopt;
}

std::string truth_word_like(std::string_view present, bool value) {
  const auto words = pair_of(present).value_or(k_truths.front());
  std::string word(value ? words.first : words.second);
  if (!truth_of(present)) return word;
  const auto is_capital = [](unsigned char letter) { return std::isupper(letter) != 0; };
  const bool all = present.size() > 1 && std::ranges::all_of(present, is_capital);
  const std::size_t capitals = all ? word.size()
                               : is_capital(static_cast<unsigned char>(present.front())) ? 1
                                                                                         : 0;
  std::transform(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(capitals), word.begin(),
                 [](unsigned char letter) { return std::toupper(letter); });
  return word;
}

}  // namespace steptune
