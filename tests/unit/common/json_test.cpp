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

TEST(ParseJson, SyntaxErrorsHaveLineAndColumn) {
  const auto broken = parse_json("{\n  \"a\": ]\n}", "study.json");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().text(), HasSubstr("line 2, column 8"));
}

TEST(ParseJson, RefusesTextAfterTheDocument) {
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

TEST(ParseJson, AllowsNestingUpTo64Levels) {
  const auto nested = [](std::size_t levels) {
    return parse_json(std::string(levels, '[') + std::string(levels, ']'), "study.json");
  };
  EXPECT_TRUE(nested(64));
  EXPECT_FALSE(nested(65));
  std::string objects;
  for (int level = 0; level < 65; ++level)
    objects += R"({"a":)";
  EXPECT_THAT(parse_json(objects, "study.json").error().text(), HasSubstr("deeper than 64"));
}

TEST(ParseJson, RefusesDocumentsOfMoreThanSixteenMebibytes) {
  std::string text(std::size_t{16} << 20, ' ');
  text[0] = '1';
  EXPECT_TRUE(parse_json(text, "study.json"));
  text += ' ';
  const auto larger = parse_json(text, "study.json");
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().text(), "study.json: larger than 16 MiB");
}

TEST(ParseJson, ErrorsDoNotNameTheLibrary) {
  EXPECT_THAT(parse_json("{", "study.json").error().text(),
              ::testing::AllOf(HasSubstr("study.json: not valid JSON: parse error"),
                               ::testing::Not(HasSubstr("json.exception"))));
}

TEST(ConfigurationJson, RefusesOtherTypesAndTooLargeNumbers) {
  const auto list = configuration_from_json(Json::parse("[1]"), "x#/baseline");
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().text(), "x#/baseline: expected an object of parameter values, not array");
  const auto large =
      configuration_from_json(Json::parse(R"({"a": 9223372036854775808})"), "x#/baseline");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().text(), "x#/baseline/a: the number is too large");
  const auto most =
      configuration_from_json(Json::parse(R"({"a": 9223372036854775807})"), "x#/baseline");
  ASSERT_TRUE(most);
  EXPECT_EQ(*most->find("a"), Value{std::numeric_limits<std::int64_t>::max()});
}

}  // namespace
}  // namespace steptune
