// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <regex>

#include <gtest/gtest.h>

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
};

std::ostream& operator<<(std::ostream& out, const ReadingCommand& command) {
  return out << command.arguments;
}

const std::array<ReadingCommand, 13> k_commands = {
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
     {"check", "check study.json"}}};

/// What commands print on terminals of 80 and 160 columns and into a pipe, byte by byte.
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
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  /// Without what is the machine's, the day's and the folder's; widths stay.
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

  static std::string printed(const std::string& arguments) {
    std::string all;
    for (const std::string columns : {"80", "160"}) {
      const Ended ended =
          sandbox_->on_terminal("stty cols " + columns + "; NO_COLOR=1 $STEPTUNE " + arguments);
      EXPECT_EQ(ended.exit_code, 0) << ended.out;
      all += "--- " + columns + " columns\n" + ended.out;
    }
    const Ended piped =
        sandbox_->program({"/bin/sh", "-c", steptune_program() + " " + arguments + " | cat"});
    EXPECT_EQ(piped.err, "");
    return reproducible(all + "--- pipe\n" + piped.out);
  }

  static std::unique_ptr<Sandbox> sandbox_;
};
std::unique_ptr<Sandbox> ReadingOutput::sandbox_;

TEST_P(ReadingOutput, IsTheOneThatWasLookedAt) {
  const std::string file =
      std::string(STEPTUNE_SOURCE_DIR) + "/tests/golden/expected/" + GetParam().name + ".txt";
  const std::string now = printed(GetParam().arguments);
  if (testing::updating_golden_files()) return testing::write_text(file, now);
  EXPECT_EQ(now, read_file(file)) << "where the change is wanted: STEPTUNE_UPDATE_GOLDEN=1 "
                                     "reading_output_test, and look at the difference in "
                                  << file;
}

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
     {"show-confirmation", "show demo 22"},
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
