// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/recommend.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"
#include "tuner/verdict/plan_figures.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Fixture: a baseline of 4 s, a finalist that the search measured at 2 s, and fresh runs of both.
class RecommendTest : public ::testing::Test {
 protected:
  RecommendTest() { trials_.front().purpose = TrialPurpose::baseline; }

  void confirm(double finalist_s, double baseline_s, int rounds = 3) {
    for (int round = 1; round <= rounds; ++round) {
      const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
      trials_.push_back(
          confirming(number, TrialPurpose::confirm_incumbent, round, 2, finalist_s, 0.01));
      trials_.push_back(
          confirming(number + 1, TrialPurpose::confirm_baseline, round, 1, baseline_s, 0.01));
      for (std::size_t i = trials_.size() - 2; i < trials_.size(); ++i) {
        trials_[i].measurement = steady(0.001 * trials_[i].objectives[0]);
        trials_[i].measurement->window_s = 20.0;
      }
    }
  }
  Recommendation recommended() {
    return recommend(study_, Standing(ranking_rules(study_), trials_), 0.5, 0.25).value();
  }

  StudySpec study_ = time_study();
  std::vector<TrialRecord> trials_{completed(1, 4.0, 0.01), completed(2, 2.0, 0.01)};
};

TEST_F(RecommendTest, ThePlansIntervalCoversAFurtherLaunch) {
  confirm(2.0, 4.0);
  const Recommendation recommendation = recommended();
  EXPECT_EQ(recommendation.claim, Claim::faster);
  EXPECT_DOUBLE_EQ(recommendation.measured_s, 60.0);
  ASSERT_EQ(recommendation.incumbent_half_widths.size(), 1U);
  // Equal launches reduce the prior of 1.5 % only partly, and one more launch varies by it, too.
  const double relative = recommendation.incumbent_half_widths[0] / 2.0;
  EXPECT_GT(relative, 0.015);
  EXPECT_LT(relative, 0.05);
  EXPECT_LT(recommendation.payback_low, *recommendation.payback_share);
  EXPECT_GT(recommendation.payback_high, *recommendation.payback_share);
}

TEST_F(RecommendTest, ABaselineThatViolatesAGuardIsNotKept) {
  trials_.front().status = TrialStatus::infeasible;
  confirm(4.1, 4.0);
  const Recommendation recommendation = recommended();
  EXPECT_EQ(recommendation.claim, Claim::feasible);
  EXPECT_EQ(recommendation.incumbent_trial, 2);
  EXPECT_NEAR(recommendation.speed_up.ratio, 4.0 / 4.1, 1e-9)
      << "of the fresh runs, not the search";
  EXPECT_NEAR(recommendation.incumbent_objectives[0], 4.1, 1e-9);
  EXPECT_FALSE(recommendation.payback_share);
}

TEST_F(RecommendTest, AStoppedTrialIsRecommendedAfterAValidFreshRun) {
  trials_.front().status = TrialStatus::infeasible;
  trials_.back().status = TrialStatus::stopped_early;
  const auto now = [&] {
    return recommend(study_, Standing(ranking_rules(study_), trials_), 0.5, 0.25);
  };
  EXPECT_FALSE(now()) << "no guard has judged it";
  const std::vector<TrialRecord> searched = trials_;
  confirm(4.1, 4.0);
  ASSERT_TRUE(now());
  EXPECT_EQ(now()->claim, Claim::feasible);
  EXPECT_EQ(now()->incumbent_trial, 2);
  trials_ = searched;
  confirm(2.0, 4.0);
  EXPECT_EQ(now()->claim, Claim::faster);
  trials_[2].status = TrialStatus::infeasible;
  trials_.push_back(completed(20, 1.0, 0.01));
  trials_.back().status = TrialStatus::stopped_early;
  EXPECT_FALSE(now()) << "one that has run was refuted, the other one has not run";
}

TEST_F(RecommendTest, AFailedBaselineEndsTheConfirmation) {
  confirm(2.0, 4.0, 1);
  EXPECT_THAT(texts_of(recommended().notes), IsEmpty());
  for (int failure = 0; failure < 2; ++failure) {
    const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
    trials_.push_back(confirming(number, TrialPurpose::confirm_baseline, 2, 1, 4.0));
    trials_.back().status = TrialStatus::failed;
    trials_.back().objectives.clear();
  }
  EXPECT_THAT(texts_of(recommended().notes),
              ElementsAre(HasSubstr("fresh runs of the baseline failed: nothing more is")));
}

TEST_F(RecommendTest, SaysInWhatTheBestMayDiffer) {
  for (TrialRecord& trial : trials_)
    trial.configuration.set("precision", std::string(trial.number == 1 ? "fp32" : "bf16"));
  trials_.push_back(completed(3, 2.02, 0.01));
  trials_.back().configuration = trials_[1].configuration;
  trials_.back().configuration.set("x", std::int64_t{3});
  const Recommendation recommendation = recommended();
  ASSERT_THAT(recommendation.tied, ElementsAre(3));
  ASSERT_EQ(recommendation.undecided.size(), 1U) << "bf16 is certain";
  EXPECT_EQ(recommendation.undecided[0].name, "x");
  EXPECT_THAT(recommendation.undecided[0].values,
              ElementsAre(Value(std::int64_t{2}), Value(std::int64_t{3})));
}

TEST_F(RecommendTest, FreshRunsThatDifferAreNotTied) {
  trials_.push_back(completed(3, 2.02, 0.01));
  confirm(2.0, 4.0);
  EXPECT_THAT(recommended().tied, ElementsAre(3));
  for (int round = 1; round <= 3; ++round) {
    const auto number = static_cast<std::int64_t>(trials_.size()) + 1;
    trials_.push_back(confirming(number, TrialPurpose::confirm_incumbent, round, 3, 3.0, 0.01));
    trials_.back().measurement = steady(0.003);
  }
  const Recommendation recommendation = recommended();
  EXPECT_EQ(recommendation.incumbent_trial, 2);
  EXPECT_THAT(recommendation.tied, IsEmpty()) << "1.33 times as fast, where the best is 2 times";
  EXPECT_THAT(recommendation.undecided, IsEmpty());
}

TEST_F(RecommendTest, TrialsSlowerThanTheFreshRunsAreNotTied) {
  trials_[1].standard_errors = {1.0};
  trials_.push_back(completed(3, 2.1, 0.01));
  trials_.push_back(completed(4, 3.5, 0.01));
  EXPECT_THAT(recommended().tied, ElementsAre(3, 4, 1));
  confirm(2.0, 4.0);
  EXPECT_EQ(recommended().incumbent_trial, 2);
  EXPECT_THAT(recommended().tied, ElementsAre(3))
      << "1.14 times as fast, where the best is 2 times";
}

TEST_F(RecommendTest, FreshRunsGiveTheirGeometricMean) {
  confirm(2.0, 4.0, 2);
  trials_[2].objectives = {1.9};  // the finalist's first fresh run
  trials_[3].objectives = {4.1};
  const Recommendation recommendation = recommended();
  EXPECT_NEAR(recommendation.incumbent_objectives[0], std::sqrt(1.9 * 2.0), 1e-12);
  EXPECT_NEAR(recommendation.baseline_objectives[0], std::sqrt(4.1 * 4.0), 1e-12);
  ASSERT_EQ(recommendation.finalists.size(), 1U);
  EXPECT_EQ(recommendation.finalists[0].trial, 2);
}

TEST_F(RecommendTest, WithoutFreshRunsComparesSearchTrials) {
  trials_[1].measurement = steady(0.002);
  trials_[1].measurement->window_s = 15.0;
  trials_[1].measurement->samples_reported = true;
  const Recommendation recommendation = recommended();
  EXPECT_EQ(recommendation.claim, Claim::unconfirmed);
  EXPECT_EQ(recommendation.incumbent_trial, 2);
  EXPECT_EQ(recommendation.configuration, trials_[1].configuration);
  EXPECT_NEAR(recommendation.speed_up.ratio, 2.0, 1e-12);
  EXPECT_EQ(recommendation.speed_up.pairs, 0);
  EXPECT_EQ(recommendation.baseline_objectives, std::vector<double>{4.0});
  EXPECT_EQ(recommendation.baseline_half_widths.size(), 1U);
  EXPECT_DOUBLE_EQ(recommendation.measured_s, 15.0);
  EXPECT_EQ(recommendation.samples_counted, "as the program counts them");
  EXPECT_DOUBLE_EQ(recommendation.payback_share.value(), 0.5 / 2.0) << "0.5 s of tuning";
  EXPECT_DOUBLE_EQ(recommendation.tuning_s, 0.5);
  EXPECT_NEAR(recommendation.tuning_usd, 0.25 + 0.0005, 1e-12) << "and machines kept";
}

TEST_F(RecommendTest, WithoutABaselineComparesNothing) {
  trials_.erase(trials_.begin());
  const Recommendation recommendation = recommended();
  EXPECT_EQ(recommendation.claim, Claim::unconfirmed);
  EXPECT_TRUE(recommendation.baseline_objectives.empty());
  EXPECT_TRUE(std::isnan(recommendation.speed_up.ratio));
  EXPECT_FALSE(recommendation.payback_share);
}

TEST_F(RecommendTest, IsNothingWhereNoTrialMayWin) {
  trials_.clear();
  EXPECT_FALSE(recommend(study_, Standing(ranking_rules(study_), trials_), 0.0, 0.0));
}

TEST_F(RecommendTest, AnUnconfirmedGainLeavesTheBaseline) {
  confirm(4.2, 4.1);
  const Recommendation recommendation = recommended();
  EXPECT_EQ(recommendation.claim, Claim::nothing_faster);
  EXPECT_EQ(recommendation.incumbent_trial, 1);
  EXPECT_NEAR(recommendation.incumbent_objectives[0], 4.1, 1e-12);
  EXPECT_EQ(recommendation.baseline_objectives, recommendation.incumbent_objectives);
  EXPECT_DOUBLE_EQ(recommendation.measured_s, 60.0);
  EXPECT_TRUE(std::isnan(recommendation.speed_up.ratio));
  EXPECT_FALSE(recommendation.payback_share);
  EXPECT_THAT(recommendation.tied, IsEmpty());
  ASSERT_EQ(recommendation.finalists.size(), 1U);
  EXPECT_EQ(recommendation.finalists[0].verdict, Verdict::not_faster);
}

TEST_F(RecommendTest, NamesTheTrialsThatNoOtherDominates) {
  study_.objectives.push_back({"accuracy", Direction::maximize});
  const std::vector<double> accuracies{0.5, 0.9};
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    trials_[i].objectives.push_back(accuracies[i]);
    trials_[i].standard_errors.push_back(0.0);
  }
  EXPECT_THAT(recommended().pareto, ElementsAre(2));
}

TEST(NextLaunch, VariesBetweenLaunchesAndWithinRuns) {
  const TrialRecord one = completed(1, 4.0, 0.08);
  const TrialRecord other = completed(2, 4.0, 0.08);
  const LaunchVariation known{0.03, 1e9};
  // 2 % within a run, and 3 % among launches, one of which is still to come.
  EXPECT_NEAR(next_launch_half_widths({&one}, {4.0}, known, {})[0],
              1.96 * 4.0 * std::sqrt(2.0 * 0.0009 + 0.0004), 1e-3);
  EXPECT_NEAR(next_launch_half_widths({&one, &other}, {4.0}, known, {})[0],
              1.96 * 4.0 * std::sqrt(1.5 * 0.0009 + 0.0002), 1e-3);
  EXPECT_TRUE(std::isnan(next_launch_half_widths({}, {4.0}, known, {})[0]));
  TrialRecord unsure = completed(3, 4.0, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(next_launch_half_widths({&one, &unsure}, {4.0}, known, {})[0]));
  unsure.standard_errors.clear();
  EXPECT_TRUE(std::isnan(next_launch_half_widths({&unsure}, {4.0}, known, {})[0]));
}

TEST(PaybackInterval, FollowsFromTheShareSaved) {
  Recommendation recommendation;
  recommendation.payback_share = 0.1;
  recommendation.speed_up = {2.0, 1.25, 4.0, 3, 1.25};
  set_payback_interval(recommendation);
  EXPECT_NEAR(recommendation.payback_low, 0.1 * 0.5 / 0.75, 1e-12);
  EXPECT_NEAR(recommendation.payback_high, 0.1 * 0.5 / 0.2, 1e-12);
  recommendation.speed_up.low = 1.0;
  set_payback_interval(recommendation);
  EXPECT_TRUE(std::isinf(recommendation.payback_high)) << "it may save nothing";
}

TEST(PaybackInterval, IsNotSetWhereNothingIsSaved) {
  Recommendation recommendation;
  recommendation.speed_up = {2.0, 1.25, 4.0, 3, 1.25};
  set_payback_interval(recommendation);
  EXPECT_TRUE(std::isnan(recommendation.payback_low)) << "no share is known";
  recommendation.payback_share = 0.1;
  recommendation.speed_up.ratio = 1.0;
  set_payback_interval(recommendation);
  EXPECT_TRUE(std::isnan(recommendation.payback_low));
}

TEST(NextLaunch, AReportedMetricHasNoInterval) {
  const TrialRecord trial = completed(1, 4.0, 0.0);
  EXPECT_TRUE(std::isnan(next_launch_half_widths({&trial}, {4.0}, {}, {})[0]));
}

TEST(NextLaunch, WholeRunsOfThePlansLengthGiveTheirSpread) {
  std::vector<TrialRecord> runs;
  for (std::int64_t number = 1; number <= 4; ++number) {
    runs.push_back(completed(number, 4.0, 1.0));
    runs.back().measurement = steady(0.004);
    runs.back().measurement->status = MeasurementStatus::warming_up;
    runs.back().measurement->whole_run = true;
    runs.back().measurement->total_samples = 1000.0;
  }
  const ConfigurationRuns all{&runs[0], &runs[1], &runs[2], &runs[3]};
  const LaunchVariation variation{0.01, 6.0};
  PlannedRun plan;
  plan.samples = 1000.0;
  // t(6; 0.975) = 2.4469.
  const double spread = 4.0 * 2.446912 * 0.01 * std::sqrt(1.25);
  EXPECT_NEAR(next_launch_half_widths(all, {4.0}, variation, plan)[0], spread, 1e-5);
  plan.samples = 1e6;
  EXPECT_NEAR(next_launch_half_widths(all, {4.0}, variation, plan)[0], std::hypot(spread, 1.959964),
              1e-4)
      << "more trials do not make a longer run more certain";
}

TEST(SamplesCounted, NamesTheSourceOfTheSamplesPerStep) {
  StudySpec study = time_study();
  TrialRecord trial = completed(1, 4.0);
  EXPECT_EQ(samples_counted(study, trial), "");
  trial.measurement = steady(0.01);
  trial.measurement->window_steps = 10.0;
  trial.measurement->window_samples = 640.0;
  trial.measurement->samples_reported = true;
  EXPECT_EQ(samples_counted(study, trial), "as the program counts them, 64 a step");
  trial.measurement->samples_reported = false;
  EXPECT_THAT(samples_counted(study, trial), HasSubstr("one per step: neither"));
  study.planned_run.batch_size = document::Formula::constant(256.0, "4 * 64");
  EXPECT_EQ(samples_counted(study, trial), "256 a step, by \"planned_run.batch_size\" (4 * 64)");
  trial.measurement->samples_reported = true;
  EXPECT_THAT(samples_counted(study, trial),
              HasSubstr("(4 * 64) says 256: does it count micro-batches"));
}

TEST(SamplesCounted, SaysWhatABarOfBatchesCounts) {
  Json document = time_study().document;
  document["parameters"] = Json::parse(R"({
    "batch": {"type": "int", "low": 8, "high": 64},
    "accumulate": {"type": "int", "low": 1, "high": 8}
  })");
  document["command"] = Json::array({"train", "{batch}", "{accumulate}"});
  document["baseline"] = Json{{"batch", 16}, {"accumulate", 4}};
  document["planned_run"]["batch_size"] = "batch * accumulate";
  TrialRecord trial = completed(1, 4.0);
  trial.configuration = {};
  trial.configuration.set("batch", std::int64_t{16});
  trial.configuration.set("accumulate", std::int64_t{4});
  trial.measurement = steady(0.01);
  trial.measurement->samples_reported = false;
  const auto step_meaning = [&](const char* preset) {
    document["reports"] = preset;
    const StudySpec study =
        study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
    return samples_counted(study, trial);
  };
  EXPECT_EQ(step_meaning("lightning"),
            "16 a batch, which the bar counts, by \"planned_run.batch_size\" (batch * accumulate)");
  EXPECT_EQ(step_meaning("tqdm"),
            "64 a step, by \"planned_run.batch_size\" (batch * accumulate); where the bar counts "
            "batches, leave accumulate out");
  EXPECT_EQ(step_meaning("key=value"),
            "64 a step, by \"planned_run.batch_size\" (batch * accumulate)");
}

}  // namespace
}  // namespace steptune
