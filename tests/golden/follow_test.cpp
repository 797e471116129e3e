// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;

/// One finished study, and what it promises: seconds per sample.
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

  /// The log of a run whose samples take so many times as long as promised.
  static std::string log(double ratio) {
    std::string text;
    for (int i = 1; i <= 300; ++i) {
      text += fmt::format("[steptune] {{\"v\":1,\"samples\":{},\"clock\":{:.9f}}}\n", 64'000 * i,
                          64'000 * i * ratio * promised_s_);
    }
    return text;
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
      << "one of them";
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

TEST_F(Follow, ABrokenOneWithItsOwnCodeAndSinceWhen) {
  sandbox_->write("broken.log", log(1.25));
  const Ended ended = sandbox_->steptune({"follow", "study.json", "broken.log"});
  EXPECT_EQ(ended.exit_code, 6) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("promise  broken: slower than promised"));
  EXPECT_THAT(ended.out, HasSubstr("25.0 % more time per sample than promised"));
  EXPECT_THAT(ended.out, HasSubstr("changed  "));
}

TEST_F(Follow, JsonHoldsPromiseAndRun) {
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

TEST_F(Follow, ACommandHasEndedThoughSomethingHoldsItsOutputOpen) {
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

TEST_F(Follow, ALogThatIsEmptiedIsReadFromItsBeginAgain) {
  sandbox_->write("again.log", log(1.0));
  const pid_t pid = sandbox_->start({"follow", "demo", "again.log", "--wait"});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  sandbox_->write("again.log", log(1.5).substr(0, 15'000));
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  ::kill(pid, SIGINT);
  const Ended ended = sandbox_->wait(pid);
  EXPECT_EQ(ended.exit_code, 6) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the program began anew"));
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

TEST_F(Follow, WhatCannotBeFollowedIsRefused) {
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
