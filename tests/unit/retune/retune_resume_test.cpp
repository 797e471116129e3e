// SPDX-License-Identifier: Apache-2.0
// Tests what a night takes over from earlier nights, and from its own interrupted start.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/retune/season.hpp"

namespace steptune {
namespace {

constexpr double k_two_days_s = 172'800.0;

RetuneOptions resuming() {
  RetuneOptions options;
  options.resume_within_s = k_two_days_s;
  return options;
}

TEST(RetuneResume, CountsTheTrialsOfItsStudy) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.set_speeds(1.0, 0.9);
  const Night night = season.night(study);
  const StudyRecord stored = must(season.history().study(night.study));
  EXPECT_EQ(night.trials, std::ssize(must(season.history().trials(stored.id))));
  EXPECT_GT(night.trials, night.searched);
}

TEST(RetuneResume, AnImprovementIsTheNextReference) {
  Season season;
  const StudySpec study = study_called("demo");
  ASSERT_EQ(season.night(study).result, NightResult::improved);
  // Still faster than the baseline was, but takes 1.5 times as long as in its own confirmation.
  season.set_speeds(1.0, 0.9);
  const Night night = season.night(study);
  EXPECT_EQ(night.result, NightResult::regressed) << night.reason;
  ASSERT_TRUE(night.slowdown);
  EXPECT_NEAR(night.slowdown->ratio, 1.5, 0.01);
}

TEST(RetuneResume, ASlowdownIsAnAlarmOnce) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.set_speeds(1.0, 0.9);
  const Night slower = season.night(study);
  ASSERT_EQ(slower.result, NightResult::regressed);
  for (int i = 0; i < 3; ++i) {
    const Night later = season.night(study);
    EXPECT_EQ(later.result, NightResult::kept) << later.number << ": " << later.reason;
    EXPECT_FALSE(later.slowdown) << later.number;
  }
}

TEST(RetuneResume, AUsualNightChangesNothing) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  for (int number = 3; number <= 6; ++number) {
    const Night night = season.night(study);
    EXPECT_EQ(night.number, number);
    EXPECT_EQ(night.result, NightResult::kept) << night.reason;
    EXPECT_EQ(night.before.configuration, night.after.configuration);
    EXPECT_TRUE(night.changes.empty());
    EXPECT_EQ(night.trust, Trust::full);
  }
}

TEST(RetuneResume, EachInterruptedPhaseContinues) {
  const StudySpec study = study_called("demo");
  Season whole;
  whole.begin(study);
  const std::size_t before = whole.played();
  whole.set_speeds(1.0, 2.0);
  const Night expected = whole.night(study, resuming());
  ASSERT_EQ(expected.result, NightResult::improved) << expected.reason;
  const std::size_t phases = whole.played() - before;
  ASSERT_GT(phases, 1U);
  for (std::size_t phase = 0; phase < phases; ++phase) {
    Season season;
    season.begin(study);
    season.set_speeds(1.0, 2.0);
    season.interrupt_after(before + phase);
    const Night cut = season.night(study, resuming());
    EXPECT_EQ(cut.result, NightResult::running) << phase;
    season.interrupt_after(std::numeric_limits<std::size_t>::max());
    const Night night = season.night(study, resuming());
    EXPECT_EQ(night.number, cut.number) << "no other night: " << phase;
    EXPECT_EQ(night.result, expected.result) << phase << ": " << night.reason;
    EXPECT_EQ(night.after.configuration, expected.after.configuration) << phase;
    EXPECT_EQ(night.searched, expected.searched) << phase;
    // Finished studies are not played again; the interrupted one is.
    EXPECT_EQ(season.played(), whole.played() + 1) << phase;
  }
}

TEST(RetuneResume, AQuietSearchThatIsInterruptedTakesNoMoreTrials) {
  const StudySpec study = study_called("demo", 8);
  Season whole;
  whole.begin(study);
  const std::size_t before = whole.played();
  const Night expected = whole.night(study, resuming());
  ASSERT_EQ(expected.result, NightResult::kept) << expected.reason;
  ASSERT_GT(expected.searched, 0);
  ASSERT_LT(expected.searched, k_season_trials);
  for (std::size_t phase = 0; phase < whole.played() - before; ++phase) {
    Season season;
    season.begin(study);
    season.interrupt_after(before + phase);
    ASSERT_EQ(season.night(study, resuming()).result, NightResult::running) << phase;
    season.interrupt_after(std::numeric_limits<std::size_t>::max());
    EXPECT_EQ(season.night(study, resuming()).searched, expected.searched) << phase;
  }
}

TEST(RetuneResume, AnOldInterruptedNightIsAbandoned) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.set_speeds(1.0, 0.9);
  season.interrupt_after(season.played() + 1);
  ASSERT_EQ(season.night(study).result, NightResult::running);
  season.interrupt_after(std::numeric_limits<std::size_t>::max());
  const Night next = season.night(study);
  EXPECT_EQ(next.number, 4);
  EXPECT_EQ(next.result, NightResult::regressed) << next.reason;
  const std::vector<NightRow> rows = must(season.history().nights("demo"));
  ASSERT_EQ(rows.size(), 4U);
  const Night given_up = must(night_from_row(rows[2]));
  EXPECT_EQ(given_up.result, NightResult::failed);
  EXPECT_THAT(given_up.reason, testing::HasSubstr("the tuner ended before the night was over"));
}

TEST(RetuneResume, ANightOfAnotherStudyFileIsNotContinued) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.interrupt_after(season.played());
  ASSERT_EQ(season.night(study, resuming()).result, NightResult::running);
  season.interrupt_after(std::numeric_limits<std::size_t>::max());
  const Night next = season.night(study_called("demo", 8), resuming());
  EXPECT_EQ(next.number, 4) << "the file has changed since";
  EXPECT_EQ(kind_in_use(next), "fused");
}

TEST(RetuneResume, LogsOutsideOfTheirFolderAreNeverRemoved) {
  Season season;
  const StudySpec study = study_called("demo");
  const Night first = season.night(study);
  // A foreign history, with a night whose name points to a folder outside of the logs.
  const std::string outside = "../victim";
  const auto victim = season.logs_of("demo").parent_path().parent_path() / "victim";
  std::filesystem::create_directories(victim);
  std::ofstream(victim / "precious") << "data";
  must(season.history().create_or_continue_study(outside, "f", study.document, 1));
  Night foreign = first;
  foreign.number = 2;
  foreign.study = outside;
  foreign.phase = NightPhase::check;
  foreign.result = NightResult::kept;
  foreign.searched = 0;
  foreign.before = first.after;
  ASSERT_TRUE(season.history().record_night("demo", to_row(foreign)));
  RetuneOptions quiet = bounded({{}, {}, 0});
  quiet.keep_nights = 1;
  for (int i = 0; i < 2; ++i)
    season.night(study, quiet);
  EXPECT_THAT(season.studies(), testing::Not(testing::Contains(outside)));
  EXPECT_TRUE(std::filesystem::exists(victim / "precious"));
}

}  // namespace
}  // namespace steptune
