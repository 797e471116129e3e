// SPDX-License-Identifier: Apache-2.0
#include "common/document/identifiers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune::document {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Identifier, IsALetterThenLettersAndDigits) {
  for (const char* name : {"a", "Z", "_", "batch_size", "x2", "_9"})
    EXPECT_TRUE(is_identifier(name)) << name;
  for (const char* name : {"", "2x", "a-b", "a.b", "a b", "\xC3\xA9", "a\n", "{", "[", "@", "`"})
    EXPECT_FALSE(is_identifier(name)) << name;
  EXPECT_TRUE(is_identifier(std::string(64, 'x')));
  EXPECT_FALSE(is_identifier(std::string(65, 'x')));
}

TEST(StudyName, IsSafeAsAFileName) {
  for (const char* name : {"a", "9", "_", "resnet-50.v2", "A"})
    EXPECT_TRUE(is_study_name(name)) << name;
  for (const char* name : {"", "-a", ".a", "..", "a/b", "a b", "a:b"})
    EXPECT_FALSE(is_study_name(name)) << name;
  EXPECT_TRUE(is_study_name(std::string(64, 'x')));
  EXPECT_FALSE(is_study_name(std::string(65, 'x')));
}

TEST(MetricName, AllowsThePunctuationOfTrainers) {
  for (const char* name : {"loss", "val/loss", "top-1", "acc@5", "a:b", "_x.y"})
    EXPECT_TRUE(is_metric_name(name)) << name;
  for (const char* name : {"", "1st", "/loss", "a b", "a=b", "a%"})
    EXPECT_FALSE(is_metric_name(name)) << name;
  EXPECT_TRUE(is_metric_name(std::string(128, 'x')));
  EXPECT_FALSE(is_metric_name(std::string(129, 'x')));
}

TEST(IdentifiersIn, LeavesOutStringsAndNumbers) {
  EXPECT_THAT(identifiers_in("workers + threads <= 2 * cpus"),
              ElementsAre("workers", "threads", "cpus"));
  EXPECT_THAT(identifiers_in("precision == 'bf16' && x2 > 1e3"), ElementsAre("precision", "x2"));
  EXPECT_THAT(identifiers_in("a == \"b 'c' d\" || a"), ElementsAre("a", "a"));
  EXPECT_THAT(identifiers_in("2x"), IsEmpty()) << "a typing error, no name";
  EXPECT_THAT(identifiers_in("a == 'b"), ElementsAre("a")) << "a string that is never closed";
  EXPECT_THAT(identifiers_in(""), IsEmpty());
}

TEST(AsIdentifier, ReplacesOtherCharactersAndAvoidsADigitInFront) {
  EXPECT_EQ(as_identifier("ds_config", "file_"), "ds_config");
  EXPECT_EQ(as_identifier("a.b-c d", "file_"), "a_b_c_d");
  EXPECT_EQ(as_identifier("2d", "file_"), "file_2d");
  EXPECT_EQ(as_identifier("", "file_"), "file_");
}

}  // namespace
}  // namespace steptune::document
