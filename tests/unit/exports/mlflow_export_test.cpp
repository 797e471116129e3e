// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/exports/export_fixture.hpp"

namespace steptune::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class MlflowExport : public ::testing::Test {
 protected:
  MlflowExport() : study_(export_of(spec_of(space_of({integer("batch", 1, 9), boolean("amp")})))) {
    study_.record.created_wall_s = 1000.0;
  }

  TrialRecord& add(std::int64_t number, TrialStatus status = TrialStatus::completed) {
    Configuration configuration;
    configuration.set("batch", number);
    configuration.set("amp", true);
    study_.trials.push_back(completed_trial(number, configuration, {2.5}));
    study_.trials.back().status = status;
    study_.trials.back().started_wall_s = 1000.5;
    study_.trials.back().ended_wall_s = 1001.25;
    return study_.trials.back();
  }
  /// Returns the folder of the only experiment below `folder`.
  [[nodiscard]] fs::path experiment(const fs::path& folder) const {
    must(write_mlflow_experiment(study_, folder));
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
      found.push_back(entry.path());
    EXPECT_EQ(found.size(), 1U) << "nothing half written is left";
    return found.front();
  }
  /// Returns the folders of the experiment's runs by the trials' names.
  static std::map<std::string, fs::path> runs(const fs::path& experiment) {
    std::map<std::string, fs::path> found;
    for (const auto& entry : fs::directory_iterator(experiment))
      if (entry.is_directory())
        found[read_file(entry.path() / "tags/mlflow.runName")] = entry.path();
    return found;
  }

  TemporaryFolder folder_{"mlflow"};
  StudyExport study_;
};

TEST_F(MlflowExport, ARunHasTheParametersFiguresAndTagsOfItsTrial) {
  TrialRecord& trial = add(3);
  trial.spent_s = 12.5;
  trial.spent_usd = 0.25;
  trial.peak_memory_bytes = 1024.0;
  trial.failure = "slow \xff end";
  trial.measurement.emplace();
  trial.measurement->seconds_per_sample = 0.25;
  trial.measurement->startup_s = 4.0;
  trial.measurement->metrics = {{"loss", 0.125},       {"../up", 1.0},   {"bad", std::nan("")},
                                {"eval/loss", 0.25},   {"eval", 1.0},    {"eval/loss/x", 1.0},
                                {"a/../../../b", 1.0}, {"/tmp/c", 1.0},  {"train/", 1.0},
                                {"val/a/b", 0.5},      {"seconds", 3.0}, {"time/step", 1.5}};
  const fs::path place = experiment(folder_.path());
  const fs::path run = runs(place).at("trial-3");
  EXPECT_EQ(read_file(run / "params/batch"), "3");
  EXPECT_EQ(read_file(run / "params/amp"), "true");
  EXPECT_EQ(read_file(run / "metrics/time"), "1001250 2.5 0\n");
  EXPECT_EQ(read_file(run / "metrics/loss"), "1001250 0.125 0\n");
  EXPECT_EQ(read_file(run / "metrics/seconds_per_sample"), "1001250 0.25 0\n");
  EXPECT_EQ(read_file(run / "metrics/samples_per_second"), "1001250 4 0\n");
  EXPECT_EQ(read_file(run / "metrics/startup_s"), "1001250 4 0\n");
  EXPECT_EQ(read_file(run / "metrics/spent_s"), "1001250 12.5 0\n");
  EXPECT_EQ(read_file(run / "metrics/spent_usd"), "1001250 0.25 0\n");
  EXPECT_EQ(read_file(run / "metrics/peak_memory_bytes"), "1001250 1024 0\n");
  EXPECT_FALSE(fs::exists(run / "metrics/bad")) << "values that are no numbers are left out";
  EXPECT_EQ(read_file(run / "metrics/val/a/b"), "1001250 0.5 0\n") << "as MLflow itself does";
  EXPECT_EQ(read_file(run / "metrics/eval"), "1001250 1 0\n")
      << "only one of the two can be a file";
  EXPECT_FALSE(fs::exists(run / "up")) << "a metric's name cannot lead out of its folder";
  EXPECT_EQ(read_file(run / "tags/steptune.status"), "completed");
  EXPECT_EQ(read_file(run / "tags/steptune.origin"), "sobol");
  EXPECT_EQ(read_file(run / "tags/steptune.failure").find('\xff'), std::string::npos)
      << "MLflow reads UTF-8 only";
  const std::string meta = read_file(run / "meta.yaml");
  EXPECT_THAT(meta, HasSubstr("start_time: 1000500\n"));
  EXPECT_THAT(meta, HasSubstr("end_time: 1001250\n"));
  EXPECT_THAT(meta, HasSubstr("run_id: \"" + run.filename().string() + "\"\n"));
  EXPECT_THAT(meta, HasSubstr("experiment_id: \"" + place.filename().string() + "\"\n"));
  EXPECT_THAT(meta, HasSubstr("artifact_uri: \"file://" + run.string() + "/artifacts\"\n"))
      << "the final path";
}

TEST_F(MlflowExport, EachStatusIsOneOfMlflows) {
  const std::vector<std::pair<TrialStatus, int>> statuses = {
      {TrialStatus::launching, 1},     {TrialStatus::running, 1},
      {TrialStatus::completed, 3},     {TrialStatus::failed, 4},
      {TrialStatus::infeasible, 4},    {TrialStatus::out_of_memory, 4},
      {TrialStatus::stopped_early, 5}, {TrialStatus::interrupted, 5}};
  std::int64_t number = 0;
  for (const auto& [status, code] : statuses)
    add(++number, status);
  const auto found = runs(experiment(folder_.path()));
  ASSERT_EQ(found.size(), statuses.size());
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_THAT(read_file(found.at("trial-" + std::to_string(i + 1)) / "meta.yaml"),
                HasSubstr("\nstatus: " + std::to_string(statuses[i].second) + "\n"));
  }
}

TEST_F(MlflowExport, OnlyTrialsOfTheSearchAreRuns) {
  add(1).purpose = TrialPurpose::baseline;
  add(2);
  add(3).purpose = TrialPurpose::confirm_incumbent;
  add(4).purpose = TrialPurpose::sentinel;
  const auto found = runs(experiment(folder_.path()));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found.contains("trial-1"));
  EXPECT_TRUE(found.contains("trial-2"));
}

TEST_F(MlflowExport, IdsDependOnTheStudyOnly) {
  add(1);
  const fs::path first = experiment(folder_.path() / "a");
  const fs::path second = experiment(folder_.path() / "b");
  EXPECT_EQ(first.filename(), second.filename());
  EXPECT_EQ(first.filename().string().size(), 18U);
  EXPECT_EQ(runs(first).at("trial-1").filename(), runs(second).at("trial-1").filename());
  study_.record.fingerprint = "f2";
  EXPECT_NE(experiment(folder_.path() / "c").filename(), first.filename());
}

TEST_F(MlflowExport, AnExistingExperimentIsKept) {
  add(1);
  const fs::path place = experiment(folder_.path());
  add(2);
  const auto again = write_mlflow_experiment(study_, folder_.path());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::conflict);
  EXPECT_EQ(runs(place).size(), 1U);
  const auto file = folder_.write("file", "x");
  const auto nowhere = write_mlflow_experiment(study_, file);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::unavailable);
}

}  // namespace
}  // namespace steptune::testing
