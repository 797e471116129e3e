// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/decision_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "common/json.hpp"

namespace steptune {
namespace {

/// Returns a value as text for people. Null and numbers that are not finite become `-`. The history
/// stores such numbers as null, so a value has the same text before and after it is stored.
std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.is_null() ? "-" : dump_json(value);
  const auto number = value.get<double>();
  return std::isfinite(number) ? fmt::format("{:.6g}", number) : "-";
}

}  // namespace

std::string numbers_text(const StudyDecision& decision) {
  std::string text;
  for (const auto& [name, value] : decision.numbers.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value_text(value));
  return text;
}

}  // namespace steptune
