// SPDX-License-Identifier: Apache-2.0
// What programs, files and others' databases say is never more than text: every command that reads,
// on terminals and through pipes, as JSON and as CSV.
#include <algorithm>

#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/support/must.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::golden {
namespace {

/// A formula, HTML, an ANSI sequence, a bell, a line break; what JSON can hold.
std::string hostile_text() {
  return "=1+1<script>alert(1)</script>'\"><img src=x "
         "onerror=alert(1)>,\x1b[31m\x1b]0;title\x07(\r\n";
}

/// The same with bytes that are no UTF-8, and very long.
std::string hostile_bytes() {
  return hostile_text() + "\xff\xc3(" + std::string(10'000, 'x');
}

class HostileHistory : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    SystemClock clock;
    History history =
        must(History::open_for_writing(sandbox_->folder() / ".steptune" / "history.db", clock));
    Json document = Json::parse(R"json({
      "name": "hostile", "command": ["train", "{mode}", "{workers}"],
      "parameters": {"mode": {"type": "categorical", "choices": []},
                     "workers": {"type": "int", "low": 0, "high": 8}},
      "baseline": {"workers": 0}, "objectives": ["time", "cost"],
      "planned_run": {"samples": 1e8},
      "runner": {"type": "local", "price_per_hour": 2.0}
    })json");
    const std::string mode = hostile_text();
    document["parameters"]["mode"]["choices"] = {mode, mode + "2"};
    document["baseline"]["mode"] = mode;
    const StudySpec spec = must(study_from_json(document, "/studies/study.json",
                                                {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
    StudyRecord study =
        must(history.create_or_continue_study("hostile", "fingerprint", spec.document, 1));
    must(history.record_session(study.id, {{"cpu", hostile_bytes()}, {"kernel", "6.1"}}));
    for (std::int64_t number = 1; number <= 12; ++number)
      must(history.record_ended(study.id, trial(number, mode), {}, trace()));
    study.status = StudyStatus::finished;
    study.stop_reason = hostile_bytes();
    must(history.record_study(study));
    // The name of a study of another program's database.
    StudyRecord other =
        must(history.create_or_continue_study(hostile_bytes(), "other", spec.document, 1));
    must(history.record_ended(other.id, trial(1, mode)));
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static TrialRecord trial(std::int64_t number, const std::string& mode) {
    TrialRecord trial;
    trial.number = number;
    trial.purpose = number == 1 ? TrialPurpose::baseline : TrialPurpose::search;
    trial.status = number % 5 == 0 ? TrialStatus::failed : TrialStatus::completed;
    trial.origin = hostile_bytes();
    trial.failure = hostile_bytes();
    trial.configuration.set("mode", number % 2 == 1 ? mode : mode + "2");
    trial.configuration.set("workers", number % 9);
    trial.placement = {{"instances", hostile_bytes()}};
    trial.started_wall_s = 1e9 + 100.0 * static_cast<double>(number);
    trial.ended_wall_s = trial.started_wall_s + 90.0;
    trial.spent_s = 90.0;
    trial.spent_usd = 0.05;
    if (trial.status == TrialStatus::failed) return trial;
    Measurement measurement;
    measurement.status = MeasurementStatus::steady;
    measurement.seconds_per_sample = 0.001 * static_cast<double>(20 - number);
    measurement.half_width_s = 1e-5;
    measurement.window_steps = 100.0;
    measurement.window_samples = 6'400.0;
    measurement.window_s = 6'400.0 * measurement.seconds_per_sample;
    measurement.remark = hostile_bytes();
    measurement.metrics[hostile_text()] = 1.0;
    measurement.parts[hostile_text()] = 0.0002;
    trial.measurement = measurement;
    trial.objectives = {1e8 * measurement.seconds_per_sample,
                        55.0 * measurement.seconds_per_sample};
    trial.standard_errors = {100.0, 0.01};
    return trial;
  }

  static TrialTrace trace() {
    TrialTrace trace;
    for (int i = 1; i <= 20; ++i)
      trace.progress.points.push_back({5.0 + 0.2 * i, 64.0 * i, 1.0 * i});
    trace.progress.phases = {{hostile_text(), 6.0, 6.5}};
    trace.decisions = {{.at_s = 7.0,
                        .steps = 10.0,
                        .stop = true,
                        .values = {},
                        .half_widths = {},
                        .reason = hostile_bytes()}};
    return trace;
  }

  /// Nothing but text: no control characters but line breaks, no byte that is no UTF-8.
  static void expect_plain(const std::string& text, const std::string& command) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      ASSERT_TRUE(byte >= 0x20 || c == '\n' || c == '\t') << command << ": byte " << int{byte};
      ASSERT_NE(byte, 0x7FU) << command;
    }
    EXPECT_NO_THROW((void)Json(text).dump()) << command << ": is no UTF-8";
  }

  static std::string quoted(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words)
      line += " '" + word + "'";
    return line;
  }

  static std::unique_ptr<Sandbox> sandbox_;
};
std::unique_ptr<Sandbox> HostileHistory::sandbox_;

const std::vector<std::vector<std::string>> k_readers = {
    {"studies"},
    {"leaderboard", "hostile"},
    {"leaderboard", "hostile", "--all"},
    {"leaderboard", "hostile", "--all", "--columns", "trial,origin,failure,mode,status"},
    {"leaderboard", "hostile", "--where", "workers > 2"},
    {"show", "hostile", "1"},
    {"show", "hostile", "5"},
    {"compare", "hostile", "1", "2", "5"},
    {"best", "hostile"},
    {"importance", "hostile"},
    {"bottleneck", "hostile"},
};

TEST_F(HostileHistory, IsPlainTextThroughPipesAndOnTerminals) {
  for (const auto& words : k_readers) {
    const std::string command = quoted(words);
    const Ended piped = sandbox_->steptune(words);
    EXPECT_EQ(piped.exit_code, 0) << command << piped.err;
    EXPECT_GT(piped.out.size(), 50U) << command;
    expect_plain(piped.out, command);
    expect_plain(piped.err, command);
    Ended shown = sandbox_->on_terminal("stty cols 80; NO_COLOR=1 $STEPTUNE" + command);
    EXPECT_EQ(shown.exit_code, 0) << command << shown.out;
    std::erase(shown.out, '\r');
    expect_plain(shown.out, command);
  }
}

TEST_F(HostileHistory, ComesBackFromJsonAsText) {
  for (auto words : k_readers) {
    if (std::ranges::find(words, "--columns") != words.end()) continue;
    words.emplace_back("--json");
    const Ended ended = sandbox_->steptune(words);
    EXPECT_EQ(ended.exit_code, 0) << quoted(words) << ended.err;
    const auto json = parse_json(ended.out, "output");
    ASSERT_TRUE(json) << quoted(words);
    expect_plain(ended.out, quoted(words));
  }
}

TEST_F(HostileHistory, IsNoFormulaInCsv) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"leaderboard", "hostile", "--all", "--csv"},
        std::vector<std::string>{"export", "hostile", "--format", "csv", "-"}}) {
    const Ended ended = sandbox_->steptune(words);
    EXPECT_EQ(ended.exit_code, 0) << quoted(words) << ended.err;
    EXPECT_EQ(ended.out.find('\x1b'), std::string::npos) << quoted(words);
    EXPECT_NO_THROW((void)Json(ended.out).dump()) << "is no UTF-8";
    for (const char* formula : {",=1+1", ",\"=1+1", "\n=1+1", "\n\"=1+1"})
      EXPECT_EQ(ended.out.find(formula), std::string::npos) << quoted(words) << formula;
    EXPECT_NE(ended.out.find("'=1+1"), std::string::npos) << quoted(words);
  }
}

TEST_F(HostileHistory, IsNoMarkupInTheReport) {
  const Ended page = sandbox_->steptune({"report", "hostile", "--html", "-"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_NE(page.out.find("&lt;script&gt;alert(1)"), std::string::npos);
  for (const char* markup : {"<script>alert", "<img", "\x1b", "\x07"})
    EXPECT_EQ(page.out.find(markup), std::string::npos) << markup;
  EXPECT_NO_THROW((void)Json(page.out).dump()) << "is no UTF-8";
}

TEST_F(HostileHistory, IsQuotedInCommandLines) {
  const Ended args = sandbox_->steptune({"best", "hostile", "--format", "args"});
  EXPECT_EQ(args.exit_code, 0) << args.err;
  const Ended words = sandbox_->program({"bash", "-c", "eval \"set -- $0\"; echo $#", args.out});
  EXPECT_EQ(words.out, "3\n") << "train, mode, workers: " << args.out;
  expect_plain(sandbox_->steptune({"__complete", "show", "hostile", ""}).out, "__complete");
}

}  // namespace
}  // namespace steptune::golden
