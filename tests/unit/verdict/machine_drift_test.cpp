// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/machine_drift.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {
namespace {

TrialRecord baseline_run(std::int64_t number, double value, double relative_error = 0.005) {
  TrialRecord trial = completed(number, value, relative_error * value);
  trial.purpose = number == 1 ? TrialPurpose::baseline : TrialPurpose::sentinel;
  trial.configuration.set("x", std::int64_t{1});
  return trial;
}

/// Returns runs at trials 1, 12, 23, ... on a machine with the level `level_at` of the trial's
/// number.
template <typename Level>
std::vector<TrialRecord> runs_at(int count, const Level& level_at, double launch_variation = 0.0,
                                 std::uint64_t seed = 1) {
  Rng rng(seed, "runs");
  std::vector<TrialRecord> trials;
  for (int i = 0; i < count; ++i) {
    const std::int64_t number = 1 + std::int64_t{11} * i;
    const double error = std::hypot(launch_variation, 0.005) * rng.normal();
    trials.push_back(baseline_run(number, 100.0 * std::exp(level_at(number) + error)));
  }
  return trials;
}

TEST(MachineDrift, OneRunOrEqualRunsShowNone) {
  EXPECT_FALSE(MachineDrift().is_significant());
  EXPECT_FALSE(MachineDrift({baseline_run(1, 100.0)}).is_significant());
  const MachineDrift quiet(
      {baseline_run(1, 100.0), baseline_run(12, 101.0), baseline_run(30, 99.5)});
  EXPECT_FALSE(quiet.is_significant());
  EXPECT_EQ(quiet.at(20).log_ratio, 0.0);
  EXPECT_EQ(quiet.at(20).standard_error, 0.0);
  EXPECT_EQ(quiet.runs(), 3);
}

TEST(MachineDrift, ALineIsFollowedBetweenTheRuns) {
  const auto line = [](std::int64_t number) { return 0.003 * static_cast<double>(number - 1); };
  const MachineDrift drift(runs_at(5, line, 0.005));
  ASSERT_TRUE(drift.is_significant());
  for (const std::int64_t number : {5, 12, 20, 30, 40}) {
    const MachineLevel level = drift.at(number);
    EXPECT_NEAR(level.log_ratio, line(number), 3.0 * level.standard_error) << number;
    EXPECT_LT(level.standard_error, 0.025);
  }
  EXPECT_NEAR(drift.largest_log_ratio(), line(45), 0.02);
  EXPECT_DOUBLE_EQ(drift.at(1).log_ratio, 0.0) << "trials are compared at this level";
}

TEST(MachineDrift, LevelsAreNotExtrapolated) {
  const auto line = [](std::int64_t number) { return 0.003 * static_cast<double>(number - 1); };
  const MachineDrift drift(runs_at(5, line));
  const MachineLevel last = drift.at(45);
  EXPECT_DOUBLE_EQ(drift.at(60).log_ratio, last.log_ratio);
  EXPECT_GT(drift.at(60).standard_error, last.standard_error);
  EXPECT_GT(drift.at(50).standard_error, last.standard_error);
  EXPECT_GT(drift.at(60).standard_error, drift.at(50).standard_error);
}

TEST(MachineDrift, TwoRunsThatDifferByFarMoreThanLaunchesShowDrift) {
  EXPECT_TRUE(MachineDrift({baseline_run(1, 100.0), baseline_run(20, 120.0)}).is_significant());
  EXPECT_FALSE(MachineDrift({baseline_run(1, 100.0), baseline_run(20, 103.0)}).is_significant());
  EXPECT_FALSE(
      MachineDrift({baseline_run(1, 100.0), baseline_run(20, 120.0, 0.1)}).is_significant())
      << "a wide interval says nothing";
}

TEST(MachineDrift, QuietMachinesSeldomSeemToDrift) {
  const auto level = [](std::int64_t /*number*/) { return 0.0; };
  for (const auto& [launch_variation, most] : {std::pair{0.0, 0}, {0.01, 2}, {0.03, 35}}) {
    int false_alarms = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      const int count = 2 + static_cast<int>(seed % 6);
      false_alarms += MachineDrift(runs_at(count, level, launch_variation, seed)).is_significant();
    }
    EXPECT_LE(false_alarms, most) << launch_variation;
  }
}

TEST(MachineDrift, ErrorsAreRightAtEveryTrial) {
  const auto line = [](std::int64_t number) { return 0.004 * static_cast<double>(number - 1); };
  int covered = 0;
  int asked = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const MachineDrift drift(runs_at(5, line, 0.015, seed));
    if (!drift.is_significant()) continue;
    for (const std::int64_t number : {6, 17, 28, 39}) {
      const MachineLevel level = drift.at(number);
      // Both trials of a comparison have the error of their level.
      const double error = std::hypot(level.standard_error, drift.at(1).standard_error);
      covered += std::abs(level.log_ratio - line(number)) <= 1.96 * error ? 1 : 0;
      ++asked;
    }
  }
  EXPECT_GT(asked, 1000);
  EXPECT_GT(covered, 0.93 * asked);
}

TEST(MachineDrift, IsNotTheVariationOfLaunches) {
  const auto line = [](std::int64_t number) { return 0.004 * static_cast<double>(number - 1); };
  const auto trials = runs_at(6, line);
  const double taken_for = estimate_launch_variation(trials, MachineDrift()).relative;
  EXPECT_GT(taken_for, 0.05);
  const LaunchVariation variation = estimate_launch_variation(trials, MachineDrift(trials));
  EXPECT_LT(variation.relative, 0.02);
  EXPECT_DOUBLE_EQ(variation.degrees_of_freedom, 3.0 + 5.0) << "of the prior and of six runs";
}

TEST(MachineDrift, IgnoresFailedAndOtherTrials) {
  TrialRecord failed = baseline_run(12, 200.0);
  failed.status = TrialStatus::failed;
  failed.objectives.clear();
  failed.standard_errors.clear();
  EXPECT_EQ(MachineDrift({baseline_run(1, 100.0), failed, completed(13, 300.0, 1.0)}).runs(), 1);
}

/// The machine slows down by 20 % between trials 1 and 21. Trial 20 is the fastest, but measured as
/// slower than trial 2.
class DriftingStanding : public ::testing::Test {
 protected:
  DriftingStanding() {
    trials_.push_back(baseline_run(1, 100.0));
    trials_.push_back(completed(2, 84.0, 0.4));
    trials_.push_back(baseline_run(11, 110.5));
    trials_.push_back(completed(20, 89.0, 0.4));
    trials_.push_back(baseline_run(21, 120.0));
  }
  [[nodiscard]] Standing standing() const { return Standing(ranking_rules(time_study()), trials_); }
  std::vector<TrialRecord> trials_;
};

TEST_F(DriftingStanding, ComparesTrialsAsIfItHadNotDrifted) {
  const Standing corrected = standing();
  ASSERT_TRUE(corrected.drift().is_significant());
  EXPECT_EQ(corrected.incumbent()->number, 20);
  EXPECT_NEAR(corrected.value(trials_[3], 0), 89.0 / 1.19, 2.0);
  EXPECT_GT(corrected.error(trials_[3], 0),
            error_among_launches(trials_[3], 0, corrected.launches()) / 1.19)
      << "the error of the drift adds to it";
  EXPECT_EQ(corrected.find(20)->objectives[0], 89.0) << "records keep what was measured";
  EXPECT_NEAR(corrected.without_drift(trials_[3]).objectives[0], corrected.value(trials_[3], 0),
              1e-9);
  EXPECT_NEAR(corrected.without_drift(trials_[3]).level.log_ratio, std::log(1.19), 0.03);
}

TEST_F(DriftingStanding, DoesNotDependOnTheOrderOfTrials) {
  Standing grown(ranking_rules(time_study()));
  grown.put(trials_[3]);
  grown.put(trials_[1]);
  EXPECT_EQ(grown.incumbent()->number, 2);
  for (const std::size_t i : {4U, 0U, 2U})
    grown.put(trials_[i]);
  EXPECT_EQ(grown.incumbent()->number, 20);
  EXPECT_DOUBLE_EQ(grown.value(trials_[1], 0), standing().value(trials_[1], 0));
}

TEST_F(DriftingStanding, SentinelsAreNoCandidates) {
  trials_[4].objectives[0] = 1.0;
  const Standing corrected = standing();
  for (const TrialRecord* candidate : corrected.candidates())
    EXPECT_NE(candidate->purpose, TrialPurpose::sentinel);
  EXPECT_EQ(corrected.baseline()->number, 1);
  EXPECT_EQ(corrected.ended_search_trials(), 3);
}

TEST_F(DriftingStanding, MetricsWithoutAClockAreNotCorrected) {
  StudySpec study = time_study();
  study.objectives = {{"throughput", Direction::maximize}};
  EXPECT_FALSE(Standing(ranking_rules(study), trials_).drift().is_significant());
}

/// Returns a trial of 30 steps of 0.1 s, whose mean has this relative error.
TrialRecord with_noise(std::int64_t number, double relative_error) {
  TrialRecord trial = completed(number, 100.0);
  trial.measurement = steady(0.1);
  trial.measurement->step_seconds_per_sample = 0.1;
  trial.measurement->step_standard_error_s = 0.1 * relative_error;
  trial.measurement->window_s = 3.0;
  trial.measurement->window_steps = trial.measurement->window_samples = 30.0;
  return trial;
}

TEST(UsualVariance, UsesCompletedUndisturbedTrials) {
  EXPECT_EQ(usual_variance_s({}), 0.0);
  std::vector<TrialRecord> trials{with_noise(1, 0.01), with_noise(2, 0.02)};
  // The window of 3 s times the mean of the squared relative errors.
  const double usual_s = 3.0 * 0.5 * (1e-4 + 4e-4);
  EXPECT_DOUBLE_EQ(usual_variance_s(trials), usual_s);
  trials.push_back(with_noise(3, 0.5));
  trials.back().status = TrialStatus::stopped_early;
  trials.push_back(with_noise(4, 0.5));
  trials.back().status = TrialStatus::running;
  trials.push_back(with_noise(5, 0.5));
  trials.back().started_wall_s = 0.0;
  trials.back().ended_wall_s = 10.0;
  trials.back().disturbed_s = 8.0;
  EXPECT_DOUBLE_EQ(usual_variance_s(trials), usual_s);
}

}  // namespace
}  // namespace steptune
