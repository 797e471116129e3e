// SPDX-License-Identifier: Apache-2.0
#include "common/configuration.hpp"

#include <type_traits>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace steptune {

std::string to_text(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<Held, std::string>) {
          return held;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

double to_number(const Value& value) {
  return std::visit(
      [](const auto& held) -> double {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
          return k_nan;
        } else {
          return static_cast<double>(held);
        }
      },
      value);
}

const Value* Configuration::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

void Configuration::erase(std::string_view name) {
  const auto found = values_.find(name);
  if (found != values_.end()) values_.erase(found);
}

std::string Configuration::text() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (!text.empty()) text += ' ';
    text += name + '=' + to_text(value);
  }
  return text;
}

}  // namespace steptune
