// SPDX-License-Identifier: Apache-2.0
#include "common/configuration.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(ValueText, IsWhatACommandLineNeeds) {
  EXPECT_EQ(to_text(Value{true}), "true");
  EXPECT_EQ(to_text(Value{std::int64_t{64}}), "64");
  EXPECT_EQ(to_text(Value{0.001}), "0.001");
  EXPECT_EQ(to_text(Value{0.1 + 0.2}), "0.30000000000000004");
  EXPECT_EQ(to_text(Value{std::string("bf16")}), "bf16");
}

TEST(ValueNumber, IsNanForText) {
  EXPECT_EQ(to_number(Value{true}), 1.0);
  EXPECT_EQ(to_number(Value{std::int64_t{64}}), 64.0);
  EXPECT_TRUE(std::isnan(to_number(Value{std::string("64")})));
}

TEST(Configuration, EqualValuesAreEqualWhateverTheOrder) {
  Configuration a;
  a.set("workers", std::int64_t{2});
  a.set("batch_size", std::int64_t{64});
  Configuration b;
  b.set("batch_size", std::int64_t{64});
  b.set("workers", std::int64_t{2});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.text(), "batch_size=64 workers=2");
  b.erase("workers");
  EXPECT_NE(a, b);
  EXPECT_EQ(b.find("workers"), nullptr);
}

TEST(Configuration, TypesDistinguishValues) {
  Configuration integer;
  integer.set("x", std::int64_t{1});
  Configuration text;
  text.set("x", std::string("1"));
  EXPECT_NE(integer, text);
}

}  // namespace
}  // namespace steptune
