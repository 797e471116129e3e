// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"
#include "tests/support/read_file.hpp"

namespace steptune::golden {
namespace {

/// Returns `quick.sh` whose fast variant takes `fast` hundredths of a second a step. The script
/// begins with the text `first`.
std::string trial_taking(int fast, const std::string& first = "") {
  std::string text = first + quick_trial();
  const std::string step = "step=10\n";
  text.replace(text.find(step), step.size(), fmt::format("step={}\n", fast));
  return text;
}

/// A study replayed from a table that the tests write. A change of the table between two nights
/// does not change the study.
std::string table_study(const std::string& name = "table") {
  Json study = Json::parse(R"json({
  "command": ["python3", "train.py", "--workers={workers}", "--kind={kind}"],
  "parameters": {"workers": {"type": "int", "low": 0, "high": 4},
                 "kind": {"type": "categorical", "choices": ["plain", "fused"]}},
  "baseline": {"workers": 0, "kind": "plain"},
  "planned_run": {"samples": 1e8},
  "search": {"searcher": "random", "scheduler": "none", "seed": 7},
  "budget": {"trials": 6},
  "runner": {"type": "replay", "price_per_hour": 2.0, "table": "table.json"}
})json");
  study["name"] = name;
  return study.dump();
}

constexpr const char* k_table = R"({"csv": "table.csv", "params": [{"name": "workers"},
  {"name": "kind"}], "objective": "seconds", "unit": "s"})";

/// Returns the table's values: milliseconds per sample for both kinds of kernel, with very many
/// workers.
std::string table_values(double plain_ms, double fused_ms) {
  std::string csv = "workers,kind,seconds\n";
  for (int workers = 0; workers <= 4; ++workers) {
    const double factor = 0.001 * (1.0 + 1.0 / (1.0 + workers));
    csv += fmt::format("{0},plain,{1}\n{0},fused,{2}\n", workers, plain_ms * factor,
                       fused_ms * factor);
  }
  return csv;
}

constexpr const char* k_write_event = "printf '%s\\n' \"$STEPTUNE_EVENT\" >> events";

class Retune : public testing::Test {
 protected:
  Retune() {
    sandbox_.write("study.json", replay_study());
    sandbox_.write("quick.json", quick_study());
    sandbox_.write("quick.sh", quick_trial());
  }

  /// Runs a night and returns its line of JSON.
  Json night(int exit_code, const std::string& study = "quick.json",
             const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"retune", study, "--json"};
    words.insert(words.end(), options.begin(), options.end());
    const Ended ended = sandbox_.steptune(words);
    EXPECT_EQ(ended.exit_code, exit_code) << ended.out << ended.err;
    EXPECT_EQ(ended.err, "") << "prints nothing without a terminal";
    EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1) << "one line";
    EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "retune"));
    auto json = parse_json(ended.out, "night");
    EXPECT_TRUE(json) << ended.out;
    return json ? *std::move(json) : Json::object();
  }

  /// Runs two nights, after which fused kernels with four workers are in use.
  void begin_table() {
    sandbox_.write("table.study.json", table_study());
    sandbox_.write("table.json", k_table);
    sandbox_.write("table.csv", table_values(1.0, 0.6));
    EXPECT_EQ(night(7, "table.study.json")["configuration"]["kind"], "fused");
    night(0, "table.study.json");
  }

  [[nodiscard]] std::vector<std::string> stored_studies() const {
    const auto json = parse_json(sandbox_.steptune({"studies", "--json"}).out, "studies");
    std::vector<std::string> names;
    if (!json) return names;
    for (const Json& study : (*json)["studies"])
      names.push_back(study["name"]);
    return names;
  }

  void until_exists(const std::string& file) const {
    for (int i = 0; i < 3000 && !std::filesystem::exists(sandbox_.folder() / file); ++i)
      poll(nullptr, 0, 10);
  }

  Sandbox sandbox_;
};

TEST_F(Retune, TheFirstNightTunesAndTheNextOnesKeep) {
  const Json first = night(7, "study.json");
  EXPECT_EQ(first["schema_version"], 1);
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
  // The configuration in use outlives the old studies.
  const std::string in_use = sandbox_.steptune({"best", "demo", "--format", "args"}).out;
  EXPECT_NE(in_use, "");
  const Ended unnamed = sandbox_.steptune({"best"});
  EXPECT_EQ(unnamed.out, sandbox_.steptune({"best", "demo"}).out) << "no night's own study";
  EXPECT_EQ(unnamed.out.find("night"), std::string::npos) << unnamed.out;
  const Ended collected = sandbox_.steptune({"gc", "--history-limit", "1KB"});
  EXPECT_NE(collected.out.find("study    demo.night-2"), std::string::npos) << collected.out;
  EXPECT_EQ(sandbox_.steptune({"best", "demo", "--format", "args"}).out, in_use);
}

TEST_F(Retune, AfterASlowdownBisectingIsTheNextStep) {
  const auto git = [&](const std::string& words) {
    const Ended ended = sandbox_.program(
        {"/bin/sh", "-c", "git -c user.name=n -c user.email=e@example.org " + words});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.out.substr(0, 12);
  };
  git("init -q .");
  git("commit -q --allow-empty -m first");
  const std::vector<std::string> database{"--db", "nights.db"};
  night(7, "quick.json", database);
  git("commit -q --allow-empty -m fast");
  const std::string fast = git("rev-parse HEAD");
  EXPECT_EQ(night(0, "quick.json", database)["result"], "kept");
  sandbox_.write("quick.sh", trial_taking(15));
  git("commit -q --allow-empty -m slow");
  const std::string slow = git("rev-parse HEAD");
  const Ended slower = sandbox_.steptune({"retune", "quick.json", "--db", "nights.db"});
  EXPECT_EQ(slower.exit_code, 8) << slower.out;
  const std::string folder = std::filesystem::canonical(sandbox_.folder()).string();
  EXPECT_NE(slower.out.find("\n       find the commit that made it slower:\n       cd " + folder +
                            " && steptune bisect " + fast + " " + slow + " --db " + folder +
                            "/nights.db -- /bin/sh "),
            std::string::npos)
      << slower.out;
}

TEST_F(Retune, SlowdownIsReportedOnceAndTheSecondCrashReplaces) {
  EXPECT_EQ(night(7)["configuration"]["speed"], "fast");
  EXPECT_EQ(night(0)["result"], "kept");
  sandbox_.write("quick.sh", trial_taking(15));
  const Json slower = night(8);
  EXPECT_EQ(slower["result"], "regressed");
  EXPECT_EQ(slower["configuration"]["speed"], "fast") << "still the best there is";
  EXPECT_EQ(slower["regression"]["cause"], "configuration");
  EXPECT_EQ(slower["regression"]["since_night"], 3);
  EXPECT_NEAR(slower["regression"]["slowdown"]["ratio"].get<double>(), 1.5, 0.05);
  EXPECT_EQ(night(0)["result"], "kept") << "a known change is reported once";

  sandbox_.write("quick.sh", trial_taking(15, "[ \"$1\" = fast ] && exit 1\n"));
  const Json broken = night(8);
  EXPECT_EQ(broken["configuration"]["speed"], "fast") << "one failure may be an accident";
  EXPECT_NE(broken["regression"]["failure"].get<std::string>().find("failed"), std::string::npos);
  EXPECT_EQ(night(8)["configuration"]["speed"], "slow");
  const Ended best = sandbox_.steptune({"best", "quick", "--format", "args"});
  EXPECT_NE(best.out.find("slow"), std::string::npos) << best.out << best.err;
}

TEST_F(Retune, TheNextNightSendsTheAlarmOfAKilledOne) {
  night(7);
  night(0);
  sandbox_.write("quick.sh", trial_taking(15));
  night(8);
  // Makes that night look as if it had been killed after it detected the slowdown. It now began 25
  // hours earlier, so the next call does not continue it.
  sandbox_.write("change.py", R"py(import sqlite3
history = sqlite3.connect('.steptune/history.db')
history.execute("UPDATE nights SET status = 'running', started_wall_s = started_wall_s - 90000 "
                "WHERE night = 3")
history.commit()
)py");
  ASSERT_EQ(sandbox_.program({"/usr/bin/python3", "change.py"}).exit_code, 0);
  const Json reported = night(8);
  EXPECT_EQ(reported["night"], 4);
  EXPECT_EQ(reported["regression"]["since_night"], 4);
  EXPECT_EQ(night(0)["result"], "kept");
}

TEST_F(Retune, AGenerallySlowerMachineBlamesNoConfiguration) {
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
  const Ended reported = sandbox_.steptune({"retune", "failing.json"});
  EXPECT_EQ(reported.exit_code, 9);
  const std::string next = "steptune leaderboard failing.night-2 --all";
  EXPECT_THAT(reported.out, testing::HasSubstr("\nnext   " + next + "\n"));
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "failing.night-2", "--all"}).exit_code, 0);
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

TEST_F(Retune, AStudyMayChangeAfterAKilledFirstNight) {
  // The second trial continues until it is killed, and the first one is kept.
  sandbox_.write("quick.sh", "[ $1 = fast ] && touch second && exec sleep 100\n" + quick_trial());
  const pid_t pid = sandbox_.start({"retune", "quick.json"});
  until_exists("second");
  kill(pid, SIGKILL);
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 137);
  Json changed = Json::parse(quick_study());
  changed["baseline"]["speed"] = "fast";
  changed["parameters"]["speed"]["choices"] = {"slow", "fast", "faster"};
  sandbox_.write("quick.json", changed.dump());
  sandbox_.write("quick.sh", quick_trial());
  const Json tuned = night(0);
  EXPECT_EQ(tuned["night"], 2);
  EXPECT_EQ(tuned["night_study"], "quick.night-2");
  EXPECT_EQ(tuned["configuration"]["speed"], "fast");
  EXPECT_EQ(tuned["measured_in"], Json({{"study", "quick.night-2"}, {"trial", 1}}));
  EXPECT_EQ(night(0)["night_study"], "quick.night-3");
  const Ended best = sandbox_.steptune({"best", "quick"});
  EXPECT_NE(best.out.find("\nconfig  speed=fast\n"), std::string::npos)
      << "the older baseline is another\n"
      << best.out;
}

TEST_F(Retune, ALongRunThatIsOverHasNoNights) {
  sandbox_.write("over.json", R"({"name": "over", "command": ["python3", "train.py"],
    "trials": "attached", "hooks": {"python": {"num_workers": "{x}"}},
    "parameters": {"x": {"type": "int", "low": 0, "high": 4}}, "baseline": {"x": 0}})");
  const Ended refused = sandbox_.steptune({"retune", "over.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, testing::HasSubstr("the trials of study \"over\" were part of one"));
  EXPECT_THAT(refused.err, testing::HasSubstr("steptune exec over -- COMMAND"));
}

TEST_F(Retune, ASecondStartSaysWhoHoldsTheHistory) {
  sandbox_.write("endless.json", endless_study());
  sandbox_.write("trial.sh", endless_trial());
  const pid_t pid = sandbox_.start({"retune", "endless.json"});
  until_exists("started");
  const Ended second = sandbox_.program({steptune_program(), "retune", "endless.json", "--json"});
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_NE(second.err.find(fmt::format("pid {}", pid)), std::string::npos) << second.err;
  const Ended reported = sandbox_.program({steptune_program(), "retune", "endless.json", "--notify",
                                           "touch told-of-nothing", "--quiet"});
  EXPECT_EQ(reported.exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "told-of-nothing"));
  kill(pid, SIGTERM);
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 143);
}

TEST_F(Retune, ANightThatWasKilledContinues) {
  night(7);
  std::filesystem::remove(sandbox_.folder() / "arguments.txt");
  const pid_t pid = sandbox_.start({"retune", "quick.json"});
  until_exists("arguments.txt");
  kill(pid, SIGKILL);
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 137);
  const Json went_on = night(0);
  EXPECT_EQ(went_on["night"], 2);
  EXPECT_THAT(went_on["trials"].get<int>(), testing::AnyOf(4, 5))
      << "no trial is lost; only a disturbed one runs twice";
  EXPECT_EQ(night(0)["night"], 3);
}

TEST_F(Retune, AcceptsAStudysNameInPlaceOfItsFile) {
  const auto begin_and_end_with = [&](int signal) {
    std::filesystem::remove(sandbox_.folder() / "arguments.txt");
    const pid_t pid = sandbox_.start({"retune", "quick.json"});
    until_exists("arguments.txt");
    kill(pid, signal);
    EXPECT_EQ(sandbox_.wait(pid).exit_code, 128 + (signal == SIGTERM ? 15 : 9));
  };
  begin_and_end_with(SIGTERM);
  EXPECT_EQ(night(7, "quick")["night"], 1) << "the tuning from scratch goes on";
  const Json quiet = night(0);
  EXPECT_EQ(quiet["trust"], "full") << "nothing has changed";
  EXPECT_EQ(quiet["searched_trials"], 0);
  begin_and_end_with(SIGKILL);
  EXPECT_EQ(night(0, "quick")["night"], 3) << "it goes on";
}

TEST_F(Retune, FailedNotificationsDoNotFailANight) {
  const Ended reported =
      sandbox_.steptune({"retune", "study.json", "--json", "--notify", "cat > event.json",
                         "--notify", "exit 3", "--notify-on", "improved,regressed"},
                        {{{"MY_API_KEY", "hunter2"}}});
  EXPECT_EQ(reported.exit_code, 7);
  EXPECT_EQ(std::ranges::count(reported.err, '\n'), 1) << reported.err;
  EXPECT_NE(reported.err.find("warning: could not notify \"exit\" of \"improved\""),
            std::string::npos);
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
  EXPECT_EQ(sandbox_.read("event.json"), "") << "\"completed\" was not requested";
}

TEST_F(Retune, TimeThatIsTooLittleEndsTheSearchAndIsNotified) {
  begin_table();
  sandbox_.write("table.csv", table_values(1.0, 0.9));
  const Json slower = night(8, "table.study.json", {"--time", "3m", "--notify", k_write_event});
  EXPECT_EQ(slower["regression"]["cause"], "configuration");
  EXPECT_LT(slower["searched_trials"], 6);
  EXPECT_EQ(slower["budget_spent"], true);
  EXPECT_EQ(sandbox_.read("events"), "regressed\nbudget\n");
}

TEST_F(Retune, MoneyThatIsTooLittleEndsTheSearchAndIsNotified) {
  begin_table();
  sandbox_.write("table.csv", table_values(1.0, 0.9));
  const Json slower = night(8, "table.study.json",
                            {"--cost", "0.1", "--notify", k_write_event, "--notify-on", "budget"});
  EXPECT_LT(slower["searched_trials"], 6);
  EXPECT_GT(slower["cost_usd"], 0.0);
  EXPECT_LT(slower["cost_usd"], 0.125);
  EXPECT_EQ(slower["budget_spent"], true);
  EXPECT_EQ(sandbox_.read("events"), "budget\n");
}

TEST_F(Retune, AFirstNightKeepsAndReportsItsBounds) {
  sandbox_.write("table.study.json", table_study());
  sandbox_.write("table.json", k_table);
  sandbox_.write("table.csv", table_values(1.0, 0.6));
  const Json first = night(0, "table.study.json", {"--time", "60s", "--notify", k_write_event});
  EXPECT_EQ(first["budget_spent"], true);
  EXPECT_EQ(sandbox_.read("events"), "budget\n");
}

TEST_F(Retune, ANightTooShortForItsCheckIsReported) {
  begin_table();
  const Json failed = night(9, "table.study.json", {"--time", "20s", "--notify", k_write_event});
  EXPECT_NE(failed["reason"].get<std::string>().find("--time"), std::string::npos) << failed;
  EXPECT_EQ(sandbox_.read("events"), "failed\nbudget\n");
  EXPECT_EQ(failed["configuration"]["kind"], "fused") << "the configuration in use is kept";
}

TEST_F(Retune, LessThanTheLeastGainReplacesNothing) {
  begin_table();
  sandbox_.write("table.csv", table_values(0.3, 0.6));
  const Json kept = night(0, "table.study.json", {"--min-gain", "1000"});
  EXPECT_EQ(kept["result"], "kept");
  EXPECT_GT(kept["searched_trials"], 0) << "the night searched";
  EXPECT_EQ(kept["configuration"]["kind"], "fused");
  const Json improved = night(7, "table.study.json");
  EXPECT_EQ(improved["previous"]["kind"], "fused");
  EXPECT_EQ(improved["configuration"]["kind"], "plain");
}

TEST_F(Retune, FollowComparesWithTheConfigurationInUse) {
  begin_table();
  sandbox_.write("table.csv", table_values(0.3, 0.6));
  const Json improved = night(7, "table.study.json");
  ASSERT_EQ(improved["configuration"]["kind"], "plain");
  sandbox_.write("run.log", "");
  const Ended ended = sandbox_.steptune({"follow", "table", "run.log", "--json"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  const auto json = parse_json(ended.out, "follow");
  ASSERT_TRUE(json) << ended.out;
  EXPECT_EQ((*json)["configuration"], improved["configuration"]);
  EXPECT_EQ((*json)["study"]["name"], improved["measured_in"]["study"]);
  EXPECT_EQ((*json)["trial"], improved["measured_in"]["trial"]);
  const Json best = Json::parse(sandbox_.steptune({"best", "table", "--format", "json"}).out);
  EXPECT_EQ(best["trial_study"], improved["measured_in"]["study"]);
  EXPECT_EQ(best["trial"], improved["measured_in"]["trial"]);
}

TEST_F(Retune, TrialsOfOlderNightsThanAreKeptAreGone) {
  begin_table();
  for (int number = 3; number <= 5; ++number)
    night(0, "table.study.json", {"--trials", "0", "--keep-nights", "1"});
  // The second night is the latest that searched; the first has the configuration in use.
  EXPECT_THAT(stored_studies(), testing::ElementsAre("table", "table.night-2", "table.night-5"));
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / ".steptune/logs/table.night-3"));
  EXPECT_EQ(sandbox_.steptune({"best", "table", "--format", "args"}).exit_code, 0);
}

TEST_F(Retune, BeginsWithTheResultOfAnotherStudy) {
  sandbox_.write("other.study.json", table_study("other"));
  sandbox_.write("table.study.json", table_study());
  sandbox_.write("table.json", k_table);
  sandbox_.write("table.csv", table_values(1.0, 0.6));
  ASSERT_EQ(sandbox_.steptune({"run", "other.study.json", "--quiet"}).exit_code, 0);
  const Json first = night(0, "table.study.json", {"--from", "other"});
  EXPECT_EQ(first["study"], "table");
  EXPECT_EQ(first["night_study"], "table.night-1") << "nothing was tuned from scratch";
  EXPECT_EQ(first["configuration"]["kind"], "fused");
  EXPECT_EQ(first["measured_in"]["study"], "other");
  EXPECT_GT(first["lead_over_baseline"]["low_95"], 1.5);
  const Ended best = sandbox_.steptune({"best", "table", "--format", "json"});
  EXPECT_EQ(best.exit_code, 0) << best.err;
  EXPECT_EQ(Json::parse(best.out)["configuration"]["kind"], "fused");
  EXPECT_EQ(Json::parse(best.out)["trial"], first["measured_in"]["trial"]);
  EXPECT_NE(best.err.find("study \"table\" was never tuned itself: its nights train with trial " +
                          first["measured_in"]["trial"].dump() + " of \"other\""),
            std::string::npos)
      << best.err;
  EXPECT_EQ(sandbox_.steptune({"best", "tabel"}).exit_code, 1);
  // "other" may use another configuration later, so its name would be the wrong one.
  EXPECT_THAT(sandbox_.steptune({"retune", "table.study.json"}).out,
              testing::HasSubstr("\nnext   steptune best table\n"));
  // Without a study, --from uses the nights of the named study itself.
  const Ended own = sandbox_.steptune({"retune", "--from", "other", "--json"});
  EXPECT_EQ(own.exit_code, 0) << own.out << own.err;
  const auto json = parse_json(own.out, "night");
  ASSERT_TRUE(json) << own.out;
  EXPECT_EQ((*json)["study"], "other");
  EXPECT_EQ((*json)["night_study"], "other.night-1");
}

TEST_F(Retune, SuggestedCommandsNameTheRequestedStudy) {
  for (const std::string& name : {std::string("other"), std::string("table")}) {
    Json study = Json::parse(table_study(name));
    study["command"].push_back("{settings}");
    study["config_files"]["settings"] = {{"file", "settings.json"},
                                         {"edits", {{"workers", "{workers}"}}}};
    sandbox_.write(name + ".study.json", study.dump());
  }
  sandbox_.write("settings.json", R"({"workers": 0})");
  sandbox_.write("table.json", k_table);
  sandbox_.write("table.csv", table_values(1.0, 0.6));
  ASSERT_EQ(sandbox_.steptune({"run", "other.study.json", "--quiet"}).exit_code, 0);
  ASSERT_EQ(night(0, "table.study.json", {"--from", "other"})["measured_in"]["study"], "other");
  // The configuration that "other" itself uses may change later.
  const Ended best = sandbox_.steptune({"best", "table", "--format", "args"});
  EXPECT_EQ(best.exit_code, 0) << best.err;
  EXPECT_NE(best.err.find("'steptune best table --apply "), std::string::npos) << best.err;
  EXPECT_NE(best.err.find("'steptune exec table'"), std::string::npos) << best.err;
  const Ended run = sandbox_.steptune({"exec", "table", "--", "true"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("see 'steptune best table --format args'"), std::string::npos) << run.err;
  // Trial 1 of "other" is not a trial of "table".
  sandbox_.write("run.log", "");
  for (const Ended& other : {sandbox_.steptune({"exec", "table", "--trial", "1", "--", "true"}),
                             sandbox_.steptune({"follow", "table", "run.log", "--trial", "1"})}) {
    EXPECT_EQ(other.exit_code, 1) << other.err;
    EXPECT_NE(other.err.find("study \"table\" has no trial 1"), std::string::npos) << other.err;
    EXPECT_NE(other.err.find("name study \"other\" for its trial 1"), std::string::npos)
        << other.err;
  }
}

TEST_F(Retune, ACostBudgetWithoutPricesIsRefused) {
  Json study = Json::parse(table_study());
  study["runner"].erase("price_per_hour");
  sandbox_.write("table.study.json", study.dump());
  sandbox_.write("table.json", k_table);
  sandbox_.write("table.csv", table_values(1.0, 0.6));
  const Ended refused = sandbox_.steptune({"retune", "table.study.json", "--cost", "1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--cost: the study has no price"), std::string::npos) << refused.err;
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

TEST_F(Retune, InvalidRequestsAreRefused) {
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
    EXPECT_EQ((*json)["schema_version"], 1);
    EXPECT_EQ((*json)["result"], "failed");
    EXPECT_EQ((*json)["study"], study);
    EXPECT_NE((*json)["reason"].get<std::string>().find(reason), std::string::npos) << ended.out;
    EXPECT_NE(ended.err.find(reason), std::string::npos) << ended.err;
  };
  refused(2, {}, "", "name a study");
  refused(2, {"no.json"}, "no.json", "no.json");
  refused(2, {"study.json", "--time", "never"}, "demo", "--time");
  refused(2, {"study.json", "--time", "9999d"}, "demo", "--time: a tuning time of 9999d");
  refused(2, {"study.json", "--notify", "https://"}, "study.json", "https://");
  refused(1, {"study.json", "--from", "nothing"}, "demo", "contains no study yet");
  sandbox_.write(".steptune/history.db", "no database, but long enough to be taken for one");
  refused(4, {"study.json"}, "demo", "history.db");
}

/// Returns the text of a chapter of docs/nightly.md.
std::string chapter_of_nightly(const std::string& title) {
  const std::string text = read_file(STEPTUNE_SOURCE_DIR "/docs/nightly.md");
  const std::size_t begin = text.find("\n## " + title + "\n");
  EXPECT_NE(begin, std::string::npos) << title;
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

/// Replaces program and folder in a document's command by this test's; both must be there.
std::string run_here(std::string command, const Sandbox& sandbox, const std::string& folder) {
  const auto put = [&](const std::string& name, const std::string& value) {
    const std::size_t at = command.find(name);
    EXPECT_NE(at, std::string::npos) << name << " in: " << command;
    if (at != std::string::npos) command.replace(at, name.size(), value);
  };
  if (!folder.empty()) put(folder, sandbox.folder().string());
  put("/usr/bin/steptune", steptune_program());
  return command;
}

/// Returns the rest of the first line of a table or unit file that starts with `key`; empty if
/// there is none.
std::string line_behind(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return "";
}

TEST_F(Retune, RunsUnderTheCronOfTheDocument) {
  const std::string chapter = chapter_of_nightly("Cron");
  static const std::regex k_entry("\n(?:[-0-9*/,]+ +){5}([^\n]+)");
  std::smatch entry;
  ASSERT_TRUE(std::regex_search(chapter, entry, k_entry)) << chapter;
  const std::string command = entry[1];
  EXPECT_EQ(command.find('%'), std::string::npos) << "cron ends the line there";
  const std::string line = run_here(command, sandbox_, "/srv/training");
  for (const int expected : {7, 0}) {
    const Ended ended = sandbox_.program({"env", "-i", "HOME=/", "LOGNAME=nobody", "SHELL=/bin/sh",
                                          "PATH=/usr/bin:/bin", "/bin/sh", "-c", line});
    EXPECT_EQ(ended.exit_code, expected) << ended.err;
    EXPECT_EQ(ended.out + ended.err, "") << "cron would mail any output";
  }
  const std::string written = sandbox_.read("nightly.jsonl");
  EXPECT_EQ(std::ranges::count(written, '\n'), 2);
}

/// Returns the systemd unit that the document links to.
std::string unit_of_nightly(const std::string& name) {
  const std::string path = "configs/nightly/" + name;
  EXPECT_NE(chapter_of_nightly("systemd").find("](../" + path + ")"), std::string::npos) << name;
  return read_file(std::filesystem::path(STEPTUNE_SOURCE_DIR) / path);
}

TEST_F(Retune, OnlyARegressionFailsTheService) {
  const std::string service = unit_of_nightly("steptune-retune.service");
  // The exit codes are those of the documents: apart from 0, only `improved` is no failure.
  const std::string improved = "7";
  EXPECT_EQ(line_behind(service, "SuccessExitStatus="), improved);
  const std::string document = read_file(STEPTUNE_SOURCE_DIR "/docs/nightly.md");
  const std::string commands = read_file(STEPTUNE_SOURCE_DIR "/docs/cli.md");
  EXPECT_TRUE(line_behind(document, "| " + improved + " | ").starts_with("`improved`"));
  EXPECT_TRUE(line_behind(commands, "| " + improved + " | ").starts_with("`retune`: improved"));
  EXPECT_NE(chapter_of_nightly("systemd").find("`SuccessExitStatus=" + improved + "`"),
            std::string::npos);
  // The command ends with such a code, in its folder.
  const std::string command = run_here(line_behind(service, "ExecStart="), sandbox_, "");
  for (const int expected : {7, 0}) {
    const Ended ended =
        sandbox_.program({"env", "-i", "HOME=/", "PATH=/usr/bin:/bin", "/bin/sh", "-c", command});
    EXPECT_EQ(ended.exit_code, expected) << ended.err;
    EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1);
    EXPECT_TRUE(ended.out.starts_with("{"))
        << "the grep and `jq .result` in the unit's comment read it";
  }
}

TEST_F(Retune, AContainersFirstShellForwardsSignals) {
  // Starts the command as Kubernetes does.
  const std::string manifest = read_file(STEPTUNE_SOURCE_DIR "/configs/nightly/kubernetes.yaml");
  const std::size_t begin = manifest.find("- |\n") + 4;
  std::string script = manifest.substr(begin, manifest.find("resources:", begin) - begin);
  const std::string program = "steptune --db /history/history.db";
  ASSERT_NE(script.find(program), std::string::npos) << manifest;
  script.replace(script.find(program), program.size(), "'" + steptune_program() + "'");
  sandbox_.write("script.sh", script);
  for (int night = 1; night <= 2; ++night) {
    const Ended ended = sandbox_.program({"/bin/sh", "script.sh"});
    EXPECT_EQ(ended.exit_code, 0) << "improved is no failure\n" << ended.err;
    EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1) << ended.out;
  }

  sandbox_.write("study.json", endless_study());
  sandbox_.write("trial.sh", endless_trial());
  const Ended ended =
      sandbox_.program({"/bin/sh", "-c",
                        "/bin/sh script.sh & until [ -e started ]; do sleep 0.05; done; "
                        "kill -TERM $!; wait $!"});
  EXPECT_EQ(ended.exit_code, 143) << ended.err;
  EXPECT_NE(ended.out.find("\"result\":\"running\""), std::string::npos)
      << "the night ended in order: " << ended.out;
}

TEST_F(Retune, SystemdTakesTheUnitsOfTheDocument) {
  if (sandbox_.program({"sh", "-c", "command -v systemd-analyze"}).exit_code != 0) {
    GTEST_SKIP() << "systemd-analyze is not installed (scripts/install-packages tests)";
  }
  for (const std::string name : {"steptune-retune.service", "steptune-retune.timer"}) {
    // The program need not be installed where the test runs.
    static const std::regex k_program("ExecStart=[^ ]*");
    sandbox_.write(name,
                   std::regex_replace(unit_of_nightly(name), k_program, "ExecStart=/bin/true"));
  }
  const Ended verified = sandbox_.program(
      {"systemd-analyze", "verify", "./steptune-retune.service", "./steptune-retune.timer"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_EQ(verified.err, "");
}

TEST_F(Retune, WrongWordsAreReportedInJsonToo) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"study.json", "--bogus"},
                                                {"study.json", "--trials", "1.5"},
                                                {"study.json", "--notify-on", "breakfast"},
                                                {"study.json", "one too many"}}) {
    std::vector<std::string> line{"retune", "--json"};
    line.insert(line.end(), words.begin(), words.end());
    const Ended ended = sandbox_.steptune(line);
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_NE(ended.err, "");
    EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "retune")) << ended.out;
    const auto json = parse_json(ended.out, "night");
    ASSERT_TRUE(json) << ended.out;
    EXPECT_EQ((*json)["result"], "failed");
    EXPECT_EQ((*json)["study"], "study.json");
  }
  EXPECT_EQ(sandbox_.steptune({"retune", "study.json", "--bogus"}).out, "");
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "--json", "--bogus"}).out, "");
}

}  // namespace
}  // namespace steptune::golden
