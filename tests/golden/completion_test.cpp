// SPDX-License-Identifier: Apache-2.0
// Tests the completion scripts in the shells themselves.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/golden/program.hpp"
#include "tests/golden/pseudo_terminal.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

class ShellCompletion : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("study.json", replay_study());
    ASSERT_EQ(sandbox_.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
    std::filesystem::create_directory(sandbox_.folder() / "bin");
    std::filesystem::create_symlink(steptune_program(), sandbox_.folder() / "bin" / "steptune");
  }

  [[nodiscard]] bool has(const std::string& shell) const {
    return sandbox_.program({"/bin/sh", "-c", "command -v " + shell}).exit_code == 0;
  }

  /// Returns where a user's shell finds `steptune` and its own files.
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    const std::string folder = sandbox_.folder().string();
    return {{"PATH", folder + "/bin:/usr/local/bin:/usr/bin:/bin"},
            {"HOME", folder},
            {"ZDOTDIR", folder},
            {"INPUTRC", "/dev/null"}};
  }

  /// Types a tab after each line, and returns the resulting lines. The shell's settings bind Ctrl-O
  /// to write the line to `printed.txt` and empty it.
  [[nodiscard]] std::string completed(const std::vector<std::string>& shell,
                                      const std::vector<std::string>& lines) const {
    std::vector<std::string> argv{"/usr/bin/env"};
    argv.insert(argv.end(), shell.begin(), shell.end());
    PseudoTerminal terminal(argv, sandbox_.folder(), 100, environment());
    EXPECT_TRUE(terminal.until("ready> ")) << terminal.written();
    for (const std::string& line : lines)
      terminal.type(line + "\t\x0f");
    terminal.type("exit\r");
    EXPECT_EQ(terminal.wait(), 0) << terminal.written();
    return sandbox_.read("printed.txt");
  }

  Sandbox sandbox_;
};

const std::vector<std::string> k_lines{"steptune le",
                                       "steptune show de",
                                       "steptune leaderboard --color=al",
                                       "steptune leaderboard --columns trial,prec",
                                       "steptune leaderboard --where 'workers > 2 and prec",
                                       "steptune best --map wor",
                                       "steptune run stu"};
constexpr const char* k_completed =
    "steptune leaderboard \n"
    "steptune show demo \n"
    "steptune leaderboard --color=always \n"
    "steptune leaderboard --columns trial,precision \n"
    "steptune leaderboard --where 'workers > 2 and precision' \n"
    "steptune best --map workers=\n"
    "steptune run study.json \n";

TEST_F(ShellCompletion, BashPutsInWhatTheProgramOffers) {
  sandbox_.write("complete.bash", sandbox_.steptune({"completion", "bash"}).out);
  sandbox_.write("bashrc", R"(source complete.bash
printed() { printf '%s\n' "$READLINE_LINE" >>printed.txt; READLINE_LINE=; }
bind -x '"\C-o": printed'
PS1='ready> '
)");
  EXPECT_EQ(completed({"bash", "--rcfile", "bashrc", "-i"}, k_lines), k_completed);
}

TEST_F(ShellCompletion, ZshPutsInWhatTheProgramOffers) {
  if (!has("zsh")) GTEST_SKIP() << "no zsh";
  sandbox_.write("functions/_steptune", sandbox_.steptune({"completion", "zsh"}).out);
  sandbox_.write(".zshrc", R"(fpath=($PWD/functions $fpath)
autoload -Uz compinit && compinit -u -D
printed() { print -r -- "$BUFFER" >>printed.txt; BUFFER= }
zle -N printed
bindkey '^O' printed
PS1='ready> '
)");
  EXPECT_EQ(completed({"zsh", "-d", "-i"}, k_lines), k_completed);
}

TEST_F(ShellCompletion, FishIsOfferedWordsWithDescriptions) {
  if (!has("fish")) GTEST_SKIP() << "no fish";
  sandbox_.write("completions/steptune.fish", sandbox_.steptune({"completion", "fish"}).out);
  const auto offered = [&](const std::string& line) {
    const Ended ended = sandbox_.program({"fish", "--no-config", "-c",
                                          "set fish_complete_path $PWD/completions; "
                                          "complete -C$argv[1]",
                                          line},
                                         {.environment = environment()});
    EXPECT_EQ(ended.err, "") << line;
    return ended.out;
  };
  EXPECT_EQ(offered("steptune le"), "leaderboard\tRank the trials of a study, best first\n");
  EXPECT_EQ(offered("steptune show de"), "demo\tfinished\n");
  EXPECT_EQ(offered("steptune leaderboard --columns trial,prec"), "trial,precision\tprecision\n");
  EXPECT_EQ(offered("steptune leaderboard --where 'workers > 2 and prec"),
            "workers > 2 and precision\tprecision\n");
  EXPECT_EQ(offered("steptune best --map wor"), "workers=\n");
  EXPECT_EQ(offered("steptune run stu"), "study.json\n");
}

}  // namespace
}  // namespace steptune::golden
