// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/output_schema.hpp"

#include <csignal>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// Documents of commands that do more than read; `reading_output_test.cpp` has the rest.
class OutputSchema : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    sandbox_->write("study.json", replay_study());
    run_ = sandbox_->steptune({"run", "study.json", "--quiet", "--json"});
    ASSERT_EQ(run_.exit_code, 0) << run_.err;
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  /// Runs the command with --json, checks its output against the definition, and returns it.
  static Json defined(const std::string& definition, std::vector<std::string> arguments,
                      int exit_code = 0, const Setting& setting = {}) {
    arguments.emplace_back("--json");
    const Ended ended = sandbox_->steptune(arguments, setting);
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    EXPECT_TRUE(is_as_defined(*sandbox_, ended.out, definition));
    return Json::parse(ended.out, nullptr, /*allow_exceptions=*/false);
  }

  static std::unique_ptr<Sandbox> sandbox_;
  static Ended run_;
};
std::unique_ptr<Sandbox> OutputSchema::sandbox_;
Ended OutputSchema::run_;

TEST_F(OutputSchema, DescribesRunResults) {
  EXPECT_TRUE(is_as_defined(*sandbox_, run_.out, "run"));
  sandbox_->write("failing.json", failing_study());
  // Uses another history, since commands without a name read the study that ran last.
  const Json failed = defined("run", {"run", "failing.json", "--quiet", "--db", "failing.db"}, 3);
  EXPECT_TRUE(failed["recommendation"].is_null());
}

TEST_F(OutputSchema, DescribesDecisions) {
  const Json study_decisions = defined("decisions", {"show", "demo", "--decisions"});
  const Json& decisions = study_decisions.at("decisions");
  ASSERT_GE(decisions.size(), 3U);
  EXPECT_EQ(decisions.back().at("kind"), "recommend");
  EXPECT_EQ(decisions.back().at("text"), Json::parse(run_.out).at("reason"));
  const Ended shown = sandbox_->steptune({"show", "--decisions"});
  EXPECT_NE(shown.out.find("  end\n  of=budget limit=trials trials="), std::string::npos)
      << shown.out;
  const std::string trial = std::to_string(decisions.back().at("trial").get<int>());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"show", "demo", trial, "--decisions"},
        {"show", trial, "--decisions"}}) {
    const Json of_trial = defined("decisions", words);
    ASSERT_FALSE(of_trial.at("decisions").empty());
    for (const Json& decision : of_trial.at("decisions"))
      EXPECT_EQ(decision.at("trial"), decisions.back().at("trial"));
    EXPECT_LT(of_trial.at("decisions").size(), decisions.size());
  }
  const Ended missing = sandbox_->steptune({"show", "999", "--decisions"});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_NE(missing.err.find("trial 999"), std::string::npos) << missing.err;
}

// Documents of nights are in `retune_test.cpp`.

TEST_F(OutputSchema, DescribesCommandsBeforeARun) {
  defined("check", {"check", "study.json", "--show", "5"});
  sandbox_->write("train.py",
                  "import argparse\n"
                  "parser = argparse.ArgumentParser()\n"
                  "parser.add_argument('--batch-size', type=int, default=32)\n"
                  "parser.add_argument('--workers', type=int, default=0)\n"
                  "parser.add_argument('--out', default='.')\n"
                  "parser.parse_args()\n");
  // Options after -- belong to the command.
  const Ended init =
      sandbox_->steptune({"init", "--json", "--no-run", "--", "/usr/bin/python3", "train.py"});
  EXPECT_EQ(init.exit_code, 0) << init.err;
  EXPECT_TRUE(is_as_defined(*sandbox_, init.out, "init"));
  EXPECT_FALSE(Json::parse(init.out)["varied"].empty());

  Json rented = Json::parse(replay_study());
  rented["name"] = "rented";
  rented["runner"] = {
      {"type", "sagemaker"},
      {"role", "arn:aws:iam::123456789012:role/SageMakerTuning"},
      {"image", "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1"},
      {"output", "s3://bucket/steptune/"},
      {"region", "us-east-1"},
      {"instance_type", "ml.g5.xlarge"},
      {"price_table", STEPTUNE_SOURCE_DIR "/configs/prices/sagemaker-us-east-1.json"}};
  rented["budget"] = {{"trials", 4}, {"cost", 50}};
  rented.erase("working_directory");
  sandbox_->write("rented.json", rented.dump());
  const Json plain = defined("rehearse", {"rehearse", "rented.json", "--repeats", "2"});
  EXPECT_TRUE(plain["waiting_usd"].is_null()) << "the study gives no price for waiting";
  rented["search"] = {{"searcher", "bayes"}, {"waiting_per_hour", 60}};
  sandbox_->write("rented.json", rented.dump());
  EXPECT_GT(
      defined("rehearse", {"rehearse", "rented.json", "--repeats", "1"})["waiting_usd"]["mean"],
      0.0);
}

TEST_F(OutputSchema, DescribesCommandsThatUseAResult) {
  sandbox_->write("settings.yaml", "batch_size: 32\nworkers: 0\nprecision: fp32\n");
  const Json applied =
      defined("best_apply", {"best", "demo", "--apply", "settings.yaml", "--dry-run"});
  EXPECT_FALSE(applied["changes"].empty());
  sandbox_->write("run.log", "[steptune] {\"v\":1,\"samples\":64,\"clock\":1}\n");
  const Json unknown = defined("follow", {"follow", "demo", "run.log"}, 1);
  EXPECT_EQ(unknown["promise"], "unknown");
  std::string log;
  for (int i = 1; i <= 300; ++i)
    log += fmt::format("[steptune] {{\"v\":1,\"samples\":{},\"clock\":{}}}\n", 64'000 * i, 60 * i);
  sandbox_->write("run.log", log);
  EXPECT_FALSE(defined("follow", {"follow", "demo", "run.log"}, 6)["deviation"].is_null());
  const Ended lines = sandbox_->steptune({"follow", "demo", "run.log", "--json-lines"});
  EXPECT_TRUE(is_as_defined(*sandbox_, lines.out, "follow_line"));

  sandbox_->write("trials.csv",
                  "batch_size,workers,precision,time,cost\n64,1,fp32,0.7,2\n48,0,fp32,1,3\n");
  const Json imported = defined("import", {"import", "trials.csv", "--study", "study.json"});
  EXPECT_EQ(imported["left_out"].size(), 1U);
}

TEST_F(OutputSchema, DescribesMaintenanceCommands) {
  defined("gc", {"gc", "--history-limit", "1KB", "--dry-run"});
  EXPECT_FALSE(defined("doctor", {"doctor"})["checks"].empty());
  defined("version", {"version"});
  const std::filesystem::path tables = STEPTUNE_SOURCE_DIR "/configs/prices";
  const Setting prices{.environment = {{"STEPTUNE_PRICE_PATH", tables.string()}}};
  EXPECT_FALSE(
      defined("prices", {"prices", "--region", "us-east-1"}, 0, prices)["instances"].empty());
  Json other = Json::parse(
      sandbox_->program({"/bin/cat", (tables / "sagemaker-us-east-1.json").string()}).out);
  other["region"] = "eu-west-1";
  other["instances"].erase(other["instances"].begin());
  std::filesystem::create_directories(sandbox_->folder() / "prices");
  sandbox_->write("prices/sagemaker-eu-west-1.json", other.dump());
  const Setting both{.environment = {{"STEPTUNE_PRICE_PATH", tables.string() + ":prices"}}};
  defined("prices_regions", {"prices", "--region", "us-east-1", "--region", "eu-west-1"}, 0, both);
}

TEST_F(OutputSchema, DescribesServe) {
  const pid_t pid = sandbox_->start({"serve", "--port", "0", "--json"});
  ASSERT_TRUE(sandbox_->until_err_contains("serving"));
  kill(pid, SIGTERM);
  const Ended ended = sandbox_->wait(pid);
  EXPECT_TRUE(is_as_defined(*sandbox_, ended.out, "serve"));
}

}  // namespace
}  // namespace steptune::golden
