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

/// As a launcher that keeps what its processes print: the hook's file alone tells that they train.
constexpr const char* k_unheard = R"sh(
events=$(printf '%s' "$STEPTUNE_PYTORCH" | sed 's/.*"events":"\([^"]*\)".*/\1/')
echo '{"event":"armed","pid":1}' >> "$events"
echo '{"event":"imported","pid":1}' >> "$events"
echo '{"event":"patched","pid":1,"torch":"1.13"}' >> "$events"
exec sleep 60
)sh";

TEST(SurveyedProcess, ThatTrainsUnheardIsNotWaitedFor) {
  const TemporaryFolder folder("survey");
  SurveyOptions options;
  options.argv = {"/bin/sh", "-c", k_unheard};
  options.folder = folder.path();
  options.log_path = folder.path() / "survey.log";
  options.longest_start_s = 30.0;
  options.longest_unheard_s = 0.3;
  const SystemClock clock;
  const double begun_s = clock.now_s();
  const auto survey = survey_program(options, clock, [] { return false; });
  ASSERT_TRUE(survey) << survey.error().text();
  EXPECT_TRUE(survey->is_unheard);
  EXPECT_TRUE(survey->log.patched());
  EXPECT_FALSE(survey->first);
  EXPECT_LT(clock.now_s() - begun_s, 20.0);
}

}  // namespace
}  // namespace steptune
