// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// One finished study, made once for all reading tests.
class Reading : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    sandbox_->write("study.json", replay_study());
    ASSERT_EQ(sandbox_->steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static Json json_of(const std::vector<std::string>& arguments) {
    const Ended ended = sandbox_->steptune(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    auto json = parse_json(ended.out, arguments[0]);
    EXPECT_TRUE(json) << json.error().text();
    if (!json) return {};
    EXPECT_EQ((*json)["schema_version"], 1);
    return std::move(*json);
  }

  static std::unique_ptr<Sandbox> sandbox_;
};
std::unique_ptr<Sandbox> Reading::sandbox_;

TEST_F(Reading, LeaderboardShowsAsManyRowsAsAskedAndTheBaseline) {
  const Ended ended = sandbox_->steptune({"leaderboard", "--limit", "2"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(difference(R"(demo  finished: 12 trials, {{.*}}
    trial {{.*}}batch_size  workers  precision
*p {{.*}}
{{[*=p! ]* +\d+ +.*}}
        1 {{.*}}  1.00x {{.*}}  1.00x {{.*}}  baseline, completed          32        0  fp32
* best {{.*}}
note: a gain is that of one trial of the search; fresh launches showed trial {{.*}}
note: trials differ in batch size {{.*}}
{{\d+}} trials: {{.*}}
)",
                       ended.out),
            "");
}

TEST(ReadingGains, ABaselineThatFailedAtFirstIsCompared) {
  const Sandbox sandbox;
  sandbox.write("quick.json", quick_study());
  sandbox.write("quick.sh", "exit 1\n");
  EXPECT_EQ(sandbox.steptune({"run", "quick.json"}).exit_code, 3);
  sandbox.write("quick.sh", quick_trial());
  const Ended ended = sandbox.steptune({"run", "quick.json", "--trials", "3"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const Ended shown = sandbox.steptune({"leaderboard"});
  EXPECT_EQ(difference(R"({{...}}
{{\*[! ] .* 3\.0\dx .*completed +fast}}
{{[! ] .* 1\.00x .*baseline, completed +slow}}
{{...}}
)",
                       shown.out),
            "");
  EXPECT_NE(sandbox.steptune({"show", "3"}).out.find(" over the baseline)"), std::string::npos);
}

TEST_F(Reading, StudiesAreFoundByNameByFileAndByBeingTheLatest) {
  const std::string latest = sandbox_->steptune({"leaderboard"}).out;
  EXPECT_EQ(sandbox_->steptune({"leaderboard", "demo"}).out, latest);
  EXPECT_EQ(sandbox_->steptune({"leaderboard", "study.json"}).out, latest);
  EXPECT_EQ(sandbox_->steptune({"leaderboard", "./study.json"}).out, latest);
}

TEST_F(Reading, LeaderboardJsonIsRankedByTheObjectiveAskedFor) {
  for (const std::string objective : {"time", "cost"}) {
    const Json json = json_of({"leaderboard", "--json", "--sort", objective});
    EXPECT_EQ(json["sorted_by"], objective);
    const std::size_t index = objective == "time" ? 0 : 1;
    double last = 0.0;
    for (const Json& row : json["rows"]) {
      if (row["rank"].is_null()) continue;
      const double value = row["trial"]["objectives"][index]["value"];
      EXPECT_GE(value, last);
      last = value;
    }
    EXPECT_GT(last, 0.0);
  }
}

TEST_F(Reading, AllShowsConfirmations) {
  const Json some = json_of({"leaderboard", "--json"});
  const Json all = json_of({"leaderboard", "--json", "--all"});
  EXPECT_GT(all["rows"].size(), some["rows"].size());
  int confirmations = 0;
  for (const Json& row : all["rows"]) {
    if (row["trial"]["purpose"].get<std::string>().starts_with("confirm")) {
      ++confirmations;
      EXPECT_TRUE(row["rank"].is_null());
    }
  }
  EXPECT_EQ(confirmations, 8) << "two tied finalists and the baseline; two pairs decide about one";
}

TEST_F(Reading, ShowPrintsEverythingAboutATrial) {
  const Ended ended = sandbox_->steptune({"show", "1"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(difference(R"(trial          1  completed
purpose        baseline (from baseline)
configuration  batch_size=32 workers=0 precision=fp32
time           {{[\d.]+ h \+-[\d.]+ %}}
cost           {{\$[\d.]+ \+-[\d.]+ %}}
speed          {{[\d.]+}} samples/s, {{[\d.e-]+}} s per sample +-{{[\d.]+}} %
hidden buffer  {{.*}}
measurement    steady
start-up       {{.*}}
warm-up        {{.*}}
window         {{.*}}, {{\d+}} steps, {{\d+}} samples
{{...}}
started        {{\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ}}
ended          {{\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ}}
spent          {{.*}}, ${{[\d.]+}}
)",
                       ended.out),
            "");
  EXPECT_EQ(sandbox_->steptune({"show", "demo", "1"}).out, ended.out);
  const Json json = json_of({"show", "1", "--json"});
  EXPECT_EQ(json["trial"]["purpose"], "baseline");
  EXPECT_EQ(json["trial"]["measurement"]["status"], "steady");
}

TEST_F(Reading, LeaderboardSelectsSortsAndWritesColumns) {
  const Json some =
      json_of({"leaderboard", "--json", "--where", "precision == 'bf16' and workers > 1"});
  ASSERT_GT(some["rows"].size(), 1U);
  for (const Json& row : some["rows"]) {
    EXPECT_EQ(row["trial"]["configuration"]["precision"], "bf16");
    EXPECT_GT(row["trial"]["configuration"]["workers"].get<int>(), 1);
  }
  const Json feasible = json_of({"leaderboard", "--json", "--all", "--feasible"});
  EXPECT_FALSE(feasible["rows"].empty());
  for (const Json& row : feasible["rows"])
    EXPECT_EQ(row["trial"]["status"], "completed");
  const Json pareto = json_of({"leaderboard", "--json", "--pareto"});
  EXPECT_FALSE(pareto["rows"].empty());
  for (const Json& row : pareto["rows"])
    EXPECT_TRUE(row["pareto"].get<bool>());
  int last = -1;
  const Json sorted = json_of({"leaderboard", "--json", "--sort", "workers"});
  for (const Json& row : sorted["rows"]) {
    const int workers = row["trial"]["configuration"]["workers"];
    EXPECT_GE(workers, last);
    last = workers;
  }
  EXPECT_GE(last, 0);
  const Ended csv = sandbox_->steptune(
      {"leaderboard", "--csv", "--columns", "trial,workers", "--where", "trial == 1"});
  EXPECT_EQ(csv.out, "trial,workers\r\n1,0\r\n");
}

TEST_F(Reading, ASelectionWithoutTrialsKeepsItsColumns) {
  const std::vector<std::string> none = {"leaderboard", "--where", "workers > 100", "--columns",
                                         "trial,workers"};
  const Ended text = sandbox_->steptune(none);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(
      difference("demo  finished: {{.*}}\nno trial to show\n{{\\d+}} trials: {{.*}}\n", text.out),
      "");
  std::vector<std::string> csv = none;
  csv.push_back("--csv");
  EXPECT_EQ(sandbox_->steptune(csv).out, "trial,workers\r\n");
}

TEST_F(Reading, LeaderboardSaysWhatIsUnknown) {
  const Ended column = sandbox_->steptune({"leaderboard", "--columns", "trial,wokers"});
  EXPECT_EQ(column.exit_code, 2);
  EXPECT_NE(column.err.find("no column \"wokers\"; did you mean \"workers\"?"), std::string::npos)
      << column.err;
  EXPECT_EQ(sandbox_->steptune({"leaderboard", "--sort", "nothing"}).exit_code, 2);
  const Ended where = sandbox_->steptune({"leaderboard", "--where", "worker > 1"});
  EXPECT_EQ(where.exit_code, 2);
  EXPECT_NE(where.err.find("--where"), std::string::npos) << where.err;
  EXPECT_NE(where.err.find("workers"), std::string::npos) << where.err;
}

TEST_F(Reading, ShowSaysHowATrialWentAndHowToRunIt) {
  const Ended ended = sandbox_->steptune({"show", "2"});
  EXPECT_EQ(difference(R"({{...}}
from baseline  {{.*}} -> {{.*}}
{{...}}
step time      {{.*#.*}}
{{...}}
                        . start-up and warm-up   = measured window
{{...}}
in             /tmp
env            TRAIN_NOTE='a b'
run            python3 train.py {{.*}}
{{...}}
)",
                       ended.out),
            "");
  const Json json = json_of({"show", "2", "--json"});
  EXPECT_GT(json["details"]["trace"]["at_s"].size(), 10U);
  EXPECT_EQ(json["details"]["argv"][0], "python3");
}

TEST_F(Reading, CompareRefusesATrialBesideItself) {
  const Ended ended = sandbox_->steptune({"compare", "1", "2", "1"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, "steptune: error: trial 1 is named twice\n");
}

TEST_F(Reading, ComparePutsTrialsSideBySide) {
  const Ended ended = sandbox_->steptune({"compare", "1", "2"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(difference(R"(trial  {{ +}}1 {{ +}}2
status {{.*}}
{{...}}
time {{.*}}
  times as good {{ +[\d.]+x \([\d.]+-[\d.]+\)}}
cost {{.*}}
  times as good {{.*}}
samples/s {{.*}}
{{...}}
spent {{.*}}
)",
                       ended.out),
            "");
  const Json json = json_of({"compare", "demo", "1", "2", "3", "--json"});
  ASSERT_EQ(json["comparison"]["trials"].size(), 3U);
  const Json& ratio = json["comparison"]["trials"][1]["ratios_to_first"][0];
  const Json& trials = json["comparison"]["trials"];
  EXPECT_NEAR(ratio["ratio"].get<double>(),
              trials[0]["trial"]["objectives"][0]["value"].get<double>() /
                  trials[1]["trial"]["objectives"][0]["value"].get<double>(),
              1e-9);
  EXPECT_LT(ratio["low_95"].get<double>(), ratio["ratio"].get<double>());
  EXPECT_EQ(sandbox_->steptune({"compare", "1"}).exit_code, 2);
  EXPECT_EQ(sandbox_->steptune({"compare", "demo", "1"}).exit_code, 2);
  EXPECT_EQ(sandbox_->steptune({"compare", "1", "99"}).exit_code, 1);
}

TEST_F(Reading, StudiesAreListed) {
  const Ended ended = sandbox_->steptune({"studies"});
  EXPECT_EQ(difference("study  status    trials  result {{.*}} begun\n"
                       "demo   finished {{.*}}x, confirmed {{.*}}Z\n",
                       ended.out),
            "");
  const Json json = json_of({"studies", "--json"});
  EXPECT_EQ(json["studies"][0]["name"], "demo");
  EXPECT_GT(json["studies"][0]["speed_up"].get<double>(), 1.0);
}

TEST_F(Reading, LeaderboardFitsATerminalOf80Columns) {
  const Ended narrow =
      sandbox_->on_terminal("stty cols 80; NO_COLOR=1 " + steptune_program() + " leaderboard");
  const Ended wide = sandbox_->on_terminal("stty cols 160; " + steptune_program() + " leaderboard");
  const auto table_width = [](const std::string& text) {
    std::size_t widest = 0;
    std::size_t begin = text.find("trial");
    for (int line = 0; line < 12 && begin != std::string::npos; ++line) {
      const std::size_t end = text.find('\n', begin);
      if (text.compare(begin, 4, "note") == 0) break;
      widest = std::max(widest, end - begin);
      begin = end == std::string::npos ? end : end + 1;
    }
    return widest;
  };
  EXPECT_NE(narrow.out.find("batch_size  workers  precision"), std::string::npos) << narrow.out;
  EXPECT_EQ(narrow.out.find("samples/s"), std::string::npos) << "this column is left out";
  EXPECT_NE(wide.out.find("samples/s"), std::string::npos);
  EXPECT_LE(table_width(narrow.out), 81U) << narrow.out;  // 81 with the terminal's CR
  EXPECT_GT(table_width(wide.out), 81U);
}

TEST_F(Reading, BestArgumentsRunUnchanged) {
  const Ended ended = sandbox_->steptune({"best", "--format", "args"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(difference("python3 train.py --batch-size={{\\d+}} --workers {{\\d}} --label "
                       "'it'\\''s bf16'\n",
                       ended.out),
            "");
  EXPECT_EQ(difference("run it in /tmp\n"
                       "it was measured with environment variables: see --format env\n",
                       ended.err),
            "");
  sandbox_->write("words.sh", "for word in \"$@\"; do echo \"<$word>\"; done");
  const Ended words = sandbox_->program(
      {"sh", "-c", "eval \"sh words.sh $(\"$0\" best --format args 2>/dev/null)\"",
       steptune_program()});
  EXPECT_NE(words.out.find("<it's bf16>\n"), std::string::npos) << words.out << words.err;
}

TEST_F(Reading, BestInTheOtherFormats) {
  EXPECT_EQ(sandbox_->steptune({"best", "demo", "--format", "env"}).out, "TRAIN_NOTE='a b'\n");
  const Json json = json_of({"best", "--json"});
  EXPECT_EQ(json["argv"][0], "python3");
  EXPECT_EQ(json["configuration"]["precision"], "bf16");
  EXPECT_EQ(json["environment"]["TRAIN_NOTE"], "a b");
  EXPECT_EQ(json_of({"best", "--format", "json"}), json);
  const Ended text = sandbox_->steptune({"best"});
  EXPECT_EQ(difference(R"({{[\d.]+}} times as fast (95 % interval {{.*}}
change  {{.*}}
{{...}}
config  batch_size={{.*}}
in      /tmp
env     TRAIN_NOTE='a b'
run     python3 train.py {{.*}}
)",
                       text.out),
            "");
}

TEST_F(Reading, BestByAnObjective) {
  const Json by_cost = json_of({"best", "--json", "--objective", "cost"});
  const Json board = json_of({"leaderboard", "--json", "--sort", "cost"});
  int compared = 0;
  for (const Json& row : board["rows"]) {
    if (row["best"].get<bool>()) {
      ++compared;
      EXPECT_EQ(row["trial"]["number"], by_cost["trial"]);
    }
  }
  EXPECT_GT(compared, 0);
  const Ended wrong = sandbox_->steptune({"best", "--objective", "cots"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err,
            "steptune: error: the study has no objective \"cots\"; did you mean \"cost\"?\n"
            "  its objectives: time, cost\n");
}

TEST_F(Reading, MissingStudiesEndWithOne) {
  EXPECT_EQ(sandbox_->steptune({"leaderboard", "dmo"}).exit_code, 1);
  EXPECT_EQ(sandbox_->steptune({"show", "99"}).exit_code, 1);
  const Ended none = sandbox_->steptune({"leaderboard", "--db", "none.db"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("none.db"), std::string::npos) << none.err;
  EXPECT_FALSE(std::filesystem::exists(sandbox_->folder() / "none.db"));
}

TEST_F(Reading, TheOptionPrecedesTheEnvironmentsDatabase) {
  const Setting elsewhere{.environment = {{"STEPTUNE_DB", "none.db"}}};
  EXPECT_EQ(sandbox_->steptune({"leaderboard"}, elsewhere).exit_code, 1);
  EXPECT_EQ(
      sandbox_->steptune({"leaderboard", "--db", ".steptune/history.db"}, elsewhere).exit_code, 0);
  EXPECT_EQ(
      sandbox_->steptune({"--db", ".steptune/history.db", "leaderboard"}, elsewhere).exit_code, 0);
}

TEST_F(Reading, ColoursComeOnlyWhereTheyAreWanted) {
  const auto colored = [](const Ended& ended) {
    return ended.out.find('\x1b') != std::string::npos;
  };
  EXPECT_FALSE(colored(sandbox_->steptune({"leaderboard"})));
  EXPECT_TRUE(colored(sandbox_->steptune({"leaderboard", "--color", "always"})));
  EXPECT_TRUE(
      colored(sandbox_->steptune({"leaderboard"}, {.environment = {{"FORCE_COLOR", "1"}}})));
  EXPECT_TRUE(colored(sandbox_->on_terminal("$STEPTUNE leaderboard")));
  EXPECT_FALSE(colored(sandbox_->on_terminal("NO_COLOR=1 $STEPTUNE leaderboard")));
  EXPECT_FALSE(colored(sandbox_->on_terminal("TERM=dumb $STEPTUNE leaderboard")));
  EXPECT_FALSE(colored(sandbox_->on_terminal("$STEPTUNE leaderboard --color never")));
}

TEST_F(Reading, AReaderThatHasGoneIsNoFault) {
  const Ended ended = sandbox_->steptune({"leaderboard"}, {.out = Stream::broken_pipe});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
}

TEST_F(Reading, ResultsThatCannotBeWrittenAreAFault) {
  const Ended closed = sandbox_->steptune({"leaderboard"}, {.out = Stream::closed});
  EXPECT_EQ(closed.exit_code, 1);
  EXPECT_NE(closed.err.find("cannot write to stdout"), std::string::npos) << closed.err;
  const Ended full =
      sandbox_->program({"sh", "-c", "\"$0\" leaderboard > /dev/full", steptune_program()});
  EXPECT_EQ(full.exit_code, 1);
}

TEST_F(Reading, AClosedStderrIsNoFault) {
  EXPECT_EQ(sandbox_->steptune({"best", "--format", "args"}, {.err = Stream::closed}).exit_code, 0);
  EXPECT_EQ(
      sandbox_->steptune({"best", "--format", "args"}, {.err = Stream::broken_pipe}).exit_code, 0);
}

}  // namespace
}  // namespace steptune::golden
