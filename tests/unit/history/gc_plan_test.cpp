// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/gc_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/units.hpp"
#include "tests/unit/history/fixture.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double k_now_s = 1000.0 * k_day_s;

StudyUse use_of(std::int64_t id, const std::string& name, double age_days) {
  return {id, name, k_now_s - age_days * k_day_s, false, false, 1000, 200, 50};
}

/// Returns the plan as `traces old`, `study old`.
std::vector<std::string> planned(std::vector<StudyUse> studies, const GcRequest& request,
                                 std::int64_t taken = 0) {
  std::vector<std::string> steps;
  for (const GcStep& step : plan_gc(std::move(studies), request, k_now_s, taken))
    steps.push_back(to_text(step.part) + " " + step.study);
  return steps;
}

TEST(GcPlan, OldStudiesLoseTracesAndLogs) {
  const std::vector<StudyUse> studies{use_of(1, "old", 100), use_of(2, "new", 10)};
  EXPECT_THAT(planned(studies, {90 * k_day_s, false, {}}), ElementsAre("traces old", "logs old"));
  EXPECT_THAT(planned(studies, {90 * k_day_s, true, {}}), ElementsAre("study old"));
  EXPECT_THAT(planned(studies, {200 * k_day_s, true, {}}), IsEmpty());
  EXPECT_THAT(planned(studies, {}), IsEmpty());
}

TEST(GcPlan, StudiesThatNightsNeedAreNeverRemoved) {
  std::vector<StudyUse> studies{use_of(1, "tuned", 100), use_of(2, "old", 90), use_of(3, "new", 1)};
  studies[0].needed = true;
  EXPECT_THAT(planned(studies, {50 * k_day_s, true, {}}),
              ElementsAre("traces tuned", "logs tuned", "study old"));
  EXPECT_THAT(planned(studies, {{}, false, 0}, 3 * 1250),
              ElementsAre("traces tuned", "traces old", "traces new", "logs tuned", "logs old",
                          "logs new", "study old"));
}

TEST(GcPlan, StepsNameTheBytesThatTheyFree) {
  const auto steps =
      plan_gc({use_of(1, "old", 100), use_of(2, "new", 1)}, {50 * k_day_s, true, {}}, k_now_s, 0);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].bytes, 1250);
  StudyUse empty = use_of(1, "old", 100);
  empty.trace_bytes = 0;
  EXPECT_THAT(planned({empty}, {0.0, false, {}}), ElementsAre("logs old"));
}

TEST(GcPlan, TheLimitRemovesTracesThenLogsThenStudies) {
  const std::vector<StudyUse> studies{use_of(1, "b", 2), use_of(2, "a", 3), use_of(3, "c", 1)};
  const auto at_most = [&](std::int64_t bytes) {
    return planned(studies, {{}, false, bytes}, 3 * 1250);
  };
  EXPECT_THAT(at_most(3750), IsEmpty());
  EXPECT_THAT(at_most(3749), ElementsAre("traces a"));
  EXPECT_THAT(at_most(1750), ElementsAre("traces a", "traces b"));
  EXPECT_THAT(at_most(0), ElementsAre("traces a", "traces b", "traces c", "logs a", "logs b",
                                      "logs c", "study a", "study b"))
      << "the latest log is kept";
}

TEST(GcPlan, RunningStudiesAreLeftAlone) {
  std::vector<StudyUse> studies{use_of(1, "old", 100), use_of(2, "older", 200)};
  studies[1].running = true;
  EXPECT_THAT(planned(studies, {0.0, true, 0}, 9999), ElementsAre("traces old", "logs old"));
}

TEST(GcPlan, TheLatestStudiesAreNeverRemoved) {
  // The next study gets the number after the largest one, so the newest study must stay.
  const std::vector<StudyUse> studies{use_of(1, "in use", 100), use_of(2, "old", 150),
                                      use_of(3, "newest", 200)};
  EXPECT_THAT(
      planned(studies, {50 * k_day_s, true, {}}),
      ElementsAre("traces newest", "logs newest", "study old", "traces in use", "logs in use"));
  EXPECT_THAT(planned(studies, {{}, false, 0}, 3 * 1250),
              ElementsAre("traces newest", "traces old", "traces in use", "logs newest", "logs old",
                          "logs in use", "study old"));
}

using Housekeeping = HistoryFixture;

TEST_F(Housekeeping, RemovedTracesFreeTheirSpace) {
  History history = open();
  const StudyRecord study = make_study(history);
  TrialTrace trace;
  trace.decisions.push_back({1.0, 2.0, true, {}, {}, std::string(200'000, 'x')});
  TrialRecord trial = launching_trial(1);
  must(history.record_launching(study.id, trial));
  const auto use = [&](bool is_written) {
    return must(history.use_of(must(history.study("s")), is_written, 6.0e9));
  };
  EXPECT_TRUE(use(true).running);
  trial.status = TrialStatus::completed;
  trial.objectives = {1.0};
  trial.standard_errors = {0.1};
  trial.started_wall_s = 5.0e9;
  trial.ended_wall_s = 6.0e9;
  must(history.record_ended(study.id, trial, {}, trace));
  StudyRecord finished = must(history.study("s"));
  EXPECT_TRUE(use(true).running) << "the study runs even if no trial does";
  EXPECT_FALSE(use(false).running) << "its tuner was killed";
  finished.status = StudyStatus::finished;
  must(history.record_study(finished));

  const StudyUse before = use(true);
  EXPECT_FALSE(before.running);
  EXPECT_GE(before.trace_bytes, 200'000);
  EXPECT_GT(before.record_bytes, 100);
  EXPECT_EQ(before.last_used_wall_s, 6.0e9);
  must(history.compact());
  const auto full = std::filesystem::file_size(path());

  must(history.remove_traces(study.id));
  EXPECT_EQ(use(true).trace_bytes, 0);
  EXPECT_FALSE(must(history.trace(study.id, 1)).has_value());
  EXPECT_EQ(must(history.trial(study.id, 1)).objectives, trial.objectives) << "results stay";
  must(history.compact());
  EXPECT_LE(std::filesystem::file_size(path()) + 150'000, full);
  EXPECT_EQ(static_cast<std::int64_t>(std::filesystem::file_size(path())),
            must(history.used_bytes()));
}

}  // namespace
}  // namespace steptune
