// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/comparison.hpp"
#include "tuner/report/html/html_report.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/report/trial_text.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StudyRecord study_of_epochs() {
  StudyRecord study = make_study();
  study.document["unit"] = "epochs";
  study.document.erase("planned_run");
  return study;
}

std::vector<ObjectiveView> times() {
  return objective_views(study_of_epochs().document);
}

TrialRecord trial_of_epochs(std::int64_t number) {
  TrialRecord trial = make_trial(number, 3600.0 / static_cast<double>(number), 10.0, 64);
  Measurement& measurement = *trial.measurement;
  measurement.seconds_per_sample = 4.0;
  measurement.half_width_s = 0.1;
  measurement.slowest_seconds_per_sample = 5.0;
  measurement.step_seconds_per_sample = 3.0;
  measurement.whole_run = true;
  measurement.total_samples = 12.0;
  measurement.level_changes = {{4.0, 16.0, 1.5}};
  measurement.phases["evaluation"] = {3.0, 2.0, 0.1, 2.0, 0.1};
  if (number == 1) trial.purpose = TrialPurpose::baseline;
  return trial;
}

Leaderboard board_of_epochs() {
  Leaderboard input;
  input.study = study_of_epochs();
  input.objectives = times();
  add_row(input, trial_of_epochs(2), 1);
  add_row(input, trial_of_epochs(1), 2);
  input.baseline = trial_of_epochs(1);
  input.counts = {{TrialStatus::completed, 2}};
  return make_leaderboard(std::move(input));
}

Recommendation advice() {
  Recommendation recommendation;
  recommendation.incumbent_trial = 2;
  recommendation.configuration = trial_of_epochs(2).configuration;
  recommendation.baseline_objectives = {3600.0};
  recommendation.incumbent_objectives = {1800.0};
  recommendation.claim = Claim::faster;
  recommendation.speed_up = {2.0, 1.9, 2.1, 3, 1.9};
  recommendation.samples_counted = "as the program counts them";
  return recommendation;
}

Bottleneck bottleneck_of_epochs() {
  Bottleneck bottleneck;
  bottleneck.stages = {{StepStage::data, {"data"}, 2.0, 0.5}};
  bottleneck.interruptions_share = 0.25;
  bottleneck.unit = unit_name(study_of_epochs().document);
  return bottleneck;
}

TEST(AStudyThatCountsEpochs, ShowsTheSpeedOfATrialWithoutAPlan) {
  EXPECT_EQ(times().front().text_of_trial(4e6), "0.25 epochs/s");
  EXPECT_EQ(objective_views(make_study().document).front().text_of_trial(7200.0), "2.0 h");
}

TEST(AStudyThatCountsEpochs, ShowsATrialInEpochs) {
  const std::string text = trial_text(trial_of_epochs(2), nullptr, times(), {});
  EXPECT_THAT(text, HasSubstr("0.25 epochs/s, 4 s per epoch +-2.5 %"));
  EXPECT_THAT(text, HasSubstr("its program ended by itself after 12 epochs"));
  EXPECT_THAT(text, HasSubstr("2.0 s each, every 2 epochs"));
  EXPECT_THAT(text, Not(HasSubstr("sample")));
}

TEST(AStudyThatCountsEpochs, ListsAndComparesTrialsInEpochs) {
  const std::string board = leaderboard_text(board_of_epochs(), {});
  EXPECT_THAT(board, HasSubstr("time/1M epochs"));
  EXPECT_THAT(board, HasSubstr("epochs/s"));
  EXPECT_THAT(board, Not(HasSubstr("sample")));
  const std::string compared =
      comparison_text({trial_of_epochs(1), trial_of_epochs(2)}, times(), {}, 0);
  EXPECT_THAT(compared, HasSubstr("epochs/s"));
  EXPECT_THAT(compared, Not(HasSubstr("sample")));
}

TEST(AStudyThatCountsEpochs, GivesItsResultInEpochs) {
  const RecommendationContext context{"demo", times(), {}};
  const std::string text = recommendation_text(advice(), context) + details_text(advice(), context);
  EXPECT_THAT(text, HasSubstr(" -> 30 min per million epochs"));
  EXPECT_THAT(text, HasSubstr("count   epochs as the program counts them"));
  EXPECT_THAT(text, Not(HasSubstr("sample")));
}

TEST(AStudyThatCountsEpochs, SharesItsStepsOutInEpochs) {
  const std::string text = bottleneck_text(bottleneck_of_epochs(), {});
  EXPECT_THAT(text, HasSubstr("per epoch"));
  EXPECT_THAT(text, Not(HasSubstr("sample")));
}

TEST(AStudyThatCountsEpochs, HasAPageInEpochs) {
  StudyReport report;
  report.words = {"demo", times(), {}};
  report.board = board_of_epochs();
  report.baseline = 1;
  report.recommendation = advice();
  report.analysis.emplace().bottleneck = bottleneck_of_epochs();
  const std::string page = html_report(report);
  EXPECT_THAT(page, HasSubstr("epochs/s"));
  EXPECT_THAT(page, HasSubstr("per epoch"));
  EXPECT_THAT(page, Not(HasSubstr("samples/s")));
  EXPECT_THAT(page, Not(HasSubstr("per sample")));
}

TEST(AStudyThatCountsEpochs, StatesTheUnitOfItsJsonOnce) {
  EXPECT_EQ(json_of(study_of_epochs())["unit"], "epochs");
  EXPECT_EQ(json_of(make_study())["unit"], "samples");
  EXPECT_EQ(objectives_json(times())[0]["unit"], "s/1e6 epochs");
}

}  // namespace
}  // namespace steptune
