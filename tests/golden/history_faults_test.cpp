// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

TEST(HistoryFaults, AFileThatIsNoHistoryEndsWithFour) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  sandbox.write("history.db", std::string(8192, 'x'));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"leaderboard", "--db", "history.db"},
        std::vector<std::string>{"run", "study.json", "--db", "history.db"}}) {
    const Ended ended = sandbox.steptune(arguments);
    EXPECT_EQ(ended.exit_code, 4) << ended.err;
    EXPECT_NE(ended.err.find("history.db"), std::string::npos) << ended.err;
  }
  EXPECT_EQ(sandbox.read("history.db"), std::string(8192, 'x')) << "the file is unchanged";
}

TEST(HistoryFaults, AnotherTunerAtWorkEndsWithFourAndNamesIt) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  const pid_t first = sandbox.start({"run", "endless.json"});
  ASSERT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
  const Ended second = sandbox.program(
      {"sh", "-c", "\"$0\" run endless.json > second.out 2> second.err", steptune_program()});
  EXPECT_EQ(second.exit_code, 4);
  const std::string message = sandbox.read("second.err");
  EXPECT_NE(message.find(std::to_string(first)), std::string::npos) << message;
  kill(first, SIGTERM);
  EXPECT_EQ(sandbox.wait(first).exit_code, 143);
}

TEST(HistoryFaults, AChangedStudyIsNotContinued) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet", "--trials", "2"}).exit_code, 0);
  std::string changed = replay_study();
  changed.replace(changed.find("1e8"), 3, "2e8");
  sandbox.write("study.json", changed);
  const Ended ended = sandbox.steptune({"run", "study.json"});
  EXPECT_EQ(ended.exit_code, 4) << ended.err;
  EXPECT_EQ(
      difference("steptune: error: {{.*}}study.json: study \"demo\" has trials that cannot be "
                 "compared with new ones: its file has changed in \"planned_run\"\n"
                 "  add --new to begin \"demo-2\", give the study another \"name\", or undo the "
                 "change to continue it\n",
                 ended.err),
      "");
  EXPECT_EQ(sandbox.steptune({"run", "study.json", "--new", "--quiet"}).exit_code, 0);
}

TEST(HistoryFaults, AChangedStudyWithoutMeasurementsRestarts) {
  const Sandbox sandbox;
  sandbox.write("study.json", failing_study());
  ASSERT_EQ(sandbox.steptune({"run", "study.json"}).exit_code, 3);
  std::string mended = quick_study();
  mended.replace(mended.find("\"quick\""), 7, "\"failing\"");
  sandbox.write("study.json", mended);
  sandbox.write("quick.sh", quick_trial());
  const Ended ended = sandbox.steptune({"run", "study.json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(
      difference("study \"failing\" begins again: its file has changed in {{.*\"command\".*}}, and "
                 "no trial had been measured\n"
                 "trial 1 started (baseline): speed=slow\n{{...}}\n",
                 ended.err),
      "");
  EXPECT_EQ(sandbox.steptune({"leaderboard", "failing-2"}).exit_code, 1)
      << "the study has replaced the old one";
}

TEST(RunnerFaults, AProgramWithoutItsWatchdogEndsWithFive) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  std::filesystem::create_directory(sandbox.folder() / "bin");
  std::filesystem::copy_file(steptune_program(), sandbox.folder() / "bin" / "steptune");
  const Ended ended = sandbox.program({"bin/steptune", "run", "endless.json"});
  EXPECT_EQ(ended.exit_code, 5) << ended.err;
  EXPECT_NE(ended.err.find("watchdog"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace steptune::golden
