// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/survey.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

TEST(SurveyedProcess, ThatMakesNoStepIsToldOnce) {
  const TemporaryFolder folder("survey");
  int told = 0;
  SurveyOptions options;
  options.argv = {"/bin/sleep", "60"};
  options.folder = folder.path();
  options.log_path = folder.path() / "survey.log";
  options.with_hook = false;
  options.longest_start_s = 1.5;
  options.notice_s = 0.3;
  options.no_step_yet = [&told] { ++told; };
  const auto survey = survey_program(options, SystemClock(), [] { return false; });
  ASSERT_TRUE(survey) << survey.error().text();
  EXPECT_FALSE(survey->first);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace steptune
