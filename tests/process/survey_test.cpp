// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/survey.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

TEST(SurveyedProcess, AProcessWithoutAStepIsReportedOnce) {
  const TemporaryFolder folder("survey");
  int notices = 0;
  SurveyOptions options;
  options.argv = {"/bin/sleep", "60"};
  options.folder = folder.path();
  options.log_path = folder.path() / "survey.log";
  options.with_hook = false;
  options.longest_start_s = 1.5;
  options.notice_s = 0.3;
  options.no_step_yet = [&notices] { ++notices; };
  const auto survey = survey_program(options, SystemClock(), [] { return false; });
  ASSERT_TRUE(survey) << survey.error().text();
  EXPECT_FALSE(survey->first);
  EXPECT_EQ(notices, 1);
}

/// As under a launcher that keeps its processes' output: only the hook's file shows that they
/// train.
constexpr const char* k_unheard = R"sh(
events=$(printf '%s' "$STEPTUNE_PYTHON" | sed 's/.*"events":"\([^"]*\)".*/\1/')
echo '{"event":"armed","pid":1}' >> "$events"
echo '{"event":"imported","pid":1}' >> "$events"
echo '{"event":"patched","pid":1,"torch":"1.13"}' >> "$events"
exec sleep 60
)sh";

TEST(SurveyedProcess, AProcessWithoutReportsIsNotWaitedFor) {
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

/// Fakes a program under the hook that trains and replays batches at once.
std::string replaying(const std::string& then) {
  return R"sh(
case "$STEPTUNE_PYTHON" in *'"replay_batches":{"after_s":'*) ;; *) exit 3;; esac
say() { printf '[steptune] {"v":1,%s}\n' "$1"; }
say '"hook":{"event":"patched","pid":1,"torch":"1.13"}'
say '"clock":1,"step":1,"samples":8'
say '"clock":2,"step":2,"samples":16'
say '"hook":{"event":"replay_begun"}'
)sh" + then;
}

Result<Survey> survey_of(const TemporaryFolder& folder, const std::string& script) {
  SurveyOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.folder = folder.path();
  options.log_path = folder.path() / "survey.log";
  options.longest_start_s = 30.0;
  options.replay = true;
  return survey_program(options, SystemClock(), [] { return false; });
}

TEST(SurveyedProcess, EndsOnceItsReplayIsOver) {
  const TemporaryFolder folder("survey");
  const double begun_s = SystemClock().now_s();
  const auto survey = survey_of(folder, replaying(R"sh(
say '"hook":{"event":"replay_ended","steps":30,"step_s":0.2,"before_step_s":0.9}'
exec sleep 60
)sh"));
  ASSERT_TRUE(survey) << survey.error().text();
  EXPECT_FALSE(survey->ended);
  ASSERT_TRUE(survey->log.replay());
  EXPECT_DOUBLE_EQ(survey->log.replay()->ceiling(), 4.5);
  EXPECT_EQ(survey->last.step, 2.0);
  EXPECT_LT(SystemClock().now_s() - begun_s, 30.0);
}

TEST(SurveyedProcess, WaitsOutsideItsReplayAreSeen) {
  const TemporaryFolder folder("survey");
  std::string script = replaying(R"sh(
i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done
say '"hook":{"event":"replay_ended","why":"no loader"}'
exec sleep 60
)sh");
  const std::string begins = "say '\"hook\":{\"event\":\"replay_begun\"}'";
  ASSERT_NE(script.find(begins), std::string::npos) << script;
  script.insert(script.find(begins), "sleep 3\n");
  const auto survey = survey_of(folder, script);
  ASSERT_TRUE(survey) << survey.error().text();
  ASSERT_TRUE(survey->activity);
  EXPECT_LT(survey->activity->trainer_cpu_s, 0.2 * survey->activity->span_s);
}

TEST(SurveyedProcess, AFailedReplayIsNoFailure) {
  const TemporaryFolder folder("survey");
  const auto survey = survey_of(folder, replaying("exit 1"));
  ASSERT_TRUE(survey) << survey.error().text();
  EXPECT_FALSE(survey->ended);
  EXPECT_FALSE(survey->log.replay());
  EXPECT_TRUE(survey->first);
}

}  // namespace
}  // namespace steptune
