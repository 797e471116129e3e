// SPDX-License-Identifier: Apache-2.0
#include "common/json_fields.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace steptune {
namespace {

constexpr double k_infinite = std::numeric_limits<double>::infinity();

TEST(JsonFields, NonFiniteNumbersAreNull) {
  Json json;
  json["values"] = numbers_or_null({1.5, k_infinite, std::nan(""), -2.0});
  EXPECT_EQ(dump_json(json), R"({"values":[1.5,null,null,-2.0]})");
  const auto values = numbers_at(json, "values");
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0], 1.5);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], -2.0);
}

TEST(JsonFields, AbsentOrMistypedKeysGiveNothing) {
  const Json json{{"number", 3}, {"text", "3"}, {"list", {1, "x"}}, {"none", nullptr}};
  EXPECT_EQ(number_at(json, "number"), 3.0);
  for (const char* key : {"text", "list", "none", "absent"}) {
    EXPECT_FALSE(number_at(json, key)) << key;
    EXPECT_FALSE(count_at(json, key)) << key;
  }
  EXPECT_EQ(text_at(json, "text"), "3");
  for (const char* key : {"number", "list", "none", "absent"})
    EXPECT_EQ(text_at(json, key), "") << key;
  for (const char* key : {"number", "text", "none", "absent"})
    EXPECT_TRUE(numbers_at(json, key).empty()) << key;
}

TEST(JsonFields, ToleratesWhatIsNoObject) {
  for (const Json& json : {Json(nullptr), Json(7), Json("text"), Json::array({1, 2})}) {
    EXPECT_FALSE(number_at(json, "key")) << dump_json(json);
    EXPECT_EQ(text_at(json, "key"), "") << dump_json(json);
    EXPECT_TRUE(numbers_at(json, "key").empty()) << dump_json(json);
  }
}

TEST(JsonFields, ReadsOnlyWholeNumbersFromZeroOnAsCounts) {
  const auto count_of = [](const Json& number) { return count_at(Json{{"n", number}}, "n"); };
  EXPECT_EQ(count_of(16), 16);
  EXPECT_EQ(count_of(0), 0);
  EXPECT_FALSE(count_of(1e30));
  EXPECT_FALSE(count_of(2.5));
  EXPECT_FALSE(count_of(-1));
  EXPECT_FALSE(count_of(std::nan("")));
}

TEST(JsonFields, ShowsStringsWithoutQuotes) {
  EXPECT_EQ(plain_text("bf16"), "bf16");
  EXPECT_EQ(plain_text(4), "4");
  EXPECT_EQ(plain_text(nullptr), "null");
  EXPECT_EQ(plain_text(Json::array({1, "a"})), R"([1,"a"])");
}

}  // namespace
}  // namespace steptune
