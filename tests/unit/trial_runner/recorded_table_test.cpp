// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "trial_runner/replay/replay_model.hpp"

namespace steptune {
namespace {

constexpr const char* k_json = R"({"name": "t", "csv": "t.csv",
  "params": [{"name": "flavor", "kind": "cat"}, {"name": "lr", "kind": "ord"},
             {"name": "shared", "kind": "cat"}],
  "objective": "time", "direction": "minimize", "unit": "ms", "others": ["acc", "cost_usd"]})";
constexpr const char* k_csv =
    "flavor,lr,shared,time,acc,cost_usd\n"
    "t2.small,1e-05,0,200,0.5,0.01\r\n"
    "t2.small,0.0001,0,100,0.75,0.02\n"
    "\"t2,large\",0.0001,1,50,,0.04\n"
    "t2.medium,0.0001,1,,,\n";

class RecordedTableFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write("t.json", k_json);
    write("t.csv", k_csv);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] Result<ReplayModel> model(const std::optional<std::string>& column = {}) const {
    return table_replay_model(folder_ / "t.json", column);
  }
  [[nodiscard]] static TrialSpec spec(Value flavor, Value lr, Value shared) {
    TrialSpec spec;
    spec.configuration.set("flavor", std::move(flavor));
    spec.configuration.set("lr", std::move(lr));
    spec.configuration.set("shared", std::move(shared));
    return spec;
  }

  std::filesystem::path folder_;
};

TEST_F(RecordedTableFiles, TheObjectiveBecomesSecondsPerSample) {
  const auto replay = model();
  ASSERT_TRUE(replay) << replay.error().text();
  const auto replayed = (*replay)(spec("t2.small", 1e-5, std::int64_t{0}));
  ASSERT_TRUE(replayed) << replayed.error();
  EXPECT_DOUBLE_EQ(replayed->seconds_per_sample, 0.2);
  EXPECT_EQ(replayed->metrics,
            (std::map<std::string, double>{{"time", 200}, {"acc", 0.5}, {"cost_usd", 0.01}}));
  // The median row has 100 ms per sample, so a step takes 0.1 s.
  EXPECT_DOUBLE_EQ(replayed->samples_per_step, 1.0);
  TrialSpec batched = spec("t2.small", 1e-5, false);
  batched.report_format.samples_per_step = 32.0;
  EXPECT_DOUBLE_EQ((*replay)(batched)->samples_per_step, 32.0) << "as the study says";
}

TEST_F(RecordedTableFiles, ValuesMatchAsNumbersTruthValuesAndTexts) {
  const auto replay = model();
  ASSERT_TRUE(replay);
  EXPECT_TRUE((*replay)(spec("t2.small", 0.00001, false)));
  EXPECT_TRUE((*replay)(spec("t2.small", "1e-5", "0")));
  const auto quoted = (*replay)(spec("t2,large", 1e-4, true));
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->metrics, (std::map<std::string, double>{{"time", 50}, {"cost_usd", 0.04}}))
      << "an empty cell is no metric";
}

TEST_F(RecordedTableFiles, AbsentAndEmptyRowsSayWhy) {
  const auto replay = model();
  ASSERT_TRUE(replay);
  const auto absent = (*replay)(spec("t2.small", 0.5, false));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error(),
            "the recorded table has no row for flavor=t2.small lr=0.5 shared=false: not measured, "
            "or not possible");
  const auto empty = (*replay)(spec("t2.medium", 1e-4, true));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().find("failed"), std::string::npos);
}

TEST_F(RecordedTableFiles, ParametersOfStudyAndTableMustAgree) {
  const auto replay = model();
  ASSERT_TRUE(replay);
  TrialSpec more = spec("t2.small", 1e-5, false);
  more.configuration.set("flavour", "x");
  const auto unknown = (*replay)(more);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("did you mean \"flavor\""), std::string::npos);
  TrialSpec fewer = spec("t2.small", 1e-5, false);
  fewer.configuration.erase("lr");
  const auto missing = (*replay)(fewer);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().find("\"lr\""), std::string::npos);
}

TEST_F(RecordedTableFiles, AnyPositiveColumnMayBeTakenForTheTime) {
  const auto replay = model("cost_usd");
  ASSERT_TRUE(replay);
  EXPECT_DOUBLE_EQ((*replay)(spec("t2.small", 1e-5, false))->seconds_per_sample, 0.01);
  const auto wrong = model("cost");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().hint.find("time, acc, cost_usd"), std::string::npos);
}

TEST_F(RecordedTableFiles, PartsOfTheTimeAreReported) {
  write("t.json", R"({"csv": "t.csv", "params": [{"name": "lr"}], "objective": "time", "unit": "ms",
                     "others": ["data_s", "compute", "acc"], "parts": ["data_s", "compute"]})");
  write("t.csv", "lr,time,data_s,compute,acc\n1,200,0.05,120,0.5\n2,100,,80,0.5\n");
  TrialSpec spec;
  spec.configuration.set("lr", std::int64_t{1});
  auto replay = model();
  ASSERT_TRUE(replay) << replay.error().text();
  EXPECT_EQ((*replay)(spec)->parts,
            (std::map<std::string, double>{{"data", 0.05}, {"compute", 0.12}}))
      << "each part has its own unit, or otherwise the objective's";
  spec.configuration.set("lr", std::int64_t{2});
  EXPECT_EQ((*replay)(spec)->parts, (std::map<std::string, double>{{"compute", 0.08}}))
      << "an empty cell is no part";
  replay = model("acc");
  ASSERT_TRUE(replay) << replay.error().text();
  EXPECT_TRUE((*replay)(spec)->parts.empty()) << "the parts belong to another column";

  write("t.json", R"({"csv": "t.csv", "params": [{"name": "lr"}], "objective": "time", "unit": "ms",
                     "others": ["data_s", "compute"], "parts": ["comput"]})");
  replay = model();
  ASSERT_FALSE(replay);
  EXPECT_NE(replay.error().text().find("did you mean \"compute\""), std::string::npos)
      << replay.error().text();
}

TEST_F(RecordedTableFiles, RecordedStepsHaveTheirParts) {
  const auto replay = table_replay_model(
      STEPTUNE_SOURCE_DIR "/benchmarks/step_parts/mnist_step_parts.json", std::nullopt);
  ASSERT_TRUE(replay) << replay.error().text();
  TrialSpec spec;
  for (const char* name : {"workers", "prefetch", "threads"})
    spec.configuration.set(name, std::int64_t{2});
  spec.configuration.set("batch_size", std::int64_t{64});
  spec.configuration.set("precision", "fp32");
  spec.configuration.set("channels_last", false);
  spec.configuration.set("optimizer", "loop");
  const auto replayed = (*replay)(spec);
  ASSERT_TRUE(replayed) << replayed.error();
  for (const char* part : {"prepare", "forward", "backward", "optimizer", "other"})
    EXPECT_TRUE(replayed->parts.contains(part)) << part;
  EXPECT_EQ(replayed->parts.size(), 6U);
  EXPECT_DOUBLE_EQ(replayed->parts.at("data"), replayed->metrics.at("data_s"));
}

TEST_F(RecordedTableFiles, WithoutATimeOneMustBeNamed) {
  write("t.json", R"({"csv": "t.csv", "params": [{"name": "flavor"}, {"name": "lr"},
                     {"name": "shared"}], "objective": "acc", "others": ["cost_usd"]})");
  const auto replay = model();
  ASSERT_FALSE(replay);
  EXPECT_NE(replay.error().hint.find("objective_column"), std::string::npos);
}

TEST_F(RecordedTableFiles, ATimeAmongTheOthersIsFound) {
  write("t.json", R"({"csv": "t.csv", "params": [{"name": "flavor"}, {"name": "lr"},
                     {"name": "shared"}], "objective": "cost_usd", "unit": "USD",
                     "others": ["acc", "time"]})");
  const auto replay = model();
  ASSERT_TRUE(replay) << replay.error().text();
  EXPECT_DOUBLE_EQ((*replay)(spec("t2.small", 1e-5, false))->seconds_per_sample, 200.0);
}

TEST_F(RecordedTableFiles, FaultsNameFileAndLine) {
  write("t.csv", "flavor,lr,shared,time,acc,cost_usd\na,b\n");
  auto replay = model();
  ASSERT_FALSE(replay);
  EXPECT_NE(replay.error().where.find("t.csv:2"), std::string::npos);

  write("t.csv", "flavor,lr,shared,time,cost_usd\na,1,0,1,1\n");
  replay = model();
  ASSERT_FALSE(replay);
  EXPECT_NE(replay.error().message.find("no column \"acc\""), std::string::npos);

  write("t.csv", "flavor,lr,shared,time,acc,cost_usd\na,1,0,1,1,1\na,1.0,0,2,2,2\n");
  replay = model();
  ASSERT_FALSE(replay);
  EXPECT_NE(replay.error().message.find("two rows"), std::string::npos);

  write("t.csv", "");
  EXPECT_FALSE(model());
  std::filesystem::remove(folder_ / "t.csv");
  EXPECT_FALSE(model());
  for (const char* json : {R"({"csv": 3})", "[]"}) {
    write("t.json", json);
    replay = model();
    ASSERT_FALSE(replay) << json;
    EXPECT_NE(replay.error().message.find("does not describe a recorded table"), std::string::npos)
        << json;
  }
}

}  // namespace
}  // namespace steptune
