// SPDX-License-Identifier: Apache-2.0
#include "common/json.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using testing::HasSubstr;

TEST(ParseJson, AllowsComments) {
  const auto json = parse_json("{ // what\n \"a\": 1 /* why */ }", "study.json");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["a"], 1);
}

TEST(ParseJson, RefusesADuplicateKeyInTheSameObjectOnly) {
  const auto twice = parse_json(R"({"a": 1, "b": {"a": 2}, "a": 3})", "study.json");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().text(), HasSubstr("study.json: the key \"a\" appears twice"));
  EXPECT_TRUE(parse_json(R"({"a": 1, "b": {"a": 2}, "c": [{"a": 3}]})", "study.json"));
}

TEST(ParseJson, TellsLineAndColumnOfASyntaxError) {
  const auto broken = parse_json("{\n  \"a\": ]\n}", "study.json");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().text(), HasSubstr("line 2, column 8"));
}

TEST(ParseJson, RefusesDeepNesting) {
  const std::string deep(100'000, '[');
  const auto json = parse_json(deep, "study.json");
  ASSERT_FALSE(json);
  EXPECT_THAT(json.error().text(), HasSubstr("deeper than 64"));
}

TEST(ParseJson, RefusesWhatFollowsTheDocument) {
  EXPECT_FALSE(parse_json("{} {}", "x"));
}

TEST(DumpJson, SurvivesHostileStringsAndNumbers) {
  const Json json = {{"text", "a\xff\xfe"},
                     {"nan", std::numeric_limits<double>::quiet_NaN()},
                     {"list", {-std::numeric_limits<double>::infinity(), 1.5}}};
  EXPECT_EQ(dump_json(json),
            "{\"text\":\"a\xEF\xBF\xBD\xEF\xBF\xBD\",\"nan\":\"nan\",\"list\":[\"-inf\",1.5]}");
}

TEST(ConfigurationJson, RoundTripKeepsTypes) {
  Configuration configuration;
  configuration.set("batch_size", std::int64_t{64});
  configuration.set("lr", 0.5);
  configuration.set("amp", true);
  configuration.set("precision", std::string("bf16"));
  const auto back = configuration_from_json(to_json(configuration), "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, configuration);
}

TEST(ConfigurationJson, RefusesNestedValues) {
  const auto nested = configuration_from_json(Json::parse(R"({"a": [1]})"), "x#/baseline");
  ASSERT_FALSE(nested);
  EXPECT_THAT(nested.error().text(), HasSubstr("x#/baseline/a: expected a number"));
}

TEST(ReadJsonFile, SaysWhyAFileCannotBeRead) {
  const auto missing = read_json_file("/nowhere/study.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_THAT(missing.error().text(), HasSubstr("No such file"));
  EXPECT_FALSE(read_json_file("/tmp"));
}

}  // namespace
}  // namespace steptune
