// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/retune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/retune/season.hpp"
#include "tuner/retune/night_report.hpp"

namespace steptune {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// Returns the night on which fused kernels take 1.5 times as long, which starts a search.
Night slower_night(const NightBounds& bounds) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.set_speeds(1.0, 0.9);
  return season.night(study, bounded(bounds));
}

TEST(Retune, ASearchThatNothingBoundsTakesAllItsTrials) {
  const Night night = slower_night({});
  EXPECT_EQ(night.result, NightResult::regressed) << night.reason;
  EXPECT_EQ(night.searched, k_season_trials);
  EXPECT_FALSE(night.budget_spent);
  EXPECT_THAT(night_events(night), ElementsAre("regressed"));
}

TEST(Retune, AFirstNightOfABaselineOnlyNamesTheNextStep) {
  Season season;
  const Night night = season.night(study_called("demo"), bounded({10.0, {}, {}}));
  EXPECT_EQ(night.searched, 0);
  EXPECT_THAT(night.reason, HasSubstr("the next night begins with the baseline again"));
  EXPECT_THAT(night.reason, Not(HasSubstr("run it again")));
}

TEST(Retune, TimeEndsASearch) {
  const double time_s = 0.7 * slower_night({}).elapsed_s;
  const Night night = slower_night({time_s, {}, {}});
  EXPECT_EQ(night.result, NightResult::regressed) << "the slowdown was detected before the search";
  EXPECT_LT(night.searched, k_season_trials);
  EXPECT_LT(night.elapsed_s, 1.25 * time_s);
  EXPECT_TRUE(night.budget_spent);
  EXPECT_THAT(night_events(night), ElementsAre("regressed", "budget"));
}

TEST(Retune, MoneyEndsASearch) {
  const double cost_usd = 0.7 * slower_night({}).usd;
  const Night night = slower_night({{}, cost_usd, {}});
  EXPECT_EQ(night.result, NightResult::regressed);
  EXPECT_LT(night.searched, k_season_trials);
  EXPECT_GT(night.usd, 0.0);
  EXPECT_LT(night.usd, 1.25 * cost_usd);
  EXPECT_TRUE(night.budget_spent);
}

TEST(Retune, ANumberOfTrialsIsNoBudgetThatWasTooSmall) {
  const Night night = slower_night({{}, {}, 2});
  EXPECT_EQ(night.searched, 2);
  EXPECT_FALSE(night.budget_spent);
}

TEST(Retune, LimitsApplyToTheFirstNightToo) {
  const StudySpec study = study_called("demo");
  const Night whole = Season().night(study);
  EXPECT_EQ(whole.searched, k_season_trials - 1) << "the baseline is one";
  EXPECT_FALSE(whole.budget_spent);
  const Night two = Season().night(study, bounded({{}, {}, 2}));
  EXPECT_EQ(two.searched, 2);
  EXPECT_FALSE(two.budget_spent);
  for (const NightBounds& bounds :
       {NightBounds{0.6 * whole.elapsed_s, {}, {}}, NightBounds{{}, 0.6 * whole.usd, {}}}) {
    const Night cut = Season().night(study, bounded(bounds));
    EXPECT_LT(cut.searched, whole.searched);
    EXPECT_TRUE(cut.budget_spent) << cut.reason;
    EXPECT_THAT(night_events(cut), Contains("budget"));
  }
}

TEST(Retune, ANightTooShortForItsCheckIsReported) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  const Night night = season.night(study, bounded({20.0, {}, {}}));
  EXPECT_EQ(night.result, NightResult::failed);
  EXPECT_TRUE(night.budget_spent);
  EXPECT_THAT(night.reason, HasSubstr("--time"));
  EXPECT_THAT(night_events(night), ElementsAre("failed", "budget"));
  const Night next = season.night(study);
  EXPECT_EQ(next.result, NightResult::kept);
  EXPECT_EQ(kind_in_use(next), "fused");
}

TEST(Retune, TheLeastGainDecidesAReplacement) {
  const StudySpec study = study_called("demo");
  for (const auto& [least_gain, expected] :
       {std::pair(0.3, NightResult::kept), std::pair(0.1, NightResult::improved)}) {
    Season season;
    season.begin(study);
    season.set_speeds(0.5, 0.6);  // plain kernels are now 1.2 times as fast
    RetuneOptions options;
    options.least_gain = least_gain;
    const Night night = season.night(study, options);
    EXPECT_EQ(night.result, expected) << least_gain;
    EXPECT_EQ(kind_in_use(night), expected == NightResult::kept ? "fused" : "plain");
  }
}

TEST(Retune, AFirstNightNeedsTheLeastGain) {
  const StudySpec study = study_called("demo");
  RetuneOptions options;
  options.least_gain = 10.0;
  const Night night = Season().night(study, options);
  EXPECT_EQ(night.result, NightResult::kept);
  EXPECT_EQ(night.after.configuration, study.baseline);
}

TEST(Retune, ATrialThatWasStoppedEarlyMayWinTheFirstNight) {
  Season season;
  season.tune(study_called("measured"));
  const StudyRecord measured = must(season.history().study("measured"));
  const TrialRecord baseline = must(season.history().trials(measured.id)).front();
  TrialRecord stopped = baseline;
  stopped.number = 2;
  stopped.purpose = TrialPurpose::search;
  stopped.status = TrialStatus::stopped_early;
  stopped.configuration.set("workers", std::int64_t{4});
  stopped.configuration.set("kind", std::string("fused"));
  stopped.objectives[0] *= 0.4;
  stopped.standard_errors[0] *= 0.4;
  Json document = study_called("demo").document;
  document["budget"]["trials"] = 2;
  const StudySpec study = must(study_from_json(document, "/studies/demo.json",
                                               {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
  const StudyRecord cut_off = must(
      season.history().create_or_continue_study(study.name, study.fingerprint, study.document, 7));
  for (const TrialRecord& trial : {baseline, stopped})
    ASSERT_TRUE(season.history().record_ended(cut_off.id, trial));
  const Night night = season.night(study);
  ASSERT_EQ(night.result, NightResult::improved) << night.reason;
  EXPECT_EQ(kind_in_use(night), "fused");
  EXPECT_EQ(night.after.study, "demo");
  EXPECT_EQ(night.after.trial, 2);
}

TEST(Retune, TheBaselineReplacesAConfigurationThatFailsTwice) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.break_fused();
  const RetuneOptions no_search = bounded({{}, {}, 0});
  const Night first = season.night(study, no_search);
  EXPECT_EQ(first.result, NightResult::regressed);
  EXPECT_THAT(first.broken, HasSubstr("the configuration in use ended as failed"));
  EXPECT_EQ(first.reason, first.broken);
  EXPECT_EQ(kind_in_use(first), "fused") << "one failure may be an accident";
  const Night second = season.night(study, no_search);
  EXPECT_EQ(second.result, NightResult::regressed);
  EXPECT_EQ(second.after.configuration, study.baseline);
  EXPECT_EQ(second.after.study, second.study);
  EXPECT_EQ(second.after.trial, 1);
  const Night third = season.night(study, no_search);
  EXPECT_EQ(third.before.configuration, study.baseline);
  EXPECT_EQ(third.result, NightResult::kept);
}

TEST(Retune, ABaselineThatFailsMayBeReplacedByTheConfigurationInUse) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.break_baseline();
  const Night failed = season.night(study);
  EXPECT_EQ(failed.result, NightResult::failed);
  EXPECT_EQ(kind_in_use(failed), "fused");
  EXPECT_THAT(failed.reason, HasSubstr("make the configuration in use the study file's"));
  Json document = study.document;
  document["baseline"] = to_json(failed.after.configuration);
  const StudySpec mended = must(study_from_json(document, study.file, study.facts));
  const Night checked = season.night(mended);
  EXPECT_NE(checked.result, NightResult::failed) << checked.reason;
  EXPECT_EQ(checked.before.configuration, failed.after.configuration);
}

TEST(Retune, AFailureBetweenNightsThatWorkChangesNothing) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  const RetuneOptions no_search = bounded({{}, {}, 0});
  for (int i = 0; i < 2; ++i) {
    season.break_fused();
    EXPECT_EQ(season.night(study, no_search).result, NightResult::regressed);
    season.break_fused(false);
    const Night works = season.night(study, no_search);
    EXPECT_EQ(works.result, NightResult::kept);
    EXPECT_EQ(kind_in_use(works), "fused");
  }
}

TEST(Retune, AReplacementMayFailOnceToo) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.break_fused();
  const Night replaced = season.night(study);
  ASSERT_EQ(replaced.result, NightResult::improved) << replaced.reason;
  season.break_workers();
  const RetuneOptions no_search = bounded({{}, {}, 0});
  const Night first = season.night(study, no_search);
  EXPECT_THAT(first.broken, HasSubstr("the configuration in use ended as failed"));
  EXPECT_EQ(first.after.configuration, replaced.after.configuration)
      << "a single failure may be an accident";
  EXPECT_EQ(season.night(study, no_search).after.configuration, study.baseline);
}

TEST(Retune, AReplacementIsComparedWithTheBaseline) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.break_fused();
  const Night night = season.night(study);
  ASSERT_EQ(night.result, NightResult::improved) << night.reason;
  EXPECT_EQ(kind_in_use(night), "plain");
  const double workers = to_number(*night.after.configuration.find("workers"));
  EXPECT_NEAR(night.gain.value().ratio, 2.0 / (1.0 + 1.0 / (1.0 + workers)), 0.02);
  EXPECT_THAT(night_text(night, {"demo", "", {}, {}}, 0),
              AllOf(HasSubstr("as fast as the baseline\n"),
                    HasSubstr("why    the configuration in use ended as failed")));
}

TEST(Retune, AQuietNightSearchesOnlyIfItMayPay) {
  Season season;
  const StudySpec study = study_called("demo", 40);
  ASSERT_EQ(season.night(study).result, NightResult::improved);
  EXPECT_EQ(season.night(study).searched, 3);
  EXPECT_EQ(season.night(study, bounded({{}, {}, 2})).searched, 2);
  Json document = study.document;
  document["name"] = "unplanned";
  document.erase("planned_run");
  const StudySpec unplanned = must(study_from_json(document, study.file, study.facts));
  Season other;
  ASSERT_EQ(other.night(unplanned).result, NightResult::improved);
  EXPECT_EQ(other.night(unplanned).searched, 0);
}

TEST(Retune, NightsContinueAnEarlierTuning) {
  Season season;
  const StudySpec study = study_called("demo");
  season.tune(study);
  season.set_speeds(1.0, 0.9);
  const Night night = season.night(study);
  EXPECT_EQ(night.number, 1);
  EXPECT_EQ(night.study, "demo.night-1") << "not tuned from scratch";
  EXPECT_EQ(night.before.study, "demo");
  EXPECT_GT(night.before.trial, 1);
  EXPECT_EQ(night.result, NightResult::regressed);
  ASSERT_TRUE(night.slowdown);
  EXPECT_NEAR(night.slowdown->ratio, 1.5, 0.01);
}

TEST(Retune, OnlyTimesAndCostsAreComparedFromNightToNight) {
  Json document = study_called("demo").document;
  document["objectives"] = {"loss"};
  const StudySpec study = must(study_from_json(document, "/studies/demo.json",
                                               {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
  Season season;
  const auto refused = season.try_night(study);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_EQ(refused.error().where, "/objectives");
  EXPECT_THAT(season.studies(), IsEmpty());
}

TEST(Retune, TrialsOfOldNightsAreDropped) {
  Season season;
  const StudySpec study = study_called("demo");
  RetuneOptions quiet = bounded({{}, {}, 0});
  quiet.keep_nights = 1;
  season.night(study);
  for (int number = 2; number <= 4; ++number)
    EXPECT_EQ(season.night(study, quiet).searched, 0);
  EXPECT_THAT(season.studies(), UnorderedElementsAre("demo", "demo.night-4"));
  EXPECT_FALSE(std::filesystem::exists(season.logs_of("demo.night-2")));
  EXPECT_TRUE(std::filesystem::exists(season.logs_of("demo.night-4")));
  EXPECT_EQ(must(season.history().nights("demo")).size(), 4U) << "their results stay";

  // Later searches learn from a search, so nights with one are counted separately.
  season.set_speeds(1.0, 0.9);
  RetuneOptions searching;
  searching.keep_nights = 1;
  ASSERT_GT(season.night(study, searching).searched, 0);
  EXPECT_THAT(season.studies(), UnorderedElementsAre("demo", "demo.night-4", "demo.night-5"));
}

TEST(Retune, TrialsOfTheConfigurationInUseAreKept) {
  Season season;
  const StudySpec study = study_called("demo");
  season.night(study);
  season.set_speeds(1.0, 2.0);
  ASSERT_EQ(season.night(study).after.study, "demo.night-2");
  RetuneOptions quiet = bounded({{}, {}, 0});
  quiet.keep_nights = 1;
  for (int number = 3; number <= 5; ++number)
    season.night(study, quiet);
  EXPECT_THAT(season.studies(), UnorderedElementsAre("demo", "demo.night-2", "demo.night-5"));
}

TEST(Retune, TrialsThatTheNightsOfAnotherStudyUseAreKept) {
  Season season;
  const StudySpec other = study_called("other");
  season.night(other);
  season.set_speeds(1.0, 2.0);
  ASSERT_EQ(season.night(other).after.study, "other.night-2");
  RetuneOptions from_other = bounded({{}, {}, 0});
  from_other.from = "other";
  ASSERT_EQ(season.night(study_called("demo"), from_other).after.study, "other.night-2");
  season.set_speeds(2.0, 0.3);
  ASSERT_EQ(season.night(other).after.study, "other.night-3");
  RetuneOptions quiet = bounded({{}, {}, 0});
  quiet.keep_nights = 1;
  season.night(other, quiet);
  EXPECT_THAT(season.studies(), Contains("other.night-2"));
}

TEST(Retune, BeginsWithAConfigurationInUseElsewhere) {
  Season season;
  season.begin(study_called("other"));
  const StudySpec study = study_called("demo");
  RetuneOptions options;
  options.from = "other";
  const Night first = season.night(study, options);
  EXPECT_EQ(first.number, 1);
  EXPECT_EQ(first.result, NightResult::kept) << "nothing is tuned from scratch";
  EXPECT_EQ(kind_in_use(first), "fused");
  EXPECT_EQ(first.after.study, "other");
  EXPECT_EQ(first.study, "demo.night-1");
  // From then on, the study's own nights determine the configuration in use.
  season.set_speeds(1.0, 2.0);
  EXPECT_EQ(kind_in_use(season.night(study, options)), "plain");
  EXPECT_EQ(kind_in_use(season.night(study, options)), "plain");
}

TEST(Retune, ReportsThatAnotherStudyHasNoResultYet) {
  Season season;
  const StudySpec other = study_called("other");
  must(season.history().create_or_continue_study(other.name, "f", other.document, 1));
  RetuneOptions options;
  options.from = other.name;
  const Night night = season.night(study_called("demo"), options);
  EXPECT_EQ(night.phase, NightPhase::first);
  EXPECT_THAT(season.warnings(), Contains(HasSubstr("\"other\" has no result yet")));
}

TEST(Retune, AnInvalidConfigurationOfAnotherStudyIsNotUsed) {
  Season season;
  season.begin(study_called("other"));
  const StudySpec study = study_called("narrow", 3);
  RetuneOptions options;
  options.from = "other";
  const Night night = season.night(study, options);
  EXPECT_EQ(night.before.configuration, study.baseline);
  EXPECT_NE(night.result, NightResult::failed) << night.reason;
  EXPECT_THAT(season.warnings(), Contains(HasSubstr("no longer valid in this study")));
}

}  // namespace
}  // namespace steptune
