// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/bounded.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune::mcp {
namespace {

std::string cut(const std::string& text, std::size_t most_bytes) {
  constexpr std::string_view k_mark = "...";
  if (text.size() <= most_bytes) return text;
  return printable_line(text, most_bytes - k_mark.size()) + std::string(k_mark);
}

Json cut_all(const Json& json, std::size_t most_text, std::size_t most_items) {
  if (json.is_string()) return cut(json.get<std::string>(), most_text);
  if (!json.is_structured()) return json;
  Json result = json.is_object() ? Json::object() : Json::array();
  std::size_t count = 0;
  for (const auto& [key, value] : json.items()) {
    if (++count > most_items) break;
    const Json part = cut_all(value, most_text, most_items);
    if (json.is_object()) {
      result[cut(key, most_text)] = part;
    } else {
      result.push_back(part);
    }
  }
  if (count <= most_items) return result;
  const std::string left_out = fmt::format("{} more", json.size() - most_items);
  if (json.is_object()) {
    result["..."] = left_out;
  } else {
    result.push_back("... " + left_out);
  }
  return result;
}

}  // namespace

Json bounded(const Json& json, std::size_t most_bytes) {
  struct Limits {
    std::size_t text;
    std::size_t items;
  };
  static constexpr std::array<Limits, 6> k_limits{
      {{600, k_most_items}, {300, 20}, {200, 14}, {120, 12}, {60, 12}, {30, 12}}};
  for (const auto& [text, items] : k_limits) {
    Json shorter = cut_all(json, text, items);
    if (dump_json(shorter).size() <= most_bytes) return shorter;
  }
  return {{"problem", "the answer is too long: use the command line"}};
}

}  // namespace steptune::mcp
