// SPDX-License-Identifier: Apache-2.0
#include "common/enum_names.hpp"

#include <gmock/gmock.h>

namespace steptune {
namespace {

enum class Color { red, blue, unnamed };
constexpr auto k_colors = enum_names<Color>({{Color::red, "red"}, {Color::blue, "blue"}});

TEST(EnumNames, AreReadBothWays) {
  static_assert(k_colors.name_of(Color::blue) == "blue");
  static_assert(k_colors.value_of("red") == Color::red);
  for (const auto& [color, name] : k_colors.entries) {
    EXPECT_EQ(k_colors.value_of(k_colors.name_of(color)), color);
  }
}

TEST(EnumNames, NamesOutsideTheTableAreUnknown) {
  EXPECT_EQ(k_colors.name_of(Color::unnamed), "unknown");
  EXPECT_EQ(k_colors.value_of("Red"), std::nullopt);
  EXPECT_EQ(k_colors.value_of(""), std::nullopt);
  EXPECT_EQ(k_colors.value_of("redder"), std::nullopt);
}

}  // namespace
}  // namespace steptune
