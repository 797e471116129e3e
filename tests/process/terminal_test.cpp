// SPDX-License-Identifier: Apache-2.0
//
// Tests trials with a pseudo-terminal, and with standard input from a file.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class TerminalTest : public LocalRunnerTest {
 protected:
  [[nodiscard]] TrialSpec in_terminal(const std::string& script) const {
    TrialSpec spec = shell(script);
    spec.terminal = true;
    return spec;
  }
  std::string write_input(const std::string& text) const {
    const auto file = folder() / "answers";
    std::ofstream(file) << text;
    return file;
  }
};

/// Returns field 7 of /proc/PID/stat, the controlling terminal.
std::string controlling_terminal(const std::string& stat) {
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 7; ++i)
    fields >> field;
  return field;
}

TEST_F(TerminalTest, AllThreeStreamsAreATerminalOfAKnownSize) {
  const TrialSpec spec = in_terminal("stty size; tty; test -t 1 && test -t 2 && echo both");
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::completed);
  EXPECT_THAT(log_of(spec), ContainsRegex("^[1-9][0-9]* [1-9][0-9]*\n/dev/pts/[0-9]+\nboth\n$"));
}

TEST_F(TerminalTest, AProgramThatNeedsATerminalIsReported) {
  const TrialRun done = run(shell("stty size"));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::failed);
  EXPECT_EQ(done.outcome().lacked_stream, LackedStream::terminal);
  EXPECT_THAT(done.outcome().detail, HasSubstr("\"terminal\": true"));
}

TEST_F(TerminalTest, LinesAndBarsAreReadAsFromAPipe) {
  const std::string script =
      "i=0; while [ $i -lt 5 ]; do i=$((i+1)); printf '\\rstep=%d loss=0.%d' $i $i; done; "
      "printf '\\nstep=6 loss=0.6\\n'";
  TrialSpec spec = shell(script);
  spec.report_format.preset = "key=value";
  const TrialRun piped = run(spec);
  const std::string log = log_of(spec);
  drop_runner();
  spec.terminal = true;
  const TrialRun done = run(spec);
  EXPECT_EQ(log_of(spec), log);
  ASSERT_THAT(piped.reports, SizeIs(6));
  ASSERT_THAT(done.reports, SizeIs(6));
  for (std::size_t i = 0; i < done.reports.size(); ++i) {
    EXPECT_EQ(done.reports[i].step, piped.reports[i].step);
    EXPECT_EQ(done.reports[i].metrics, piped.reports[i].metrics);
  }
}

TEST_F(TerminalTest, AnUnansweredQuestionEndsTheInput) {
  const TrialSpec spec = in_terminal("cat; echo ended");
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::completed);
  EXPECT_EQ(log_of(spec), "ended\n");
}

TEST_F(TerminalTest, AFileIsTheStandardInput) {
  for (const bool terminal : {false, true}) {
    TrialSpec spec = shell("cat; test -t 1 && echo terminal");
    spec.terminal = terminal;
    spec.standard_input = write_input("yes\n7\n");
    run(spec);
    EXPECT_EQ(log_of(spec), terminal ? "yes\n7\nterminal\n" : "yes\n7\n");
    drop_runner();
  }
}

TEST_F(TerminalTest, AMissingInputIsAnOutcomeWithTheReason) {
  TrialSpec spec = shell("cat");
  spec.standard_input = folder() / "no-such-file";
  const TrialRun done = run(spec);
  EXPECT_EQ(done.outcome().kind, OutcomeKind::not_started);
  EXPECT_THAT(done.outcome().detail, HasSubstr("cannot open the standard input"));
}

TEST_F(TerminalTest, TheTerminalControlsNeitherTrialNorTuner) {
  const std::string before = controlling_terminal(read_file("/proc/self/stat"));
  const TrialSpec spec = in_terminal("cat /proc/self/stat");
  run(spec);
  EXPECT_EQ(controlling_terminal(read_file("/proc/self/stat")), before);
  EXPECT_EQ(controlling_terminal(log_of(spec)), before);
}

TEST_F(TerminalTest, HelpersGetNoHangUpWhenTheMainProcessEnds) {
  const std::string hup = (folder() / "hup").string();
  const std::string up = (folder() / "up").string();
  const std::string script = "(trap 'echo > " + hup + "' HUP; trap '' TERM; echo > " + up +
                             "; while :; do sleep 0.01; done) & "
                             "while [ ! -e " +
                             up + " ]; do sleep 0.01; done; read line; exit 0";
  const TrialSpec spec = in_terminal(script);
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::completed);
  EXPECT_FALSE(std::filesystem::exists(hup));
}

TEST_F(TerminalTest, NoDescendantStaysBehind) {
  TrialSpec spec = fake({"brood", "exit"});
  spec.terminal = true;
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::completed);
  const std::vector<pid_t> pids = pids_in(log_of(spec));
  EXPECT_FALSE(pids.empty());
  EXPECT_THAT(alive(pids), IsEmpty());
}

TEST_F(TerminalTest, AFloodTakesNoMoreRoomThanItsLogMay) {
  TrialSpec spec = fake({"flood", "5000000"});
  spec.terminal = true;
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::completed);
  EXPECT_LE(log_of(spec).size(), spec.limits.log_bytes + 100);
}

}  // namespace
}  // namespace steptune::process_tests
