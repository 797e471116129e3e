// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

TEST(Interrupt, TheFirstCtrlCEndsInOrderAndSaysHowToContinue) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  const pid_t pid = sandbox.start({"run", "endless.json", "--db", "my history.db"});
  ASSERT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
  kill(pid, SIGINT);
  const Ended ended = sandbox.wait(pid);
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(difference(R"(trial 1 started (baseline): batch=8
stopping the running trials; results are saved; press Ctrl-C again to stop at once
continue later with: steptune run endless.json --db 'my history.db'
{{...}}
interrupted: 1 trial: 1 interrupted; see 'steptune leaderboard endless --db 'my history.db''
)",
                       ended.err),
            "");
  const auto json = parse_json(
      sandbox.steptune({"leaderboard", "--db", "my history.db", "--json", "--all"}).out, "board");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["study"]["status"], "interrupted");
  EXPECT_EQ((*json)["counts"]["interrupted"], 1);
}

TEST(Interrupt, SuggestsOptionsThatTheFileLacks) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  const auto interrupted = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{"run", "endless.json", "--time", "1h", "--trials", "7"};
    words.insert(words.end(), options.begin(), options.end());
    const pid_t pid = sandbox.start(words);
    EXPECT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
    kill(pid, SIGINT);
    return sandbox.wait(pid).err;
  };
  EXPECT_NE(interrupted({"--first-guesses"})
                .find("\ncontinue later with: steptune run endless.json --trials 7 --time 1h "
                      "--first-guesses\n"),
            std::string::npos);
  const std::string renamed = interrupted({"--new", "--yes"});
  EXPECT_NE(renamed.find("\ncontinue later with: \"name\": \"endless-2\" in endless.json, then "
                         "steptune run endless.json --trials 7 --time 1h\n"),
            std::string::npos)
      << renamed;
}

TEST(Interrupt, WhileAProgramIsSurveyedLeavesNoStudyFile) {
  for (const auto& [signal, exit_code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const Sandbox sandbox;
    const pid_t pid = sandbox.start({"run", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.until_err_contains("runs the program unchanged"))
        << sandbox.read("err.txt");
    kill(pid, signal);
    const Ended ended = sandbox.wait(pid);
    EXPECT_EQ(ended.exit_code, exit_code);
    EXPECT_NE(
        ended.err.find("stopped before the program had been examined; no study file was written"),
        std::string::npos)
        << ended.err;
    EXPECT_EQ(sandbox.read("sleep.study.json"), "");
  }
}

TEST(Interrupt, WatchEndsWithTheStudyOrCtrlC) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  const pid_t pid = sandbox.start({"run", "endless.json"});
  ASSERT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
  const Ended watched = sandbox.on_terminal(
      "timeout --foreground --preserve-status --signal=INT 3 $STEPTUNE leaderboard --watch --all; "
      "echo code $?");
  EXPECT_TRUE(watched.out.starts_with("\x1b[?1049h\x1b[?25l\x1b[Hendless  running")) << watched.out;
  EXPECT_NE(watched.out.find("\x1b[K\r\n\x1b[J\x1b[Hendless"), std::string::npos) << watched.out;
  // The last lines are written again after the terminal's screen is restored.
  EXPECT_NE(watched.out.find("\x1b[J\x1b[?25h\x1b[?1049lendless  running"), std::string::npos)
      << watched.out;
  EXPECT_TRUE(watched.out.ends_with("code 130\r\n")) << watched.out;
  const Ended unread =
      sandbox.program({"sh", "-c", steptune_program() + " leaderboard --watch --all | head -1"});
  EXPECT_EQ(difference("endless  running{{.*}}\n", unread.out), "");
  kill(pid, SIGINT);
  ASSERT_EQ(sandbox.wait(pid).exit_code, 130);
  const Ended ended = sandbox.steptune({"leaderboard", "--watch", "--all"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, sandbox.steptune({"leaderboard", "--all"}).out);
}

TEST(Interrupt, AStudyWhoseTunerWasKilledIsNotShownAsRunning) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  const pid_t pid = sandbox.start({"run", "endless.json"});
  ASSERT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
  const auto status = [&] {
    const auto json = parse_json(sandbox.steptune({"leaderboard", "--json", "--all"}).out, "board");
    return json ? (*json)["study"]["status"].get<std::string>() : json.error().text();
  };
  EXPECT_EQ(status(), "running");
  const Ended trial = sandbox.steptune({"show", "1"});
  EXPECT_EQ(trial.out.find("\nspent"), std::string::npos) << trial.out;
  Ended exported = sandbox.steptune({"export", "endless", "-", "--format", "csv"});
  EXPECT_EQ(exported.err,
            "steptune: warning: study \"endless\" is still being tuned: its results may change\n");
  kill(pid, SIGKILL);
  (void)sandbox.wait(pid);
  EXPECT_EQ(status(), "interrupted");
  EXPECT_EQ(difference(R"(endless  interrupted: its tuner is gone, {{.*}}
no trial to show
1 trial: 1 running
)",
                       sandbox.steptune({"leaderboard", "--watch"}).out),
            "")
      << "watching ends, too";
  EXPECT_NE(sandbox.steptune({"studies"}).out.find("interrupted"), std::string::npos);
  exported = sandbox.steptune({"export", "endless", "-", "--format", "csv"});
  EXPECT_EQ(exported.err,
            "steptune: warning: study \"endless\" was interrupted, its tuner is gone: 'steptune "
            "run' continues it\n");
  EXPECT_EQ(sandbox.steptune({"show", "1"}).err, exported.err);
}

TEST(Interrupt, NewAsksBeforeItLeavesAnUnfinishedStudy) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  const pid_t pid = sandbox.start({"run", "endless.json"});
  ASSERT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
  kill(pid, SIGINT);
  ASSERT_EQ(sandbox.wait(pid).exit_code, 130);
  const Ended asked = sandbox.steptune({"run", "endless.json", "--new"});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_NE(asked.err.find("is not finished"), std::string::npos) << asked.err;
  EXPECT_NE(asked.err.find("add --yes"), std::string::npos) << asked.err;
  const Ended refused = sandbox.on_terminal("$STEPTUNE run endless.json --new < /dev/null");
  EXPECT_NE(refused.out.find("is not finished"), std::string::npos) << refused.out;
}

TEST(Interrupt, TheSecondCtrlCDoesNotWaitForTheGracePeriod) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial(":"));
  const pid_t pid = sandbox.start({"run", "endless.json"});
  ASSERT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
  kill(pid, SIGINT);
  ASSERT_TRUE(sandbox.until_err_contains("press Ctrl-C again to stop at once"))
      << sandbox.read("err.txt");
  kill(pid, SIGINT);
  // The trial ignores SIGTERM for its grace period of 30 s. The test's own time limit is shorter,
  // so it fails if the tuner waits that long.
  const Ended ended = sandbox.wait(pid);
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_NE(ended.err.find("stopping at once"), std::string::npos) << ended.err;
}

TEST(Interrupt, SigtermAndSighupEndInOrderWith143) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const Sandbox sandbox;
    sandbox.write("endless.json", endless_study());
    sandbox.write("trial.sh", endless_trial());
    const pid_t pid = sandbox.start({"run", "endless.json"});
    ASSERT_TRUE(sandbox.until_err_contains("trial 1 started")) << sandbox.read("err.txt");
    kill(pid, signal);
    EXPECT_EQ(sandbox.wait(pid).exit_code, 143);
  }
}

TEST(Interrupt, LiveLinesAreRewrittenOnATerminal) {
  const Sandbox sandbox;
  sandbox.write("endless.json", endless_study());
  sandbox.write("trial.sh", endless_trial());
  sandbox.write(
      "press.sh",
      "(sleep 1; until pgrep -f \"run $PWD/endless.json\" > /dev/null; do sleep 0.1; done; "
      "sleep 1; pkill -INT -f \"steptune run $PWD/endless.json\") &\n"
      "$STEPTUNE run $PWD/endless.json; echo \"exit=$?\"\n");
  const Ended ended = sandbox.on_terminal("sh press.sh");
  EXPECT_NE(ended.out.find("exit=130"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("\x1b[1A\x1b[2K"), std::string::npos) << "live lines are rewritten";
  EXPECT_NE(ended.out.find("batch=8"), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace steptune::golden
