// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string import_study(const std::string& name,
                         const std::string& search = R"("searcher": "sobol")") {
  return R"json({
    "name": ")json" +
         name + R"json(",
    "command": ["train", "{batch}", "{workers}", {"args": ["{prefetch}"]}, "{precision}", "{amp}"],
    "parameters": {
      "batch": {"type": "int", "low": 16, "high": 256, "scale": "log2"},
      "workers": {"type": "int", "low": 0, "high": 4},
      "prefetch": {"type": "int", "low": 1, "high": 4, "when": "workers > 0"},
      "precision": {"type": "categorical", "choices": ["fp32", "bf16"]},
      "amp": {"type": "bool"}
    },
    "baseline": {"batch": 32, "workers": 0, "precision": "fp32", "amp": false},
    "search": {"scheduler": "none", )json" +
         search + R"json(},
    "budget": {"trials": 8},
    "runner": {"type": "replay", "seconds_per_sample":
      "(0.0004 + 0.01 / batch) * (precision == 'bf16' ? 0.6 : 1) / (1 + workers)"}
  })json";
}

Json must_import(const Sandbox& sandbox, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "import");
  arguments.insert(arguments.end(), {"--study", "study.json", "--json"});
  const Ended ended = sandbox.steptune(arguments);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return Json::parse(ended.out, nullptr, false);
}

Json trials_of(const Sandbox& sandbox, const std::string& study) {
  const Ended ended = sandbox.steptune({"leaderboard", study, "--all", "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  Json trials = Json::array();
  const Json board = Json::parse(ended.out);
  for (const Json& row : board["rows"])
    trials.push_back(row["trial"]);
  return trials;
}

TEST(Import, ACsvKeepsRowsInsideTheSpace) {
  const Sandbox sandbox;
  sandbox.write("study.json", import_study("demo"));
  sandbox.write("trials.csv",
                "batch,workers,prefetch,precision,seconds\n"
                "64,0,2,bf16,1.5\n128,2,2,fp32,0.7\n48,0,,fp32,1\n64,1,2,fp32,\n64,1,2,int8,1\n");
  const Json json = must_import(sandbox, {"trials.csv", "--column", "time=seconds"});
  EXPECT_EQ(json["study"], "demo-imported");
  EXPECT_EQ(json["trials"], 2);
  EXPECT_EQ(json["left_out"].size(), 3U);
  const Json trials = trials_of(sandbox, "demo-imported");
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0]["origin"], "import");
  EXPECT_EQ(trials[0]["configuration"], Json({{"amp", false},
                                              {"batch", 128},
                                              {"precision", "fp32"},
                                              {"prefetch", 2},
                                              {"workers", 2}}));
  // An imported study cannot be resumed, but another study can learn from it.
  sandbox.write("same.json", import_study("demo-imported"));
  EXPECT_EQ(sandbox.steptune({"run", "same.json", "--quiet"}).exit_code, 4);
  sandbox.write("next.json", import_study("next", R"("learn_from": ["demo-imported"])"));
  const Ended next = sandbox.steptune({"run", "next.json", "--quiet"});
  EXPECT_EQ(next.exit_code, 0) << next.err;
  const Ended again = sandbox.steptune(
      {"import", "trials.csv", "--study", "study.json", "--column", "time=seconds"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("already exists"));
}

TEST(Import, AnOptunaExportGivesTheSameTrialsBack) {
  const Sandbox sandbox;
  sandbox.write("study.json", import_study("demo"));
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  ASSERT_EQ(sandbox.steptune({"export", "demo", "--format", "optuna", "optuna.db"}).exit_code, 0);
  const Json before = trials_of(sandbox, "demo");
  const Json json = must_import(sandbox, {"optuna.db", "--name", "back"});
  EXPECT_EQ(json["kind"], "Optuna");
  const Json after = trials_of(sandbox, "back");
  ASSERT_GT(after.size(), 0U);
  EXPECT_EQ(after[0]["configuration"], before[0]["configuration"]);
  EXPECT_EQ(after[0]["objectives"][0]["value"], before[0]["objectives"][0]["value"]);
}

TEST(Import, OptunasStatesAndValuesAreRead) {
  const Sandbox sandbox;
  sandbox.write("study.json", import_study("demo"));
  sandbox.write("trials.csv",
                "\xef\xbb\xbfnumber,value,params_batch,state\n0,1.5,64,COMPLETE\n1,0.5,128,PRUNED\n"
                "2,,32,FAIL\n3,1.1,,COMPLETE\n");
  const Json json = must_import(sandbox, {"trials.csv"});
  EXPECT_EQ(json["trials"], 2);
  EXPECT_EQ(json["left_out"], Json({{"its state is PRUNED", 1}, {"no value of \"batch\"", 1}}));
  const Json trials = trials_of(sandbox, "demo-imported");
  EXPECT_EQ(trials[0]["objectives"][0]["value"], 1.5);
  EXPECT_EQ(trials[1]["status"], "failed");
}

TEST(Import, OptunasOtherDirectionIsRefused) {
  const Sandbox sandbox;
  sandbox.write("study.json", import_study("demo"));
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  ASSERT_EQ(sandbox.steptune({"export", "demo", "--format", "optuna", "optuna.db"}).exit_code, 0);
  SQLite::Database((sandbox.folder() / "optuna.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE study_directions SET direction = 'MAXIMIZE'");
  const Ended ended = sandbox.steptune({"import", "optuna.db", "--study", "study.json"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("is maximized"));
}

TEST(Import, WarnsOfTimesThatCannotBeCompared) {
  const Sandbox sandbox;
  sandbox.write("study.json", import_study("demo"));
  sandbox.write("trials.csv", "batch,step_s,elapsed_s\n64,1,2\n128,1.5,3\n");
  EXPECT_THAT(must_import(sandbox, {"trials.csv", "--column", "time=step_s"})["notes"].dump(),
              HasSubstr("seconds per sample?"));
  EXPECT_THAT(
      must_import(sandbox, {"trials.csv", "--column", "time=elapsed_s", "--name", "b"})["notes"]
          .dump(),
      HasSubstr("since a trial began"));
  sandbox.write("twice.csv", "batch,batch,step_s\n64,1,2\n");
  const Ended twice = sandbox.steptune({"import", "twice.csv", "--study", "study.json"});
  EXPECT_THAT(twice.err, HasSubstr("two columns \"batch\""));
}

TEST(Import, IsNeverMistakenForAMeasurement) {
  const Sandbox sandbox;
  sandbox.write("study.json", import_study("demo"));
  sandbox.write("trials.csv",
                "batch,workers,prefetch,seconds\n64,1,1,1.5\n128,2,1,0.7\n256,0,,9\n");
  must_import(sandbox, {"trials.csv", "--column", "time=seconds"});
  const Ended board = sandbox.steptune({"leaderboard", "demo-imported", "--json"});
  const Json json = Json::parse(board.out);
  ASSERT_EQ(json["rows"].size(), 3U);
  for (const Json& row : json["rows"]) {
    // The error of another program's value is unknown.
    EXPECT_TRUE(row["trial"]["objectives"][0]["half_width_95"].is_null());
    EXPECT_TRUE(row["trial"]["measurement"].is_null());
    EXPECT_TRUE(row["best"].get<bool>() || row["tied_with_best"].get<bool>());
  }
  const Ended best = sandbox.steptune({"best", "demo-imported"});
  EXPECT_THAT(best.err, HasSubstr("was imported: Steptune has not measured it"));
  EXPECT_THAT(sandbox.steptune({"studies"}).out, HasSubstr("demo-imported"));
  // A study that learns from it recommends only configurations that it has measured itself.
  sandbox.write("next.json", import_study("next", R"("learn_from": ["demo-imported"])"));
  const Ended next = sandbox.steptune({"run", "next.json", "--quiet", "--json"});
  ASSERT_EQ(next.exit_code, 0) << next.err;
  for (const Json& trial : trials_of(sandbox, "next")) {
    EXPECT_NE(trial["origin"], "import");
    EXPECT_EQ(trial["measurement"].is_null(), trial["status"] != "completed");
  }
}

TEST(Import, SaysWhatIsMissing) {
  const Sandbox sandbox;
  sandbox.write("study.json", import_study("demo"));
  sandbox.write("trials.csv", "batch,seconds\n64,1\n");
  const auto error = [&sandbox](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "import");
    arguments.insert(arguments.end(), {"--study", "study.json"});
    const Ended ended = sandbox.steptune(arguments);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  EXPECT_THAT(error({"trials.csv"}), HasSubstr("no column has \"time\""));
  EXPECT_THAT(error({"trials.csv", "--column", "time=second"}), HasSubstr("no column \"second\""));
  EXPECT_THAT(error({"none.csv"}), HasSubstr("is no file"));
  sandbox.write("broken.db", std::string("SQLite format 3\0garbage", 23));
  EXPECT_THAT(error({"broken.db"}), HasSubstr("cannot be read"));
  EXPECT_FALSE(fs::exists(sandbox.folder() / ".steptune/history.db"));
}

}  // namespace
}  // namespace steptune::golden
