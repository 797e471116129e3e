// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_times.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

Configuration workers(std::int64_t count) {
  Configuration configuration;
  configuration.set("workers", count);
  return configuration;
}

TrialRecord run(TrialPurpose purpose, std::int64_t count, double time_s, int round = 0,
                TrialStatus status = TrialStatus::completed) {
  TrialRecord trial;
  trial.purpose = purpose;
  trial.configuration = workers(count);
  trial.status = status;
  trial.objectives = {time_s};
  trial.confirm_pair = round;
  return trial;
}

using enum TrialPurpose;

TEST(NightTimes, AreWithoutDisturbedLaunches) {
  std::vector<TrialRecord> trials{run(hint, 4, 10.0), run(confirm_incumbent, 4, 15.0, 1),
                                  run(confirm_baseline, 0, 20.0, 1),
                                  run(confirm_incumbent, 4, 11.0, 1)};
  trials[1].spent_s = 10.0;
  trials[1].disturbed_s = 5.0;
  EXPECT_THAT(times_of(trials, workers(4), false),
              ElementsAre(DoubleNear(std::log(10.0), 1e-12), DoubleNear(std::log(11.0), 1e-12)));
  StudySpec study;
  study.baseline = workers(0);
  const auto rounds = rounds_of(study, trials, workers(4), workers(0));
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].incumbent, &trials[3]);
}

TEST(NightTimes, CountMeasuredLaunchesOnly) {
  const std::vector<TrialRecord> trials{run(baseline, 0, 20.0, 0, TrialStatus::infeasible),
                                        run(hint, 4, 10.0),
                                        run(search, 6, 9.0, 0, TrialStatus::stopped_early),
                                        run(confirm_incumbent, 4, 11.0, 1),
                                        run(confirm_baseline, 0, 22.0, 1),
                                        run(confirm_incumbent, 4, 11.0, 2, TrialStatus::failed)};
  EXPECT_THAT(baseline_times(trials), ElementsAre(std::log(20.0), std::log(22.0)));
  EXPECT_THAT(times_of(trials, workers(4), false), ElementsAre(std::log(10.0), std::log(11.0)));
  EXPECT_THAT(times_of(trials, workers(4), true), ElementsAre(std::log(11.0)));
  EXPECT_TRUE(times_of(trials, workers(6), false).empty());
}

TEST(NightTimes, RoundsPairWhatRanSideBySide) {
  StudySpec study;
  study.baseline = workers(0);
  const std::vector<TrialRecord> trials{
      run(confirm_incumbent, 4, 10.0, 1), run(confirm_baseline, 0, 20.0, 1),
      run(confirm_incumbent, 6, 8.0, 2),  run(confirm_incumbent, 4, 10.5, 2),
      run(confirm_baseline, 0, 21.0, 2),  run(confirm_incumbent, 6, 8.5, 3)};
  EXPECT_EQ(rounds_of(study, trials, workers(6), workers(4)).size(), 1U);
  EXPECT_EQ(rounds_of(study, trials, workers(4), workers(0)).size(), 2U);
  EXPECT_EQ(rounds_of(study, trials, workers(0), workers(4)).size(), 2U);
  const auto pairs = rounds_of(study, trials, workers(0), workers(4));
  EXPECT_THAT(pairs[1].incumbent->objectives[0], DoubleNear(21.0, 1e-12));
}

}  // namespace
}  // namespace steptune
