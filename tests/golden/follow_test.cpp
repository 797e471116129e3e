// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/pseudo_terminal.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;

/// One finished study, and the seconds per sample that it promises.
class Follow : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    sandbox_->write("study.json", replay_study());
    ASSERT_EQ(sandbox_->steptune({"run", "study.json", "--quiet"}).exit_code, 0);
    sandbox_->write("empty.log", "");
    const Ended ended = sandbox_->steptune({"follow", "demo", "empty.log", "--json"});
    EXPECT_EQ(ended.exit_code, 1);
    const auto json = parse_json(ended.out, "follow");
    ASSERT_TRUE(json) << ended.err;
    promised_s_ = (*json)["promised"]["seconds_per_sample"]["value"].get<double>();
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  /// Returns the log of a run whose samples take `ratio` times as long as promised.
  static std::string log(double ratio) {
    std::string text;
    for (int i = 1; i <= 300; ++i) {
      text += fmt::format("[steptune] {{\"v\":1,\"samples\":{},\"clock\":{:.9f}}}\n", 64'000 * i,
                          64'000 * i * ratio * promised_s_);
    }
    return text;
  }

  /// Returns the same log as lines with dates, one every three seconds.
  static std::string dated_log(double ratio) {
    std::string text;
    for (int i = 1; i <= 300; ++i) {
      text += fmt::format(
          "2026-11-{:02} {:02}:{:02}:{:02} [steptune] {{\"v\":1,\"samples\":{:.3f}}}\n", 20,
          i * 3 / 3600, i * 3 / 60 % 60, i * 3 % 60, 3.0 * i / (ratio * promised_s_));
    }
    return text;
  }

  static void until_exists(const std::string& file) {
    for (int i = 0; i < 3000 && !std::filesystem::exists(sandbox_->folder() / file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  static std::unique_ptr<Sandbox> sandbox_;
  static double promised_s_;
};
std::unique_ptr<Sandbox> Follow::sandbox_;
double Follow::promised_s_ = 0.0;

TEST_F(Follow, JsonLinesEndWithTheVerdict) {
  sandbox_->write("lines.log", log(1.5));
  const Ended ended = sandbox_->steptune({"follow", "demo", "lines.log", "--json-lines"});
  EXPECT_EQ(ended.exit_code, 6) << ended.err;
  ASSERT_FALSE(ended.out.empty());
  const std::string last = ended.out.substr(ended.out.rfind('\n', ended.out.size() - 2) + 1);
  const auto json = parse_json(last, "follow");
  ASSERT_TRUE(json) << ended.out;
  EXPECT_EQ((*json)["ended"], true);
  EXPECT_EQ((*json)["promise"], "broken");
  EXPECT_EQ(sandbox_->steptune({"follow", "demo", "lines.log", "--json", "--json-lines"}).exit_code,
            2)
      << "only one of these options may be given";
}

TEST_F(Follow, AKeptPromiseEndsWithZero) {
  sandbox_->write("kept.log", log(1.0));
  const Ended ended = sandbox_->steptune({"follow", "demo", "kept.log"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(difference(R"(follows  trial {{\d+}} of demo: batch_size={{.*}}
promise  kept
rate     {{\S+}} samples/s ({{\S+-\S+}}), promised {{\S+}} samples/s ({{\S+-\S+}})
now      {{.*}}
run      {{.*}} expected, promised {{.*}}
seen     {{.*}}, 1.92e+07 samples
times    from the clock of its [steptune] lines
)",
                       ended.out),
            "");
}

TEST_F(Follow, ABrokenPromiseHasAnExitCodeAndAStart) {
  sandbox_->write("broken.log", log(1.25));
  const Ended ended = sandbox_->steptune({"follow", "study.json", "broken.log"});
  EXPECT_EQ(ended.exit_code, 6) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("promise  broken: slower than promised"));
  EXPECT_THAT(ended.out, HasSubstr("25.0 % more time per sample than promised"));
  EXPECT_THAT(ended.out, HasSubstr("changed  "));
}

TEST_F(Follow, JsonContainsPromiseAndRun) {
  sandbox_->write("broken.log", log(1.25));
  const Ended ended = sandbox_->steptune({"follow", "demo", "broken.log", "--json"});
  EXPECT_EQ(ended.exit_code, 6);
  const auto json = parse_json(ended.out, "follow");
  ASSERT_TRUE(json) << ended.out;
  EXPECT_EQ((*json)["schema_version"], 1);
  EXPECT_EQ((*json)["promise"], "broken");
  EXPECT_NEAR((*json)["seen"]["seconds_per_sample"]["value"].get<double>(), 1.25 * promised_s_,
              1e-3 * promised_s_);
  EXPECT_NEAR((*json)["deviation"]["ratio"].get<double>(), 1.25, 1e-3);
}

TEST_F(Follow, AnotherTrialMakesAnotherPromise) {
  sandbox_->write("kept.log", log(1.0));
  const Ended ended = sandbox_->steptune({"follow", "demo", "kept.log", "--trial", "1", "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const auto json = parse_json(ended.out, "follow");
  ASSERT_TRUE(json) << ended.out;
  EXPECT_EQ((*json)["promise"], "faster") << "the baseline is slower";
  EXPECT_EQ((*json)["trial"], 1);
}

TEST_F(Follow, ACommandsOutputAndCodeArePassedOn) {
  sandbox_->write("train.sh", R"(echo "trial $STEPTUNE_TRIAL, $1 $2"
echo oops >&2
for i in 1 2 3; do echo "[steptune] {\"v\":1,\"samples\":$i}"; done
exit 7
)");
  const Ended ended =
      sandbox_->steptune({"follow", "demo", "--", "/bin/sh", "train.sh", "[0.9,0.99]", "b"});
  EXPECT_EQ(ended.exit_code, 7) << ended.err;
  EXPECT_EQ(ended.out,
            "trial follow, [0.9,0.99] b\n"
            "[steptune] {\"v\":1,\"samples\":1}\n"
            "[steptune] {\"v\":1,\"samples\":2}\n"
            "[steptune] {\"v\":1,\"samples\":3}\n");
  EXPECT_THAT(ended.err, HasSubstr("oops\n"));
  EXPECT_THAT(ended.err, HasSubstr("promise  not known yet: too few reports"));
}

TEST_F(Follow, JsonHasStdoutAloneWhenACommandRuns) {
  for (const char* option : {"--json", "--json-lines"}) {
    const Ended ended = sandbox_->steptune(
        {"follow", "demo", option, "--", "/bin/sh", "-c", "echo progress; exit 3"});
    EXPECT_EQ(ended.exit_code, 3) << ended.err;
    EXPECT_EQ(ended.err, "progress\n");
    EXPECT_TRUE(parse_json(ended.out, "follow")) << ended.out;
  }
}

TEST_F(Follow, ACommandMayEndWithItsOutputHeldOpen) {
  const auto begun = std::chrono::steady_clock::now();
  const Ended ended =
      sandbox_->steptune({"follow", "demo", "--", "/bin/sh", "-c", "sleep 30 & echo done; exit 3"});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15));
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_EQ(ended.out, "done\n");
}

TEST_F(Follow, ALogThatGrowsIsFollowedUntilCtrlC) {
  sandbox_->write("growing.log", log(1.25));
  const pid_t pid = sandbox_->start({"follow", "demo", "growing.log", "--wait"});
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  ::kill(pid, SIGINT);
  const Ended ended = sandbox_->wait(pid);
  EXPECT_EQ(ended.exit_code, 6) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("promise  broken"));
}

TEST_F(Follow, StdinIsReadAsItComes) {
  const Ended ended = sandbox_->program(
      {"/bin/sh", "-c",
       fmt::format("i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo \"[steptune] {{\\\"v\\\":1,"
                   "\\\"samples\\\":$i}}\"; sleep 0.02; done | '{}' follow demo - --json",
                   steptune_program())});
  EXPECT_EQ(ended.exit_code, 6) << ended.err << "a fiftieth of a second for each sample is slow";
  const auto json = parse_json(ended.out, "follow");
  ASSERT_TRUE(json) << ended.out;
  EXPECT_GT((*json)["seen"]["seconds_per_sample"]["value"].get<double>(), 0.02);
}

TEST_F(Follow, ANamedPipeIsReadAsItComes) {
  const Ended ended = sandbox_->program(
      {"/bin/sh", "-c",
       fmt::format("mkfifo pipe && {{ for i in 1 2 3; do echo \"[steptune] {{\\\"v\\\":1,"
                   "\\\"samples\\\":$i}}\"; done >pipe & }}; '{}' follow demo pipe",
                   steptune_program())});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("too few reports"));
}

TEST_F(Follow, AnEmptiedLogIsReadFromItsStartAgain) {
  sandbox_->write("again.log", log(1.0));
  const pid_t pid = sandbox_->start({"follow", "demo", "again.log", "--wait"});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  sandbox_->write("again.log", log(1.5).substr(0, 15'000));
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  ::kill(pid, SIGINT);
  const Ended ended = sandbox_->wait(pid);
  EXPECT_EQ(ended.exit_code, 6) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the program restarted"));
}

TEST_F(Follow, ANewFileWithTheLogsNameIsFollowed) {
  const std::string whole = log(1.5);
  const std::size_t half = whole.find('\n', whole.size() / 2) + 1;
  sandbox_->write("rotated.log", whole.substr(0, half));
  const pid_t pid = sandbox_->start({"follow", "demo", "rotated.log", "--wait", "--json"});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto path = sandbox_->folder() / "rotated.log";
  std::filesystem::rename(path, sandbox_->folder() / "rotated.log.1");
  sandbox_->write("rotated.log", whole.substr(half));
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  ::kill(pid, SIGINT);
  const Ended ended = sandbox_->wait(pid);
  const auto json = parse_json(ended.out, "follow");
  ASSERT_TRUE(json) << ended.out << ended.err;
  EXPECT_EQ((*json)["seen"]["samples"], 300 * 64'000);
}

TEST_F(Follow, ALogReadThroughAPipeHasTheTimesOfItsLines) {
  sandbox_->write("dated.log", dated_log(1.5));
  const Ended ended = sandbox_->program(
      {"/bin/sh", "-c", fmt::format("cat dated.log | '{}' follow demo -", steptune_program())});
  EXPECT_EQ(ended.exit_code, 6) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("times    from the dates of its lines"));
  EXPECT_EQ(ended.out, sandbox_->steptune({"follow", "demo", "dated.log"}).out);
}

TEST_F(Follow, ACompressedLogIsRefusedWithWhatUnpacksIt) {
  sandbox_->write("train.log.gz", "\x1f\x8b\x08 and so on");
  const Ended ended = sandbox_->steptune({"follow", "demo", "train.log.gz"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("train.log.gz: is compressed (gzip)"));
  EXPECT_THAT(ended.err, HasSubstr("gzip -dc FILE | steptune follow STUDY -"));
}

TEST_F(Follow, SignalsReachACommandUnchanged) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    std::filesystem::remove(sandbox_->folder() / "started");
    sandbox_->write("saves.sh", R"(trap 'echo TERM; exit 11' TERM
trap 'echo INT; exit 12' INT
trap 'echo USR1; exit 13' USR1
touch started
while :; do sleep 0.02; done
)");
    const pid_t pid = sandbox_->start({"follow", "demo", "--", "/bin/sh", "saves.sh"});
    until_exists("started");
    ::kill(pid, signal);
    const Ended ended = sandbox_->wait(pid);
    EXPECT_EQ(ended.out, signal == SIGTERM ? "TERM\n" : signal == SIGINT ? "INT\n" : "USR1\n");
    EXPECT_EQ(ended.exit_code, signal == SIGTERM ? 11 : signal == SIGINT ? 12 : 13) << ended.err;
  }
}

TEST_F(Follow, ACommandMayAskOnTheTerminalAndGetsItsCtrlCOnce) {
  sandbox_->write("asks.sh", R"(trap 'echo once more' INT
echo "trust it?"
read answer
echo "answer $answer"
read wait_for_ctrl_c
echo over
exit 4
)");
  PseudoTerminal terminal({steptune_program(), "follow", "demo", "--", "/bin/bash", "asks.sh"},
                          sandbox_->folder(), 100);
  ASSERT_TRUE(terminal.until("trust it?"));
  terminal.type("yes\n");
  ASSERT_TRUE(terminal.until("answer yes")) << terminal.written();
  terminal.type("\x03");
  EXPECT_TRUE(terminal.until("once more")) << terminal.written();
  const std::size_t interrupted = terminal.written().find("once more");
  terminal.type("\n");
  EXPECT_EQ(terminal.wait(), 4) << terminal.written();
  EXPECT_EQ(terminal.written().find("once more", interrupted + 1), std::string::npos);
}

TEST_F(Follow, SignalsReachACommandThatPrintsElsewhere) {
  sandbox_->write("elsewhere.sh", R"(exec >elsewhere.log 2>&1
trap 'exit 11' TERM
sleep 0.2
touch elsewhere
i=0
while [ $i -lt 1000 ]; do i=$((i+1)); sleep 0.02; done
)");
  const pid_t pid = sandbox_->start({"follow", "demo", "--", "/bin/sh", "elsewhere.sh"});
  until_exists("elsewhere");
  ::kill(pid, SIGTERM);
  EXPECT_EQ(sandbox_->wait(pid).exit_code, 11);
}

TEST_F(Follow, ALogIsNotWaitedForWhenNobodyReadsTheLines) {
  sandbox_->write("kept.log", log(1.0));
  const Ended ended = sandbox_->steptune({"follow", "demo", "kept.log", "--wait", "--json-lines"},
                                         {.environment = {}, .out = Stream::broken_pipe});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(Follow, APipeThatNobodyWritesIntoIsWaitedForUntilASignal) {
  const Ended made = sandbox_->program({"/bin/sh", "-c", "mkfifo silent"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const pid_t pid = sandbox_->start({"follow", "demo", "silent", "--wait"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(pid, SIGTERM);
  const Ended ended = sandbox_->wait(pid);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, HasSubstr("no progress was read"));
}

TEST_F(Follow, ALogWithoutTimesSaysWhatToDo) {
  std::string text;
  for (int i = 1; i <= 100; ++i)
    text += fmt::format("[steptune] {{\"v\":1,\"samples\":{}}}\n", i);
  sandbox_->write("timeless.log", text);
  const Ended ended = sandbox_->steptune({"follow", "demo", "timeless.log"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("does not say when its lines were printed"));
}

TEST_F(Follow, ACommandRunsInTheEnvironmentThatWasMeasured) {
  const Ended ended =
      sandbox_->steptune({"follow", "demo", "--", "/bin/sh", "-c", "echo \"$TRAIN_NOTE\""});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "a b\n");
}

TEST_F(Follow, InvalidRequestsAreRefused) {
  const Ended unnamed = sandbox_->steptune({"follow", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("STUDY is required"));
  const Ended both = sandbox_->steptune({"follow", "demo", "a.log", "--", "true"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("unexpected argument \"a.log\" in front of --"));
  EXPECT_EQ(sandbox_->steptune({"follow", "demo", "--"}).exit_code, 2);
  EXPECT_EQ(sandbox_->steptune({"follow", "demo", "a.log", "b.log"}).exit_code, 2);
  EXPECT_THAT(sandbox_->steptune({"follow", "demo", "."}).err, HasSubstr("Is a directory"));
  const Ended missing = sandbox_->steptune({"follow", "demo", "none.log"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("No such file"));
  EXPECT_EQ(sandbox_->steptune({"follow", "demo", "--", "./none"}).exit_code, 5);
  EXPECT_EQ(sandbox_->steptune({"follow", "demo", "empty.log", "--trial", "99"}).exit_code, 1);
}

}  // namespace
}  // namespace steptune::golden
