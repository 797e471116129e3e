// SPDX-License-Identifier: Apache-2.0
// Tests real programs that can, and that cannot, take turns on one machine.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/support/read_file.hpp"

namespace steptune::golden {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RunsInTurns : public testing::Test {
 protected:
  /// Judges two command lines of a program in `tests/fakes`, which runs in the sandbox.
  [[nodiscard]] Ended judge(const std::string& program, const std::vector<std::string>& first,
                            const std::vector<std::string>& second) {
    sandbox_.write(program, read_file(STEPTUNE_SOURCE_DIR "/tests/fakes/" + program));
    const std::string path = sandbox_.folder() / program;
    std::vector<std::string> words{"judge", "--time",           "90s", "--quiet",
                                   "--",    "/usr/bin/python3", path};
    words.insert(words.end(), first.begin(), first.end());
    words.insert(words.end(), {"---", "/usr/bin/python3", path});
    words.insert(words.end(), second.begin(), second.end());
    Ended ended = sandbox_.steptune(words);
    EXPECT_NE(sandbox_.program({"/usr/bin/pgrep", "-f", path}).exit_code, 0) << "left behind";
    return ended;
  }
  [[nodiscard]] std::string free_port() const {
    const std::string port =
        sandbox_
            .program({"/usr/bin/python3", "-c",
                      "import socket; s = socket.create_server(('127.0.0.1', 0)); "
                      "print(s.getsockname()[1])"})
            .out;
    return port.substr(0, port.find('\n'));
  }
  Sandbox sandbox_;
};

/// Two runs in turns are in memory at the same time. The second one fails at its start, or later.
TEST_F(RunsInTurns, ProgramsThatFitIntoMemoryOnlyOneByOneAreStillCompared) {
  struct Case {
    std::string allocation;
    std::string end;
  };
  for (const auto& [allocation, end] : {Case{"1", "error"}, Case{"10", "137"}}) {
    const Ended ended =
        judge("large_model.py", {"0.06", allocation, end}, {"0.02", allocation, end});
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("confirming runs are measured one after another"),
                                 HasSubstr("it failed while other trials ran: "),
                                 HasSubstr("memory ran out")));
    EXPECT_EQ(sandbox_.read("failures"), allocation + "\n") << "one failure, and none afterwards";
    std::filesystem::remove(sandbox_.folder() / "failures");
  }
}

TEST_F(RunsInTurns, RanksOfDifferentLaunchersTakeTurns) {
  const Ended ended =
      judge("launcher.py", {"mpirun", "0", "0.06", "2000"}, {"torchrun", "0", "0.02", "2000"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("one after another")));
  // Trials 1 and 2 run alone; the first round has 3 and 4.
  for (const char* number : {"3", "4"}) {
    const Json shown = Json::parse(sandbox_.steptune({"show", "judge", number, "--json"}).out);
    EXPECT_EQ(shown["trial"]["status"], "completed") << shown.dump();
    EXPECT_EQ(shown["trial"]["placement"]["interleaved"], "1") << shown.dump();
  }
}

TEST_F(RunsInTurns, LaunchersAtTheSamePortRunOneByOne) {
  const std::string port = free_port();
  const Ended ended =
      judge("launcher.py", {"torchrun", port, "0.06", "2000"}, {"torchrun", port, "0.02", "2000"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("confirming runs are measured one after another"),
                               HasSubstr("Address already in use")));
}

/// The second launcher joins the first one's rendezvous, but the first one is stopped.
TEST_F(RunsInTurns, ALauncherThatWaitsForAStoppedOneRunsAlone) {
  const std::string port = free_port();
  const Ended ended =
      judge("launcher.py", {"joining", port, "0.06", "2000"}, {"joining", port, "0.02", "2000"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("confirming runs are measured one after another"),
                    HasSubstr("no step reported within "), HasSubstr(" while other trials ran")));
}

}  // namespace
}  // namespace steptune::golden
