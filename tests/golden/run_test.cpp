// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// Returns the results that a seed decides: numbers of trials, their configurations and values.
std::string decided(const std::string& text) {
  const auto json = parse_json(text, "leaderboard");
  if (!json) return json.error().text();
  std::string result;
  for (const Json& row : (*json)["rows"]) {
    const Json& trial = row["trial"];
    result += trial["number"].dump() + trial["configuration"].dump() + trial["objectives"].dump();
  }
  return result;
}

TEST(Run, EndsWithFiveKindsOfLines) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const Ended ended = sandbox.steptune({"run", "study.json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(difference(
                R"({{[\d.]+}} times as fast (95 % interval {{[\d.]+-[\d.]+}}, {{\d}} launches each)
change  batch_size  32 -> {{\d+}} {{ *}} --batch-size={{\d+}}
        workers     0 -> {{\d}} {{ *}} --workers {{\d}}
        precision   fp32 -> bf16 {{ *}} --label 'it'\''s bf16'
{{...}}
plan    {{[\d.]+ h -> [\d.]+ h, \$[\d.]+ -> \$[\d.]+}}, if batch {{\d+}} needs no more samples than batch 32
cost    {{.*, \$[\d.]+}}; paid back after {{[\d.]+}} % of the planned run
next    steptune exec demo
)",
                ended.out),
            "");
}

TEST(Run, VerboseEndsWithLeaderboardAndEvidence) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const Ended ended = sandbox.steptune({"run", "study.json", "--verbose"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(
      difference(
          R"(    trial    time     +-   gain    cost     +-   gain  samples/s  status               batch_size  workers  precision
*p {{ *\d+ +[\d.]+ h +[\d.]+ % +[\d.]+}}x {{.*}}
{{...}}
{{[*=p! ]* +1 .*}}  baseline, completed          32        0  fp32
* best   {{.*}}
note: a gain is that of one trial of the search; fresh launches showed trial {{.*}}
note: trials differ in batch size ({{\d+}} to {{\d+}} samples per step); a larger batch may need more samples to reach the same loss: add a guard on the loss, or check it before the long run
{{\d+ trials: .*}}

{{...}}
basis   95 % interval {{[\d.]+ h-[\d.]+ h, \$[\d.]+-\$[\d.]+}}; extrapolated from {{[\d.]+ m?s}} of training
{{...}}
count   samples as the program counts them, {{\d+}} a step
note    batch {{\d+}} in place of 32: the plan assumes that it needs as many samples; {{.*}}

{{[\d.]+}} times as fast (95 % interval {{.*}}
{{...}}
next    steptune exec demo
)",
          ended.out),
      "");
  EXPECT_EQ(difference(R"(trial 1 started (baseline): batch_size=32 workers=0 precision=fp32
trial 1 completed: {{[\d.]+ h \+-[\d.]+}} %  new best
trial 2 started (sobol): batch_size={{.*}}
{{...}}
confirming: fresh runs of best and baseline, interleaved
{{...}}
study "demo" ended: 12 trials
)",
                       ended.err),
            "");
  EXPECT_EQ(ended.err.find('\x1b'), std::string::npos) << "no terminal, no sequences";
}

/// Two published cases of clusters whose helpers prepare the data.
TEST(Run, FindsTheCheaperClusterAndItsGain) {
  struct Case {
    const char* file;
    const char* expected;
  };
  for (const Case& published :
       {Case{"p4d_with_helpers.json",
             R"(46 % cheaper (95 % interval 4{{\d}}-4{{\d}} %, 3 launches each)
change  helpers  0 -> 2
plan    {{\$20\d\.\d\d -> \$1[01]\d\.\d\d}}, 5.4 h -> 2.4 h
{{...}}
)"},
        Case{"p3_with_helpers.json",
             R"(77 % cheaper (95 % interval 7{{\d}}-7{{\d}} %, 3 launches each)
change  helpers  0 -> 1
plan    {{\$12\d\.\d\d -> \$\d\d\.\d\d}}, {{[\d.]+ h}} -> 5.{{\d}} h
{{...}}
)"}}) {
    const Sandbox sandbox;
    const Ended ended = sandbox.steptune(
        {"run", fmt::format("{}/examples/heterogeneous/{}", STEPTUNE_SOURCE_DIR, published.file),
         "--quiet"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(difference(published.expected, ended.out), "") << published.file;
    EXPECT_TRUE(ended.out.ends_with(" --format json\n")) << "there is no command to print";
  }
}

TEST(Run, QuietLeavesOnlyTheResult) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const Ended ended = sandbox.steptune({"run", "study.json", "--quiet", "--trials", "3"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "study \"demo\" ended: 3 trials\n");
}

TEST(Run, JsonIsOneDocument) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const Ended ended = sandbox.steptune({"run", "study.json", "--json", "--trials", "4"});
  const auto json = parse_json(ended.out, "run");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["schema_version"], 1);
  EXPECT_EQ((*json)["end"], "budget");
  EXPECT_EQ((*json)["recommendation"]["speed_up"]["pairs"], 3);
  const Json& speed_up = (*json)["recommendation"]["speed_up"];
  EXPECT_LT(speed_up["repeat_low_95"].get<double>(), speed_up["low_95"].get<double>());
  EXPECT_GT(speed_up["repeat_high_95"].get<double>(), speed_up["high_95"].get<double>());
  EXPECT_GE((*json)["leaderboard"]["rows"].size(), 2U);
}

TEST(Run, TheSameSeedGivesTheSameTrials) {
  const Sandbox one;
  const Sandbox two;
  for (const Sandbox* sandbox : {&one, &two}) {
    sandbox->write("study.json", replay_study());
    ASSERT_EQ(sandbox->steptune({"run", "study.json", "--quiet", "--seed", "11"}).exit_code, 0);
  }
  const std::string first = decided(one.steptune({"leaderboard", "--all", "--json"}).out);
  EXPECT_GT(first.size(), 500U) << first;
  EXPECT_EQ(first, decided(two.steptune({"leaderboard", "--all", "--json"}).out));
  ASSERT_EQ(two.steptune({"run", "study.json", "--new", "--quiet", "--seed", "12"}).exit_code, 0);
  EXPECT_NE(first, decided(two.steptune({"leaderboard", "--all", "--json"}).out));
}

/// Returns the step times of three equal configurations, which differ only by launch variation.
std::vector<double> seconds_of_equal_configurations(const std::string& launch_variation) {
  const Sandbox sandbox;
  sandbox.write("study.json", R"({"name": "equal",
    "parameters": {"x": {"type": "int", "low": 1, "high": 3}}, "baseline": {"x": 1},
    "search": {"searcher": "grid", "scheduler": "none", "worth": 0}, "measure": {"confirm_pairs": 0},
    "runner": {"type": "replay", "seconds_per_sample": "0.1 + 0 * x", "noise": 0)" +
                                  launch_variation + "}}");
  const Ended ended = sandbox.steptune({"run", "study.json", "--quiet", "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  std::vector<double> seconds;
  const Json json = parse_json(ended.out, "run").value_or(Json::object());
  for (const Json& row : json["leaderboard"]["rows"])
    seconds.push_back(row["trial"]["measurement"]["step_seconds_per_sample"]);
  return seconds;
}

TEST(Run, ReplayedLaunchesVaryIfTheStudyFileSaysSo) {
  const auto equal = seconds_of_equal_configurations("");
  ASSERT_EQ(equal.size(), 3U);
  for (const double seconds : equal)
    EXPECT_NEAR(seconds, 0.1, 1e-5);
  const auto varied = seconds_of_equal_configurations(R"(, "launch_variation": 0.2)");
  ASSERT_EQ(varied.size(), 3U);
  EXPECT_GT(std::ranges::max(varied), 1.05 * std::ranges::min(varied));
}

TEST(Run, AFinishedStudyContinuesWithALargerBudget) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet", "--trials", "4"}).exit_code, 0);
  const Ended again = sandbox.steptune({"run", "study.json", "--trials", "6"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("continuing study \"demo\": 4 trials done\n"), std::string::npos)
      << again.err;
  EXPECT_EQ(again.err.find("trial 1 started"), std::string::npos) << again.err;
}

TEST(Run, RequestedGuessesFollowTheBaseline) {
  const Sandbox sandbox;
  sandbox.write("study.json", R"json({
    "name": "guessed",
    "command": ["train", "{batch_size}", "{workers}"],
    "parameters": {
      "batch_size": {"type": "int", "low": 16, "high": 256, "scale": "log2"},
      "workers": {"type": "int", "low": 0, "high": 64}
    },
    "baseline": {"batch_size": 16, "workers": 0},
    "search": {"searcher": "sobol", "scheduler": "none"},
    "budget": {"trials": 20},
    "runner": {"type": "replay", "seconds_per_sample": "(0.0004 + 0.01 / batch_size) / (1 + workers)"}
  })json");
  const auto origins = [&sandbox](const std::vector<std::string>& options) {
    std::vector<std::string> run = {"run", "study.json", "--new", "--quiet"};
    run.insert(run.end(), options.begin(), options.end());
    EXPECT_EQ(sandbox.steptune(run).exit_code, 0);
    const Json board =
        Json::parse(sandbox.steptune({"leaderboard", "--all", "--limit", "100", "--json"}).out);
    std::vector<std::string> names;
    for (const Json& row : board["rows"])
      names.push_back(row["trial"]["origin"].get<std::string>());
    return names;
  };
  const auto count = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::count(names, name);
  };
  EXPECT_EQ(count(origins({}), "expert"), 0);
  const auto guided = origins({"--first-guesses"});
  EXPECT_GE(count(guided, "expert"), 2);
  EXPECT_GE(count(guided, "sobol"), 1);

  // The study file sets the default; the command line overrides it.
  const std::string silent = sandbox.read("study.json");
  const auto with_key = [&](const std::string& value) {
    std::string text = silent;
    const std::string search = "\"search\": {";
    text.insert(text.find(search) + search.size(), "\"first_guesses\": " + value + ", ");
    sandbox.write("study.json", text);
  };
  with_key("true");
  EXPECT_EQ(origins({}), guided);
  with_key("false");
  EXPECT_EQ(count(origins({}), "expert"), 0);
  EXPECT_EQ(origins({"--first-guesses"}), guided);
  sandbox.write("study.json", silent);

  // The names say nothing, but the study file does.
  std::string unnamed = sandbox.read("study.json");
  for (const auto& [from, to] : {std::pair{"batch_size", "a"}, std::pair{"workers", "b"}}) {
    for (std::size_t at = unnamed.find(from); at != std::string::npos; at = unnamed.find(from, at))
      unnamed.replace(at, std::string(from).size(), to);
  }
  sandbox.write("study.json", unnamed);
  EXPECT_EQ(count(origins({"--first-guesses"}), "expert"), 0);
  const std::string type = "\"b\": {";
  unnamed.insert(unnamed.find(type) + type.size(), "\"role\": \"workers\", ");
  sandbox.write("study.json", unnamed);
  EXPECT_GE(count(origins({"--first-guesses"}), "expert"), 1);
}

TEST(Run, AnotherSeedIsRefusedUnlessTheStudyIsNew) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet", "--trials", "2"}).exit_code, 0);
  const Ended other = sandbox.steptune({"run", "study.json", "--seed", "8"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.err,
            "steptune: error: --seed: study \"demo\" was begun with seed 7, not 8\n"
            "  leave out --seed to continue it, or add --new to begin another\n");
  const Ended fresh = sandbox.steptune({"run", "study.json", "--seed", "8", "--new"});
  EXPECT_EQ(fresh.exit_code, 0) << fresh.err;
  EXPECT_NE(fresh.err.find("beginning a new study \"demo-2\""), std::string::npos) << fresh.err;
  EXPECT_EQ(sandbox.steptune({"leaderboard", "demo-2"}).exit_code, 0);
}

TEST(Run, ANewStudyIsReadAgainHoweverLongItsName) {
  const Sandbox sandbox;
  std::string study = replay_study();
  study.replace(study.find("\"demo\""), 6, "\"" + std::string(64, 'n') + "\"");
  sandbox.write("study.json", study);
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--trials", "2", "--quiet"}).exit_code, 0);
  const Ended fresh =
      sandbox.steptune({"run", "study.json", "--trials", "2", "--new", "--yes", "--quiet"});
  EXPECT_EQ(fresh.exit_code, 0) << fresh.err;
  EXPECT_NE(fresh.err.find(std::string(62, 'n') + "-2"), std::string::npos) << fresh.err;
  const Ended best = sandbox.steptune({"best", "--format", "args"});
  EXPECT_EQ(best.exit_code, 0) << best.err;
}

TEST(Run, AnInvalidDurationIsReported) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  for (const char* time : {"soon", "0s", "99999d"}) {
    const Ended ended = sandbox.steptune({"run", "study.json", "--time", time});
    EXPECT_EQ(ended.exit_code, 2) << time;
    EXPECT_NE(ended.err.find("--time"), std::string::npos) << ended.err;
  }
}

TEST(Run, NotifiesOfAnImprovement) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const Ended notified_run = sandbox.steptune(
      {"run", "study.json", "--quiet", "--notify", "cat > event.json", "--notify", "exit 3"});
  EXPECT_EQ(notified_run.exit_code, 0);
  EXPECT_NE(notified_run.err.find("warning: could not notify \"exit\" of \"improved\""),
            std::string::npos)
      << notified_run.err;
  const auto event = parse_json(sandbox.read("event.json"), "event");
  ASSERT_TRUE(event) << sandbox.read("event.json");
  EXPECT_EQ(event->begin().key(), "event");
  EXPECT_EQ((*event)["event"], "improved");
  EXPECT_EQ((*event)["end"], "budget");
  EXPECT_EQ((*event)["recommendation"]["configuration"]["precision"], "bf16");
}

TEST(Run, NotifiesOfFailures) {
  const Sandbox sandbox;
  sandbox.write("study.json", failing_study());
  const Ended failing = sandbox.steptune({"run", "study.json", "--notify", "cat > event.json",
                                          "--notify-on", "failed", "--notify", "touch notified"});
  EXPECT_EQ(failing.exit_code, 3);
  const auto event = parse_json(sandbox.read("event.json"), "event");
  ASSERT_TRUE(event) << sandbox.read("event.json");
  EXPECT_EQ((*event)["event"], "failed");
  EXPECT_EQ((*event)["end"], "too_many_failures");
  EXPECT_TRUE(std::filesystem::exists(sandbox.folder() / "notified"));

  const Ended unwanted = sandbox.steptune({"run", "study.json", "--new", "--yes", "--notify",
                                           "touch unwanted", "--notify-on", "improved"});
  EXPECT_EQ(unwanted.exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "unwanted"));

  sandbox.write("broken.json", "{");
  EXPECT_EQ(sandbox.steptune({"run", "broken.json", "--notify", "cat > event.json"}).exit_code, 2);
  const auto error = parse_json(sandbox.read("event.json"), "event");
  ASSERT_TRUE(error) << sandbox.read("event.json");
  EXPECT_EQ((*error)["end"], "error");
  EXPECT_NE((*error)["reason"].get<std::string>().find("broken.json"), std::string::npos);

  // Options of a program's command belong to it, even with options before --.
  const std::vector<std::string> notify{"--notify", "cat > event.json"};
  const std::vector<std::string> notify_on{"--notify-on", "budget,failed"};
  for (const auto& [first, last] : {std::pair(notify, notify_on), std::pair(notify_on, notify)}) {
    std::vector<std::string> words{"run"};
    for (const auto& part : {first, last, {"--", "./gone", "--epochs", "5"}})
      words.insert(words.end(), part.begin(), part.end());
    sandbox.write("event.json", "");
    const Ended ended = sandbox.steptune(words);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_NE(ended.err.find("./gone --epochs 5"), std::string::npos) << ended.err;
    const auto gone = parse_json(sandbox.read("event.json"), "event");
    ASSERT_TRUE(gone) << sandbox.read("event.json");
    EXPECT_EQ((*gone)["study"]["name"], "gone");
    EXPECT_NE((*gone)["reason"].get<std::string>().find("cannot start"), std::string::npos);
  }
}

TEST(Run, AStudyWithoutAFeasibleTrialEndsWithThree) {
  const Sandbox sandbox;
  sandbox.write("study.json", failing_study());
  const Ended ended = sandbox.steptune({"run", "study.json"});
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_NE(ended.err.find("trial 1 failed: "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("study \"failing\" ended: "), std::string::npos) << ended.err;
  const Ended best = sandbox.steptune({"best"});
  EXPECT_EQ(best.exit_code, 1);
  EXPECT_EQ(best.out, "");
  EXPECT_NE(best.err.find("no completed trial"), std::string::npos) << best.err;
}

}  // namespace
}  // namespace steptune::golden
