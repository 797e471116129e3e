// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace steptune {

/// Names of an enum's values in files, databases and JSON: one table for reading and writing.
template <typename Enum, std::size_t count>
struct EnumNames {
  std::array<std::pair<Enum, std::string_view>, count> entries;

  /// Returns `unknown` for a value without a name.
  [[nodiscard]] constexpr std::string_view name_of(Enum value) const {
    for (const auto& [held, name] : entries) {
      if (held == value) return name;
    }
    return "unknown";
  }

  [[nodiscard]] constexpr std::optional<Enum> value_of(std::string_view text) const {
    for (const auto& [value, name] : entries) {
      if (name == text) return value;
    }
    return std::nullopt;
  }
};

/// Makes the table: `enum_names<Color>({{Color::red, "red"}, {Color::blue, "blue"}})`.
template <typename Enum, std::size_t count>
[[nodiscard]] constexpr EnumNames<Enum, count> enum_names(
    const std::pair<Enum, std::string_view> (&entries)[count]) {
  return {std::to_array(entries)};
}

}  // namespace steptune
