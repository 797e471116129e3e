// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// `quick.sh` whose fast variant takes `fast` hundredths of a second a step; `first` is run before.
std::string trial_taking(int fast, const std::string& first = "") {
  std::string text = first + quick_trial();
  const std::string step = "step=10\n";
  text.replace(text.find(step), step.size(), fmt::format("step={}\n", fast));
  return text;
}

class Retune : public testing::Test {
 protected:
  Retune() {
    sandbox_.write("study.json", replay_study());
    sandbox_.write("quick.json", quick_study());
    sandbox_.write("quick.sh", quick_trial());
  }

  /// A night; its line of JSON.
  Json night(int exit_code, const std::string& study = "quick.json") {
    const Ended ended = sandbox_.steptune({"retune", study, "--json"});
    EXPECT_EQ(ended.exit_code, exit_code) << ended.out << ended.err;
    EXPECT_EQ(ended.err, "") << "quiet where nobody watches";
    EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1) << "one line";
    EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "retune"));
    auto json = parse_json(ended.out, "night");
    EXPECT_TRUE(json) << ended.out;
    return json ? *std::move(json) : Json::object();
  }

  void until_exists(const std::string& file) const {
    for (int i = 0; i < 3000 && !std::filesystem::exists(sandbox_.folder() / file); ++i)
      poll(nullptr, 0, 10);
  }

  Sandbox sandbox_;
};

TEST_F(Retune, TheFirstNightTunesAndTheNextOnesKeep) {
  const Json first = night(7, "study.json");
  EXPECT_EQ(first["schema_version"], 2);
  EXPECT_EQ(first["result"], "improved");
  EXPECT_EQ(first["night"], 1);
  EXPECT_GT(first["gain"]["low_95"].get<double>(), 1.5);
  EXPECT_EQ(first["previous"]["precision"], "fp32");
  for (int number = 2; number <= 3; ++number) {
    const Json next = night(0, "study.json");
    EXPECT_EQ(next["result"], "kept");
    EXPECT_EQ(next["night"], number);
    EXPECT_EQ(next["configuration"], first["configuration"]);
    EXPECT_GT(next["lead_over_baseline"]["low_95"].get<double>(), 1.5);
    EXPECT_TRUE(next["regression"].is_null());
  }
  const Ended text = sandbox_.steptune({"retune", "demo"});
  EXPECT_EQ(text.exit_code, 0) << "by the name of a stored study";
  EXPECT_EQ(difference(
                R"(kept  night 4 of demo: nothing better was shown; the configuration stays ({{.*}})
best   batch_size=128 workers=4 precision=bf16
       {{[\d.]+}} times (95 % interval {{.*}}) as fast as the baseline
next   steptune best demo
)",
                text.out),
            "");
  // What is in use outlives the old studies.
  const std::string in_use = sandbox_.steptune({"best", "demo", "--format", "args"}).out;
  EXPECT_NE(in_use, "");
  const Ended collected = sandbox_.steptune({"gc", "--history-limit", "1KB"});
  EXPECT_NE(collected.out.find("study    demo.night-2"), std::string::npos) << collected.out;
  EXPECT_EQ(sandbox_.steptune({"best", "demo", "--format", "args"}).out, in_use);
}

TEST_F(Retune, ASlowerConfigurationIsToldOnceAndACrashedOneIsReplacedTheSecondNight) {
  EXPECT_EQ(night(7)["configuration"]["speed"], "fast");
  EXPECT_EQ(night(0)["result"], "kept");
  sandbox_.write("quick.sh", trial_taking(15));
  const Json slower = night(8);
  EXPECT_EQ(slower["result"], "regressed");
  EXPECT_EQ(slower["configuration"]["speed"], "fast") << "still the best there is";
  EXPECT_EQ(slower["regression"]["cause"], "configuration");
  EXPECT_EQ(slower["regression"]["since_night"], 3);
  EXPECT_NEAR(slower["regression"]["slowdown"]["ratio"].get<double>(), 1.5, 0.05);
  EXPECT_EQ(night(0)["result"], "kept") << "what is known is told once";

  sandbox_.write("quick.sh", trial_taking(15, "[ \"$1\" = fast ] && exit 1\n"));
  const Json broken = night(8);
  EXPECT_EQ(broken["configuration"]["speed"], "fast") << "one failure may be an accident";
  EXPECT_NE(broken["regression"]["failure"].get<std::string>().find("failed"), std::string::npos);
  EXPECT_EQ(night(8)["configuration"]["speed"], "slow");
  const Ended best = sandbox_.steptune({"best", "quick", "--format", "args"});
  EXPECT_NE(best.out.find("slow"), std::string::npos) << best.out << best.err;
}

TEST_F(Retune, AnAlarmThatAKilledNightCouldNotTellIsToldByTheNext) {
  night(7);
  night(0);
  sandbox_.write("quick.sh", trial_taking(15));
  night(8);
  // As if that night had been killed when it had seen so, and nobody had started it again in time.
  sandbox_.write("change.py", R"py(import sqlite3
history = sqlite3.connect('.steptune/history.db')
history.execute("UPDATE nights SET status = 'running', started_wall_s = started_wall_s - 90000 "
                "WHERE night = 3")
history.commit()
)py");
  ASSERT_EQ(sandbox_.program({"/usr/bin/python3", "change.py"}).exit_code, 0);
  const Json told = night(8);
  EXPECT_EQ(told["night"], 4);
  EXPECT_EQ(told["regression"]["since_night"], 4);
  EXPECT_EQ(night(0)["result"], "kept");
}

TEST_F(Retune, AMachineThatIsSlowerForAllIsNotTheConfigurationsFault) {
  night(7);
  sandbox_.write("quick.sh", [] {
    std::string text = trial_taking(14);
    text.replace(text.find("step=30"), 7, "step=42");
    return text;
  }());
  const Json slower = night(8);
  EXPECT_EQ(slower["regression"]["cause"], "machine_or_library") << slower.dump();
  EXPECT_NEAR(slower["regression"]["baseline_slowdown"].get<double>(), 1.4, 0.05);
}

TEST_F(Retune, ANightWithoutAnyMeasurementHasFailed) {
  sandbox_.write("failing.json", failing_study());
  const Json failed = night(9, "failing.json");
  EXPECT_EQ(failed["result"], "failed");
  EXPECT_FALSE(failed["reason"].get<std::string>().empty());
}

TEST_F(Retune, AFirstNightThatFailedIsTriedAgain) {
  sandbox_.write("quick.sh", "exit 1\n");
  EXPECT_EQ(night(9)["night"], 1);
  sandbox_.write("quick.sh", quick_trial());
  const Json tuned = night(7);
  EXPECT_EQ(tuned["night"], 2);
  EXPECT_EQ(tuned["configuration"]["speed"], "fast");
  EXPECT_EQ(night(0)["configuration"]["speed"], "fast");
}

TEST_F(Retune, ASecondStartSaysWhoHoldsTheHistory) {
  sandbox_.write("endless.json", endless_study());
  sandbox_.write("trial.sh", endless_trial());
  const pid_t pid = sandbox_.start({"retune", "endless.json"});
  until_exists("started");
  const Ended second = sandbox_.program({steptune_program(), "retune", "endless.json", "--json"});
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_NE(second.err.find(fmt::format("pid {}", pid)), std::string::npos) << second.err;
  const Ended told = sandbox_.program({steptune_program(), "retune", "endless.json", "--notify",
                                       "touch told-of-nothing", "--quiet"});
  EXPECT_EQ(told.exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "told-of-nothing"));
  kill(pid, SIGTERM);
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 143);
}

TEST_F(Retune, ANightThatWasKilledGoesOn) {
  night(7);
  std::filesystem::remove(sandbox_.folder() / "arguments.txt");
  const pid_t pid = sandbox_.start({"retune", "quick.json"});
  until_exists("arguments.txt");
  kill(pid, SIGKILL);
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 137);
  const Json went_on = night(0);
  EXPECT_EQ(went_on["night"], 2);
  EXPECT_THAT(went_on["trials"].get<int>(), testing::AnyOf(4, 5))
      << "none is lost, and none is run twice but one that others disturbed";
  EXPECT_EQ(night(0)["night"], 3);
}

TEST_F(Retune, NotificationsTellAndNeverSpoilANight) {
  const Ended told =
      sandbox_.steptune({"retune", "study.json", "--json", "--notify", "cat > event.json",
                         "--notify", "exit 3", "--notify-on", "improved,regressed"},
                        {{{"MY_API_KEY", "hunter2"}}});
  EXPECT_EQ(told.exit_code, 7);
  EXPECT_EQ(std::ranges::count(told.err, '\n'), 1) << told.err;
  EXPECT_NE(told.err.find("warning: could not notify \"exit\" of \"improved\""), std::string::npos);
  const auto event = parse_json(sandbox_.read("event.json"), "event");
  ASSERT_TRUE(event);
  EXPECT_EQ((*event)["event"], "improved");
  EXPECT_EQ((*event)["result"], "improved");
  sandbox_.write("event.json", "");
  EXPECT_EQ(sandbox_
                .steptune({"retune", "study.json", "--notify", "cat > event.json", "--notify-on",
                           "improved"})
                .exit_code,
            0);
  EXPECT_EQ(sandbox_.read("event.json"), "") << "nobody asked for \"completed\"";
}

TEST_F(Retune, AnUpgradeOfALibraryIsSeenWithoutAHook) {
  std::string study = quick_study();
  study.replace(study.find("/bin/sh"), 7, "./python3");
  sandbox_.write("quick.json", study);
  sandbox_.write(
      "python3",
      "#!/bin/sh\n[ \"$1\" = -c ] || exec /bin/sh \"$@\"\n"
      "echo a warning\n"
      "echo \"{\\\"python\\\": \\\"3.11.2\\\", \\\"torch\\\": \\\"$(cat torch.txt)\\\"}\"\n");
  std::filesystem::permissions(sandbox_.folder() / "python3", std::filesystem::perms::owner_all);
  sandbox_.write("torch.txt", "2.4.0");
  night(7);
  EXPECT_EQ(night(0)["machine_changes"], Json::array());
  sandbox_.write("torch.txt", "2.5.1");
  const Json upgraded = night(0);
  EXPECT_EQ(upgraded["machine_changes"],
            Json::parse(R"([{"name": "torch", "before": "2.4.0", "after": "2.5.1"}])"));
  EXPECT_EQ(upgraded["trust"], "hint");
}

TEST_F(Retune, WhatCannotBeRetunedIsRefused) {
  EXPECT_EQ(sandbox_.steptune({"retune"}).exit_code, 2);
  EXPECT_EQ(sandbox_.steptune({"retune", "no.json"}).exit_code, 2);
  EXPECT_EQ(sandbox_.steptune({"retune", "study.json", "--time", "never"}).exit_code, 2);
  EXPECT_EQ(sandbox_.steptune({"retune", "study.json", "--notify", "https://"}).exit_code, 2);
  EXPECT_EQ(sandbox_.steptune({"retune", "study.json", "--from", "nothing"}).exit_code, 1);
}

TEST_F(Retune, ANightThatCannotBeginHasItsLineOfJsonToo) {
  const auto refused = [&](int exit_code, std::vector<std::string> words, const std::string& study,
                           const std::string& reason) {
    words.insert(words.begin(), "retune");
    words.emplace_back("--json");
    const Ended ended = sandbox_.steptune(words);
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1) << ended.out;
    EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "retune"));
    const auto json = parse_json(ended.out, "night");
    ASSERT_TRUE(json) << ended.out;
    EXPECT_EQ((*json)["schema_version"], 2);
    EXPECT_EQ((*json)["result"], "failed");
    EXPECT_EQ((*json)["study"], study);
    EXPECT_NE((*json)["reason"].get<std::string>().find(reason), std::string::npos) << ended.out;
    EXPECT_NE(ended.err.find(reason), std::string::npos) << ended.err;
  };
  refused(2, {}, "", "name a study");
  refused(2, {"no.json"}, "no.json", "no.json");
  refused(2, {"study.json", "--time", "never"}, "demo", "--time");
  refused(2, {"study.json", "--notify", "https://"}, "study.json", "https://");
  refused(1, {"study.json", "--from", "nothing"}, "demo", "contains no study yet");
  sandbox_.write(".steptune/history.db", "no database, but long enough to be taken for one");
  refused(4, {"study.json"}, "demo", "history.db");
}

/// The lines of docs/nightly.md.
TEST_F(Retune, RunsUnderCron) {
  const std::string line =
      fmt::format("cd {} && {} retune study.json --time 30m --json >> nightly.jsonl",
                  sandbox_.folder().string(), steptune_program());
  for (const int expected : {7, 0}) {
    const Ended ended = sandbox_.program({"env", "-i", "HOME=/", "LOGNAME=nobody", "SHELL=/bin/sh",
                                          "PATH=/usr/bin:/bin", "/bin/sh", "-c", line});
    EXPECT_EQ(ended.exit_code, expected) << ended.err;
    EXPECT_EQ(ended.out + ended.err, "") << "cron would send it by mail";
  }
  const std::string written = sandbox_.read("nightly.jsonl");
  EXPECT_EQ(std::ranges::count(written, '\n'), 2);
}

TEST_F(Retune, SystemdTakesTheUnitsOfTheDocument) {
  if (sandbox_.program({"sh", "-c", "command -v systemd-analyze"}).exit_code != 0) {
    GTEST_SKIP() << "systemd-analyze is not installed";
  }
  const std::string units = STEPTUNE_SOURCE_DIR "/configs/nightly";
  for (const std::string unit : {"steptune-retune.service", "steptune-retune.timer"}) {
    // The program need not be installed where the test runs.
    const Ended made = sandbox_.program(
        {"sh", "-c",
         fmt::format("sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' {0}/{1} > {1}", units, unit)});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  const Ended verified = sandbox_.program(
      {"sh", "-c", "systemd-analyze verify ./steptune-retune.service ./steptune-retune.timer"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_EQ(verified.err, "");
}

}  // namespace
}  // namespace steptune::golden
