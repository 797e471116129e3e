// SPDX-License-Identifier: Apache-2.0
// Tests the output on a terminal, and what remains of it without one.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/golden/program.hpp"
#include "tests/golden/pseudo_terminal.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

class TerminalTest : public testing::Test {
 protected:
  TerminalTest() {
    sandbox_.write("study.json", replay_study());
    sandbox_.write("endless.json", endless_study());
    sandbox_.write("trial.sh", endless_trial());
    std::string failing = failing_study();
    const std::string command = R"("/bin/false", "{batch}")";
    failing.replace(failing.find(command), command.size(),
                    R"("/bin/sh", "-c", "echo there is no data; exit 1", "sh", "{batch}")");
    sandbox_.write("failing.json", failing);
  }

  /// Runs a shell's command line to its end and returns the output.
  [[nodiscard]] std::string after(const std::string& command, int columns = 100,
                                  std::map<std::string, std::string> environment = {}) {
    environment["STEPTUNE"] = steptune_program();
    PseudoTerminal terminal({"/bin/sh", "-c", command}, sandbox_.folder(), columns, environment);
    exit_code_ = terminal.wait();
    return terminal.written();
  }

  Sandbox sandbox_;
  int exit_code_ = -1;
};

/// Returns the lines drawn for running trials and the study, in the form in which they were
/// written.
std::vector<std::string> live_lines(const std::string& written, std::size_t from = 0) {
  static const std::regex k_line(R"((?:^|\n|K|\r)( +1  [^\r\n]*|searching  [^\r\n]*)\r\n)");
  std::vector<std::string> lines;
  for (auto found = std::sregex_iterator(written.begin() + static_cast<std::ptrdiff_t>(from),
                                         written.end(), k_line);
       found != std::sregex_iterator(); ++found) {
    lines.push_back((*found)[1]);
  }
  return lines;
}

bool has_colors(const std::string& written) {
  return std::regex_search(written, std::regex("\x1b\\[[0-9;]*m"));
}

TEST_F(TerminalTest, LiveLinesFitANarrowedTerminal) {
  PseudoTerminal terminal({steptune_program(), "run", "endless.json"}, sandbox_.folder(), 100);
  ASSERT_TRUE(terminal.until("samples/s")) << terminal.written();
  ASSERT_TRUE(terminal.until("searching  0/3 trials", terminal.written().size()));
  EXPECT_FALSE(live_lines(terminal.written()).empty());
  std::size_t widest = 0;
  for (const std::string& line : live_lines(terminal.written()))
    widest = std::max(widest, line.size());
  EXPECT_GT(widest, 30U);
  EXPECT_LT(widest, 100U);

  terminal.resize(30);
  // Lines in flight may still have the old width.
  const std::size_t resized = terminal.written().size();
  ASSERT_TRUE(terminal.until("...", resized)) << terminal.written().substr(resized);
  const std::size_t narrow = terminal.written().size();
  ASSERT_TRUE(terminal.until("...", narrow));
  ASSERT_TRUE(terminal.until("searching", terminal.written().size()));
  const auto lines = live_lines(terminal.written(), narrow);
  EXPECT_FALSE(lines.empty());
  for (const std::string& line : lines)
    EXPECT_LT(line.size(), 30U) << line;

  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(), 130);
  EXPECT_NE(terminal.written().find("press Ctrl-C again to stop at once"), std::string::npos);
}

TEST_F(TerminalTest, LiveLinesAreErasedInTheEnd) {
  const std::string written = after("$STEPTUNE run study.json --trials 3");
  EXPECT_EQ(exit_code_, 0) << written;
  EXPECT_NE(written.find("searching  "), std::string::npos) << "live lines were drawn";
  const std::string screen = screen_after(written);
  EXPECT_EQ(screen.find("searching  "), std::string::npos) << screen;
  EXPECT_NE(screen.find("trial 1 completed: "), std::string::npos) << screen;
  EXPECT_EQ(screen.find("trial 1 started"), std::string::npos) << "the live line shows it";
  EXPECT_NE(screen.find("\nchange  "), std::string::npos) << screen;
}

TEST_F(TerminalTest, AnsweringNoSendsNoNotification) {
  PseudoTerminal first({steptune_program(), "run", "endless.json"}, sandbox_.folder(), 100);
  ASSERT_TRUE(first.until("samples/s")) << first.written();
  first.type("\x03");
  ASSERT_EQ(first.wait(), 130);

  PseudoTerminal second(
      {steptune_program(), "run", "endless.json", "--new", "--notify", "touch notified"},
      sandbox_.folder(), 100);
  ASSERT_TRUE(second.until("[y/N]")) << second.written();
  second.type("n\r");
  EXPECT_EQ(second.wait(), 2);
  EXPECT_NE(second.written().find("not started"), std::string::npos) << second.written();
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "notified"));
}

TEST_F(TerminalTest, WhyATrialFailedIsNotCut) {
  const std::string wide = screen_after(after("$STEPTUNE run failing.json", 200));
  const auto begin = wide.find("\n  ", wide.find("trial 1 failed"));
  ASSERT_NE(begin, std::string::npos) << wide;
  const std::string reason = wide.substr(begin, wide.find('\n', begin + 1) - begin);
  EXPECT_GT(reason.size(), 12U) << reason;
  const std::string narrow = screen_after(after("$STEPTUNE run failing.json --new --yes", 12));
  EXPECT_NE(narrow.find(reason + "\n"), std::string::npos) << narrow;
}

TEST_F(TerminalTest, ColoursCanBeTurnedOff) {
  const std::string plain =
      after("$STEPTUNE run study.json --trials 2 --verbose", 100, {{"NO_COLOR", "1"}});
  EXPECT_FALSE(has_colors(plain));
  EXPECT_NE(plain.find("\x1b[2K"), std::string::npos) << "live lines need no colour";
  EXPECT_TRUE(has_colors(after("$STEPTUNE run study.json --trials 2 --verbose")));
  EXPECT_FALSE(has_colors(after("$STEPTUNE run study.json --trials 2 --verbose --color never")));
}

TEST_F(TerminalTest, ADumbTerminalGetsWholeLines) {
  const std::string written = after("$STEPTUNE run study.json --trials 2", 100, {{"TERM", "dumb"}});
  EXPECT_EQ(written.find('\x1b'), std::string::npos);
  EXPECT_EQ(written.find("searching"), std::string::npos);
  EXPECT_NE(written.find("trial 1 started (baseline): "), std::string::npos) << written;
}

TEST_F(TerminalTest, PipedOutputIsPlainWhileStderrIsATerminal) {
  const std::string written = after("$STEPTUNE run study.json --trials 2 > result.txt");
  EXPECT_NE(written.find("searching  "), std::string::npos) << written;
  EXPECT_EQ(written.find("\ncost    "), std::string::npos) << written;
  const std::string result = sandbox_.read("result.txt");
  EXPECT_NE(result.find("\ncost    "), std::string::npos) << result;
  EXPECT_EQ(result.find('\x1b'), std::string::npos);
}

TEST_F(TerminalTest, APipedStderrHasNoLiveLines) {
  const std::string written = after("$STEPTUNE run study.json --trials 2 2> progress.txt");
  EXPECT_EQ(written.find("searching  "), std::string::npos) << written;
  const std::string progress = sandbox_.read("progress.txt");
  EXPECT_EQ(progress.find('\x1b'), std::string::npos);
  EXPECT_NE(progress.find("trial 2 started (sobol): "), std::string::npos) << progress;
}

}  // namespace
}  // namespace steptune::golden
