// SPDX-License-Identifier: Apache-2.0
#include "common/own_json.hpp"

#include <algorithm>

namespace steptune {
namespace {

/// As in `parse_json`.
constexpr int k_most_nested = 64;

/// At least as deep as the document is nested: brackets in strings count, too.
int deepest(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

}  // namespace

std::optional<Json> parse_own_json(std::string_view text) {
  if (deepest(text) > k_most_nested) {
    auto checked = parse_json(text, "");
    return checked ? std::optional(*std::move(checked)) : std::nullopt;
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

}  // namespace steptune
