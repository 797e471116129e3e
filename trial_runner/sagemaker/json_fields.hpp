// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/count.hpp"
#include "common/json.hpp"

namespace steptune {

/// A member of a response, whatever the service may have put there: empty, or nothing, if it is
/// absent or of another type.
[[nodiscard]] inline std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

[[nodiscard]] inline std::optional<double> number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

/// A count of things, such as instances.
[[nodiscard]] inline std::optional<int> count_of(const Json& object, const char* key) {
  const auto number = number_of(object, key);
  return number ? count_from(*number) : std::nullopt;
}

}  // namespace steptune
