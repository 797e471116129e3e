// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/exports/export_fixture.hpp"
#include "tests/unit/search/random_spaces.hpp"

namespace steptune::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OptunaExport : public ::testing::Test {
 protected:
  std::filesystem::path written(const StudyExport& study) {
    const auto file = folder_.path() / ("study" + std::to_string(++files_) + ".db");
    must(write_optuna_study(study, file));
    return file;
  }
  /// Returns the first column of a query's rows.
  static std::vector<std::string> column(const std::filesystem::path& file,
                                         const std::string& sql) {
    SQLite::Database database(file.string());
    SQLite::Statement query(database, sql);
    std::vector<std::string> values;
    while (query.executeStep())
      values.push_back(query.getColumn(0).isNull() ? "NULL" : query.getColumn(0).getString());
    return values;
  }

  DatabaseFolder folder_;
  int files_ = 0;
};

TEST_F(OptunaExport, GivesBackTheTrialsOfAnySpaceWhenItIsImported) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const StudySpec spec = spec_of(random_space(seed), {"time", "loss"});
    StudyExport study = export_of(spec);
    Rng rng(seed, "trials");
    for (std::int64_t number = 1; number <= 6; ++number) {
      study.trials.push_back(
          completed_trial(number, spec.space.sample(rng).value(), {rng.uniform(), -rng.uniform()}));
    }
    const ForeignTrials foreign = must(read_foreign_trials(written(study)));
    const ImportedTrials back = must(translate_foreign_trials(foreign, spec, {}));
    ASSERT_EQ(back.trials.size(), study.trials.size()) << "seed " << seed;
    for (std::size_t i = 0; i < study.trials.size(); ++i) {
      EXPECT_EQ(back.trials[i].configuration.text(), study.trials[i].configuration.text());
      EXPECT_EQ(back.trials[i].objectives, study.trials[i].objectives);
    }
  }
}

TEST_F(OptunaExport, ConfirmingRunsAndSentinelsAreNoTrialsOfTheSearch) {
  const StudySpec spec = spec_of(space_of({integer("batch", 1, 9)}));
  StudyExport study = export_of(spec);
  std::int64_t number = 0;
  for (const TrialPurpose purpose :
       {TrialPurpose::baseline, TrialPurpose::search, TrialPurpose::confirm_incumbent,
        TrialPurpose::confirm_baseline, TrialPurpose::sentinel, TrialPurpose::search}) {
    study.trials.push_back(completed_trial(++number, spec.baseline, {1.0}));
    study.trials.back().purpose = purpose;
  }
  const auto file = written(study);
  EXPECT_THAT(column(file, "SELECT number FROM trials ORDER BY trial_id"),
              ElementsAre("0", "1", "2"))
      << "Optuna counts from 0, without gaps";
  EXPECT_THAT(column(file,
                     "SELECT value_json FROM trial_user_attributes WHERE key = 'number' "
                     "ORDER BY trial_id"),
              ElementsAre("1", "2", "6"));
}

TEST_F(OptunaExport, EachStatusIsAStateOfOptunas) {
  const StudySpec spec = spec_of(space_of({integer("batch", 1, 9)}));
  StudyExport study = export_of(spec);
  const std::vector<std::pair<TrialStatus, std::string>> states = {
      {TrialStatus::launching, "RUNNING"},  {TrialStatus::running, "RUNNING"},
      {TrialStatus::completed, "COMPLETE"}, {TrialStatus::stopped_early, "PRUNED"},
      {TrialStatus::infeasible, "FAIL"},    {TrialStatus::failed, "FAIL"},
      {TrialStatus::out_of_memory, "FAIL"}, {TrialStatus::interrupted, "FAIL"},
      {TrialStatus::completed, "FAIL"}};
  std::vector<std::string> expected;
  for (const auto& [status, state] : states) {
    const auto number = static_cast<std::int64_t>(expected.size()) + 1;
    study.trials.push_back(completed_trial(number, spec.baseline, {2.0}));
    study.trials.back().status = status;
    study.trials.back().ended_wall_s = 86400.25;
    expected.push_back(state);
  }
  study.trials.back().objectives = {std::nan("")};  // completed, but without a value for ranking
  const auto file = written(study);
  EXPECT_EQ(column(file, "SELECT state FROM trials ORDER BY trial_id"), expected);
  EXPECT_THAT(column(file, "SELECT trial_id FROM trial_values ORDER BY trial_id"),
              ElementsAre("3", "4"))
      << "values only where Optuna would have some";
  EXPECT_THAT(column(file, "SELECT DISTINCT datetime_complete FROM trials WHERE state = 'RUNNING'"),
              ElementsAre("NULL"));
  EXPECT_THAT(column(file, "SELECT datetime_complete FROM trials WHERE state = 'PRUNED'"),
              ElementsAre("1970-01-02 00:00:00.250000"));
}

TEST_F(OptunaExport, DistributionsContainTheValuesOfTheParameters) {
  const StudySpec spec = spec_of(space_of(
      {integer("even", 2, 9), stepped(integer("steps", 1, 10), 4),
       integer("log", 1, 100, Scale::log), integer("powers", 3, 40, Scale::log2),
       stepped(floating("tenths", 0.0, 0.95), 0.25), floating("rate", 1e-5, 1.0, Scale::log),
       boolean("amp"), categorical("mode", {text("a"), whole(3)})}));
  StudyExport study = export_of(spec);
  study.trials.push_back(completed_trial(1, spec.baseline, {1.0}));
  const auto file = written(study);
  const auto attributes = [&](const std::string& name) {
    const Json distribution = Json::parse(
        column(file, "SELECT distribution_json FROM trial_params WHERE param_name = '" + name + "'")
            .at(0));
    return distribution["attributes"];
  };
  EXPECT_EQ(attributes("even"), Json({{"log", false}, {"step", 1}, {"low", 2}, {"high", 9}}));
  EXPECT_EQ(attributes("steps"), Json({{"log", false}, {"step", 4}, {"low", 1}, {"high", 9}}))
      << "Optuna wants a last value that lies on a step";
  EXPECT_EQ(attributes("log"), Json({{"log", true}, {"step", 1}, {"low", 1}, {"high", 100}}));
  EXPECT_EQ(attributes("powers"), Json({{"choices", {4, 8, 16, 32}}}))
      << "Optuna's integers have no powers of two";
  EXPECT_EQ(attributes("tenths"),
            Json({{"step", 0.25}, {"low", 0.0}, {"high", 0.75}, {"log", false}}));
  EXPECT_EQ(attributes("rate"),
            Json({{"step", nullptr}, {"low", 1e-5}, {"high", 1.0}, {"log", true}}));
  EXPECT_EQ(attributes("amp"), Json({{"choices", {false, true}}}));
  EXPECT_EQ(attributes("mode"), Json({{"choices", {"a", 3}}}));
}

TEST_F(OptunaExport, SchedulerDecisionsAreIntermediateValues) {
  StudySpec spec = spec_of(space_of({integer("batch", 1, 9)}), {"accuracy"});
  spec.objectives[0].direction = Direction::maximize;
  StudyExport study = export_of(spec);
  study.trials.push_back(completed_trial(1, spec.baseline, {0.9}));
  TrialTrace trace;
  for (const auto& [steps, value] :
       {std::pair(10.4, -0.5), {20.0, -0.7}, {20.0, -0.8}, {30.0, std::nan("")}}) {
    TrialDecision decision;
    decision.steps = steps;
    decision.values = {value};
    trace.decisions.push_back(decision);
  }
  study.traces[1] = trace;
  const auto file = written(study);
  const std::string rows =
      "SELECT step || ': ' || intermediate_value FROM trial_intermediate_values ORDER BY step";
  EXPECT_THAT(column(file, rows), ElementsAre("10: 0.5", "20: 0.8"))
      << "as the study states them, the latest at each step";
  study.board.objectives.push_back({Objective{"time", Direction::minimize}, false});
  EXPECT_TRUE(column(written(study), rows).empty())
      << "Optuna stores no intermediate values with several objectives";
}

TEST_F(OptunaExport, KeepsExistingFilesAndLeavesNoPartialOne) {
  const StudyExport study = export_of(spec_of(space_of({integer("batch", 1, 9)})));
  const auto there = folder_.write("mine.db", "my work");
  const auto refused = write_optuna_study(study, there);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_THAT(refused.error().text(), HasSubstr("name a new file"));
  EXPECT_EQ(std::filesystem::file_size(there), 7U);
  const auto nowhere = write_optuna_study(study, folder_.path() / "no" / "folder.db");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::unavailable);
  std::filesystem::remove(there);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace steptune::testing
