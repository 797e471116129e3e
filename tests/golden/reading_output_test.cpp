// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"
#include "tests/support/golden_file.hpp"
#include "tests/support/read_file.hpp"

namespace steptune::golden {
namespace {

struct ReadingCommand {
  std::string name;       ///< of the file in tests/golden/expected
  std::string arguments;  ///< for the shell
  int exit_code = 0;
};

std::ostream& operator<<(std::ostream& out, const ReadingCommand& command) {
  return out << command.arguments;
}

const std::array<ReadingCommand, 17> k_commands = {
    {{"leaderboard", "leaderboard demo"},
     {"leaderboard-all", "leaderboard demo --all"},
     {"leaderboard-pareto", "leaderboard demo --pareto --columns trial,time,cost,batch_size"},
     {"leaderboard-machines", "leaderboard cluster"},
     {"show", "show demo 3"},
     {"show-baseline", "show demo 1"},
     {"compare", "compare demo 1 4 9"},
     {"studies", "studies"},
     {"importance", "importance demo"},
     {"bottleneck", "bottleneck demo"},
     {"scaling", "scaling cluster"},
     {"best", "best demo"},
     {"check", "check study.json"},
     {"retune", "retune study.json --db nights.db --quiet"},
     {"follow", "follow demo slow.log 2> progress.txt", 6},
     {"prices", "prices g5 m5 --region us-east-1"},
     {"prices-regions",
      "prices --region us-east-1 --region eu-west-1 --region ap-northeast-1 --region sa-east-1 "
      "--region ap-southeast-2"}}};

constexpr const char* k_price_folder = "prices";

/// Prices in USD per hour, by type.
std::string price_table(const std::string& region, const std::map<std::string, double>& prices) {
  Json table{{"schema_version", 1},
             {"region", region},
             {"date", "2026-11-21"},
             {"source",
              "Made for a test: no provider asks these prices, and none of them is to be "
              "taken for one that is paid anywhere"},
             {"instances", Json::object()}};
  for (const auto& [type, usd_per_hour] : prices) {
    table["instances"][type] = {
        {"usd_per_hour", usd_per_hour}, {"vcpus", 4}, {"memory_gib", 16}, {"gpus", 1}};
  }
  return table.dump();
}

/// Returns a study that `rehearse` plays.
std::string rented_study() {
  Json study = Json::parse(replay_study());
  study["name"] = "rented";
  study["runner"] = {{"type", "sagemaker"},
                     {"role", "arn:aws:iam::123456789012:role/SageMakerTuning"},
                     {"image", "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1"},
                     {"output", "s3://bucket/steptune/"},
                     {"region", "us-east-1"},
                     {"instance_type", "ml.g5.xlarge"},
                     {"price_table", "prices/sagemaker-us-east-1.json"}};
  study["budget"] = {{"trials", 4}, {"cost", 50}};
  study.erase("working_directory");
  return study.dump();
}

/// Returns the log of a long run with this time per sample.
std::string log_of_run(double seconds_per_sample) {
  std::string text;
  for (int i = 1; i <= 300; ++i) {
    text += fmt::format("[steptune] {{\"v\":1,\"samples\":{},\"clock\":{:.3f}}}\n", 64'000 * i,
                        64'000 * i * seconds_per_sample);
  }
  return text;
}

/// Output of commands on terminals of 80 and 160 columns and into a pipe, byte by byte.
class ReadingOutput : public ::testing::TestWithParam<ReadingCommand> {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    std::string cluster = replay_study();
    const auto replace = [&](const std::string& from, const std::string& to) {
      const std::size_t at = cluster.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      cluster.replace(at, from.size(), to);
    };
    replace("\"demo\"", "\"cluster\"");
    replace("\"workers\": {\"type\": \"int\", \"low\": 0, \"high\": 4}",
            "\"workers\": {\"type\": \"int\", \"low\": 0, \"high\": 4}, "
            "\"nodes\": {\"type\": \"ordinal\", \"choices\": [1, 2, 4]}");
    replace("\"workers\": 0", "\"workers\": 0, \"nodes\": 1");
    replace("(1 + 0.5 / (1 + workers))", "(1 + 0.5 / (1 + workers)) / nodes * (1 + 0.1 * nodes)");
    replace("\"scheduler\": \"asha\"", "\"scheduler\": \"none\"");
    sandbox_->write("cluster.json", cluster);
    sandbox_->write("study.json", replay_study());
    for (const std::string file : {"cluster.json", "study.json"}) {
      ASSERT_EQ(sandbox_->steptune({"run", file, "--quiet"}).exit_code, 0);
    }
    // A separate history, so that its nights are not among the studies. The first night tunes.
    ASSERT_EQ(sandbox_->steptune({"retune", "study.json", "--db", "nights.db"}).exit_code, 7);
    sandbox_->write("slow.log", log_of_run(0.000417));
    sandbox_->write("rented.json", rented_study());
    std::filesystem::create_directory(sandbox_->folder() / k_price_folder);
    const std::map<std::string, std::map<std::string, double>> prices = {
        {"us-east-1",
         {{"ml.g5.xlarge", 1.408}, {"ml.m5.large", 0.115}, {"ml.p4d.24xlarge", 25.251}}},
        {"eu-west-1", {{"ml.g5.xlarge", 1.577}, {"ml.m5.large", 0.128}}},
        {"ap-northeast-1", {{"ml.g5.xlarge", 1.9}, {"ml.m5.large", 0.149}}},
        {"sa-east-1", {{"ml.g5.xlarge", 2.2}, {"ml.m5.large", 0.184}}},
        {"ap-southeast-2", {{"ml.g5.xlarge", 1.83}, {"ml.p4d.24xlarge", 33.1}}}};
    for (const auto& [region, by_type] : prices) {
      sandbox_->write(fmt::format("{}/sagemaker-{}.json", k_price_folder, region),
                      price_table(region, by_type));
    }
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  /// Replaces text that depends on the machine, the day or the folder, and keeps widths.
  static std::string reproducible(std::string text) {
    std::erase(text, '\r');
    const std::string folder = sandbox_->folder().string();
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
      text.replace(at, folder.size(), "FOLDER");
    static const std::regex k_date(R"(20\d\d-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?Z?)?)");
    static const std::regex k_machine(R"(\n(machine|drivers?|gpu) +[^\n]*)");
    text = std::regex_replace(text, k_date, "DATE");
    return std::regex_replace(text, k_machine, "\nMACHINE");
  }

  static Setting setting() {
    return {.environment = {{"NO_COLOR", "1"}, {"STEPTUNE_PRICE_PATH", k_price_folder}}};
  }

  static Ended on_terminal(const ReadingCommand& command, int columns) {
    Ended ended = sandbox_->on_terminal(
        fmt::format("stty cols {}; $STEPTUNE {}", columns, command.arguments), setting());
    EXPECT_EQ(ended.exit_code, command.exit_code) << ended.out;
    return ended;
  }

  static std::string printed(const ReadingCommand& command) {
    std::string all;
    for (const int columns : {80, 160})
      all += fmt::format("--- {} columns\n{}", columns, on_terminal(command, columns).out);
    const Ended piped = sandbox_->program(
        {"/bin/sh", "-c", steptune_program() + " " + command.arguments + " | cat"}, setting());
    EXPECT_EQ(piped.err, "");
    return reproducible(all + "--- pipe\n" + piped.out);
  }

  static std::unique_ptr<Sandbox> sandbox_;
};
std::unique_ptr<Sandbox> ReadingOutput::sandbox_;

TEST_P(ReadingOutput, EqualsTheReviewedFile) {
  const std::string file =
      std::string(STEPTUNE_SOURCE_DIR) + "/tests/golden/expected/" + GetParam().name + ".txt";
  const std::string now = printed(GetParam());
  if (testing::updating_golden_files()) return testing::write_text(file, now);
  EXPECT_EQ(now, read_file(file)) << "where the change is wanted: STEPTUNE_UPDATE_GOLDEN=1 "
                                     "reading_output_test, and look at the difference in "
                                  << file;
}

/// Output that depends on the machine, the day or chance; only its width is tested.
using ReadingWidth = ReadingOutput;

TEST_P(ReadingWidth, IsAtMostThatOfTheTerminal) {
  for (const int columns : {80, 50}) {
    std::istringstream lines(reproducible(on_terminal(GetParam(), columns).out));
    bool any = false;
    for (std::string line; std::getline(lines, line); any = true) {
      // Paths are not broken into lines.
      if (line.find('/') != std::string::npos) continue;
      EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
    }
    EXPECT_TRUE(any);
  }
}

const std::array<ReadingCommand, 4> k_machine_commands = {
    {{"decisions", "show demo --decisions"},
     {"rehearse", "rehearse rented.json --repeats 2"},
     {"gc", "gc --history-limit 1KB --dry-run"},
     {"doctor", "doctor"}}};

INSTANTIATE_TEST_SUITE_P(Commands, ReadingWidth, ::testing::ValuesIn(k_machine_commands),
                         [](const auto& command) { return command.param.name; });

using ReadingJson = ReadingOutput;

TEST_P(ReadingJson, IsAsItsSchemaSays) {
  const std::string command = GetParam().arguments.substr(0, GetParam().arguments.find(' '));
  const Ended ended = sandbox_->program(
      {"/bin/sh", "-c", steptune_program() + " " + GetParam().arguments + " --json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(is_as_defined(*sandbox_, ended.out, command));
}

const std::array<ReadingCommand, 12> k_documents = {
    {{"studies", "studies"},
     {"leaderboard", "leaderboard demo"},
     {"leaderboard-all", "leaderboard demo --all"},
     {"leaderboard-machines", "leaderboard cluster"},
     {"show", "show demo 3"},
     {"show-confirmation", "show demo 21"},
     {"compare", "compare demo 1 4 9"},
     {"best", "best demo"},
     {"importance", "importance demo"},
     {"bottleneck", "bottleneck demo"},
     {"bottleneck-machines", "bottleneck cluster"},
     {"scaling", "scaling cluster"}}};

INSTANTIATE_TEST_SUITE_P(Documents, ReadingJson, ::testing::ValuesIn(k_documents),
                         [](const auto& command) {
                           std::string name = command.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

INSTANTIATE_TEST_SUITE_P(Commands, ReadingOutput, ::testing::ValuesIn(k_commands),
                         [](const auto& command) {
                           std::string name = command.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace steptune::golden
