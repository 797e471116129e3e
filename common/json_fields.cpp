// SPDX-License-Identifier: Apache-2.0
#include "common/json_fields.hpp"

#include <cmath>

#include "common/numbers.hpp"

namespace steptune {
Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json number_or_null(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json numbers_or_null(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values)
    json.push_back(number_or_null(value));
  return json;
}

std::optional<double> number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<int> count_at(const Json& json, const char* key) {
  const auto number = number_at(json, key);
  return number ? count_from(*number) : std::nullopt;
}

std::vector<double> numbers_at(const Json& json, const char* key) {
  std::vector<double> numbers;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return numbers;
  for (const Json& element : *found)
    numbers.push_back(element.is_number() ? element.get<double>() : k_nan);
  return numbers;
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump_json(value);
}

}  // namespace steptune
