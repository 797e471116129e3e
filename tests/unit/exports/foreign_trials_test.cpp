// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/exports/study_import.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Cells = std::map<std::string, Json>;

class ForeignFiles : public ::testing::Test {
 protected:
  ForeignTrials read(const std::string& name, const std::string& study = {}) const {
    return must(read_foreign_trials(folder_.path() / name, study));
  }
  std::string refused(const std::string& name, const std::string& study = {}) const {
    const auto result = read_foreign_trials(folder_.path() / name, study);
    EXPECT_FALSE(result);
    if (result) return "";
    EXPECT_EQ(result.error().kind, ErrorKind::usage);
    EXPECT_THAT(result.error().text(), HasSubstr(name)) << "an error names the file";
    return result.error().text();
  }

  TemporaryFolder folder_{"foreign"};
};

/// A file with the tables of Optuna that an import reads.
class OptunaFile : public ForeignFiles {
 protected:
  OptunaFile()
      : database_((folder_.path() / "o.db").string(),
                  SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    database_.exec(
        "CREATE TABLE studies (study_id INTEGER, study_name TEXT);"
        "CREATE TABLE study_directions (direction TEXT, study_id INTEGER, objective INTEGER);"
        "CREATE TABLE trials (trial_id INTEGER, study_id INTEGER, state TEXT);"
        "CREATE TABLE trial_params (trial_id INTEGER, param_name TEXT, param_value FLOAT,"
        " distribution_json TEXT);"
        "CREATE TABLE trial_values (trial_id INTEGER, objective INTEGER, value FLOAT);");
  }
  void exec(const std::string& sql) { database_.exec(sql); }
  void add_study() {
    exec(
        "INSERT INTO studies VALUES (1, 'demo');"
        "INSERT INTO study_directions VALUES ('MINIMIZE', 1, 0);"
        "INSERT INTO trials VALUES (1, 1, 'COMPLETE');");
  }
  /// Returns the value that is read for a parameter of the first trial.
  Json parameter(double stored, const std::string& distribution) {
    exec("DELETE FROM trial_params");
    SQLite::Statement insert(database_, "INSERT INTO trial_params VALUES (1, 'p', ?, ?)");
    insert.bind(1, stored);
    insert.bind(2, distribution);
    insert.exec();
    return read("o.db").trials.at(0).cells.at("params_p");
  }

 private:
  SQLite::Database database_;
};

TEST_F(OptunaFile, ReadsNumbersAndIndicesOfChoices) {
  add_study();
  const std::string choices =
      R"({"name": "CategoricalDistribution", "attributes": {"choices": ["a", 7, true, null]}})";
  EXPECT_EQ(parameter(0, choices), "a");
  EXPECT_EQ(parameter(1, choices), 7);
  EXPECT_EQ(parameter(2, choices), true);
  EXPECT_EQ(parameter(64, R"({"name": "IntDistribution", "attributes": {}})"), 64);
  EXPECT_TRUE(parameter(64, R"({"name": "IntLogUniformDistribution"})").is_number_integer())
      << "the name in Optuna 2";
  EXPECT_EQ(parameter(0.25, R"({"name": "FloatDistribution", "attributes": {}})"), 0.25);
  EXPECT_EQ(parameter(0.5, R"({"name": "UniformDistribution"})"), 0.5);
}

TEST_F(OptunaFile, AParameterThatCannotBeReadHasNoValue) {
  add_study();
  const Json nothing = Json::object();
  const std::string choices =
      R"({"name": "CategoricalDistribution", "attributes": {"choices": ["a", null]}})";
  EXPECT_EQ(parameter(1, choices), nothing) << "Python's None";
  EXPECT_EQ(parameter(2, choices), nothing) << "beyond the last";
  EXPECT_EQ(parameter(-1, choices), nothing);
  EXPECT_EQ(parameter(0, R"({"name": "CategoricalDistribution", "attributes": {"choices": 3}})"),
            nothing);
  EXPECT_EQ(parameter(1, "{"), nothing);
  EXPECT_EQ(parameter(1, "[1]"), nothing);
}

TEST_F(OptunaFile, ReadsStatesValuesAndDirections) {
  exec(
      "INSERT INTO studies VALUES (1, 'demo');"
      "INSERT INTO study_directions VALUES ('MAXIMIZE', 1, 1), ('MINIMIZE', 1, 0);"
      "INSERT INTO trials VALUES (3, 1, 'PRUNED'), (1, 1, 'COMPLETE'), (2, 1, 'FAIL'),"
      " (4, 1, 'RUNNING');"
      "INSERT INTO trial_values VALUES (1, 0, 2.5), (1, 1, 0.5), (2, 0, NULL), (9, 0, 1.0);");
  const ForeignTrials foreign = read("o.db");
  EXPECT_EQ(foreign.kind, "Optuna");
  EXPECT_THAT(foreign.directions, ElementsAre(Direction::minimize, Direction::maximize));
  ASSERT_EQ(foreign.trials.size(), 4U);
  EXPECT_THAT(foreign.trials[0].cells, ElementsAre(Pair("value", 2.5), Pair("value_1", 0.5)));
  EXPECT_EQ(foreign.trials[0].why_left_out, "");
  EXPECT_FALSE(foreign.trials[0].failed);
  EXPECT_TRUE(foreign.trials[1].failed);
  EXPECT_EQ(foreign.trials[1].why_left_out, "") << "a failure is a result, too";
  EXPECT_EQ(foreign.trials[1].cells, Cells{});
  EXPECT_EQ(foreign.trials[2].why_left_out, "its state is PRUNED");
  EXPECT_EQ(foreign.trials[3].why_left_out, "its state is RUNNING");
}

TEST_F(OptunaFile, OneOfSeveralStudiesIsChosenByName) {
  add_study();
  EXPECT_EQ(read("o.db").trials.size(), 1U);
  exec(
      "INSERT INTO studies VALUES (2, 'other');"
      "INSERT INTO study_directions VALUES ('MAXIMIZE', 2, 0);"
      "INSERT INTO trials VALUES (2, 2, 'FAIL'), (3, 2, 'FAIL');"
      "INSERT INTO trial_params VALUES (1, 'p', 1, '{\"name\": \"IntDistribution\"}');");
  EXPECT_THAT(refused("o.db"), HasSubstr("has 2 studies; choose one with --from"));
  EXPECT_THAT(refused("o.db", "othr"), HasSubstr("has no study \"othr\"; did you mean \"other\"?"));
  const ForeignTrials demo = read("o.db", "demo");
  EXPECT_EQ(demo.trials.size(), 1U);
  EXPECT_EQ(demo.trials[0].cells.at("params_p"), 1);
  const ForeignTrials other = read("o.db", "other");
  EXPECT_EQ(other.trials.size(), 2U);
  EXPECT_EQ(other.trials[0].cells, Cells{}) << "values of another study are not read";
  EXPECT_THAT(other.directions, ElementsAre(Direction::maximize));
}

TEST_F(OptunaFile, WithoutAStudyOrOfAnotherProgramIsRefused) {
  EXPECT_THAT(refused("o.db"), HasSubstr("has no study"));
  exec("DROP TABLE trial_values");
  EXPECT_THAT(refused("o.db"), HasSubstr("an SQLite file, but not of Optuna"));
  folder_.write("broken.db", std::string("SQLite format 3\0", 16) + "and then nothing of it");
  EXPECT_THAT(refused("broken.db"), HasSubstr("cannot be read"));
}

TEST_F(OptunaFile, AVersionWithoutDirectionsHasNone) {
  add_study();
  exec("DROP TABLE study_directions");
  EXPECT_TRUE(read("o.db").directions.empty());
}

TEST_F(ForeignFiles, EmptyCellsOfACsvAreMissing) {
  folder_.write("t.csv",
                "\xef\xbb\xbf"
                "batch,note,s\r\n64,\"a, b\",1.5\r\n128,,\r\n");
  const ForeignTrials foreign = read("t.csv");
  EXPECT_EQ(foreign.kind, "CSV");
  ASSERT_EQ(foreign.trials.size(), 2U);
  EXPECT_EQ(foreign.trials[0].cells, (Cells{{"batch", "64"}, {"note", "a, b"}, {"s", "1.5"}}));
  EXPECT_EQ(foreign.trials[1].cells, (Cells{{"batch", "128"}}));
  EXPECT_EQ(foreign.trials[1].why_left_out, "");
  folder_.write("twice.csv", "batch,s,batch\n1,2,3\n");
  EXPECT_THAT(refused("twice.csv"), HasSubstr("has two columns \"batch\""));
}

TEST_F(ForeignFiles, ATableOfOptunasHasStates) {
  folder_.write("t.csv", "value,state\n1,COMPLETE\n2,FAIL\n3,PRUNED\n4,\n");
  const ForeignTrials foreign = read("t.csv");
  EXPECT_EQ(foreign.kind, "Optuna's table");
  ASSERT_EQ(foreign.trials.size(), 4U);
  EXPECT_EQ(foreign.trials[0].why_left_out + foreign.trials[1].why_left_out, "");
  EXPECT_TRUE(foreign.trials[1].failed);
  EXPECT_EQ(foreign.trials[2].why_left_out, "its state is PRUNED");
  EXPECT_EQ(foreign.trials[3].why_left_out, "its state is not given");
  folder_.write("two.csv", "values_0,values_1,state\n1,2,COMPLETE\n");
  EXPECT_EQ(read("two.csv").kind, "Optuna's table");
  folder_.write("own.csv", "seconds,state\n1,FAIL\n");
  EXPECT_EQ(read("own.csv").kind, "CSV")
      << "a single column of that name does not make a file of Optuna";
  EXPECT_FALSE(read("own.csv").trials[0].failed);
}

TEST_F(ForeignFiles, FoldersAndMissingFilesAreRefused) {
  EXPECT_THAT(refused("gone"), HasSubstr("is no file"));
  std::filesystem::create_directories(folder_.path() / "folder");
  EXPECT_THAT(refused("folder"), HasSubstr("name an SQLite file of Optuna or a CSV file"));
}

}  // namespace
}  // namespace steptune
