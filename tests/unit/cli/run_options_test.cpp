// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/run_options.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::HasSubstr;

TEST(Worth, IsAShareInPercentOrAsANumber) {
  const auto worth = [](const std::string& given) {
    RunOptions options;
    options.worth = given;
    StudySpec study;
    EXPECT_TRUE(apply_overrides(options, study)) << given;
    EXPECT_EQ(study.document["search"]["worth"], study.search.worth) << given;
    return study.search.worth;
  };
  EXPECT_DOUBLE_EQ(worth("5%"), 0.05);
  EXPECT_DOUBLE_EQ(worth("0.05"), 0.05);
  EXPECT_DOUBLE_EQ(worth("12.5%"), 0.125);
  EXPECT_DOUBLE_EQ(worth("0"), 0.0);
  EXPECT_DOUBLE_EQ(worth("0%"), 0.0);
  EXPECT_DOUBLE_EQ(worth("1"), 1.0);
  EXPECT_DOUBLE_EQ(worth("100%"), 1.0);
}

TEST(Worth, AnInvalidShareIsRefused) {
  for (const char* given :
       {"abc", "-1", "-5%", "200%", "5", "%", "5%%", "nan", "inf", "5 per cent"}) {
    RunOptions options;
    options.worth = given;
    StudySpec study;
    const auto applied = apply_overrides(options, study);
    ASSERT_FALSE(applied) << given;
    EXPECT_EQ(applied.error().kind, ErrorKind::usage);
    EXPECT_EQ(applied.error().message, std::string(given) + " is not a gain");
    EXPECT_EQ(applied.error().where, "--worth");
    EXPECT_THAT(applied.error().text(), HasSubstr("such as 5% or 0.05"));
  }
}

TEST(Worth, TheStudysValueIsTheDefault) {
  StudySpec study;
  study.search.worth = 0.2;
  ASSERT_TRUE(apply_overrides(RunOptions(), study));
  EXPECT_EQ(study.search.worth, 0.2);
}

}  // namespace
}  // namespace steptune
