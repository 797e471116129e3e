// SPDX-License-Identifier: Apache-2.0
// Text of programs, files and foreign databases is always shown as plain text: by every reading
// command, on terminals and through pipes, as JSON and as CSV, and in files for other programs.
#include <algorithm>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "common/json.hpp"
#include "common/utf8.hpp"
#include "tests/golden/program.hpp"
#include "tests/support/must.hpp"
#include "tests/support/read_file.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::golden {
namespace {

namespace fs = std::filesystem;

/// Returns a text with a formula, HTML, an ANSI sequence, a bell and a line break, which JSON can
/// hold.
std::string hostile_text() {
  return "=1+1<script>alert(1)</script>'\"><img src=x "
         "onerror=alert(1)>,\x1b[31m\x1b]0;title\x07(\r\n";
}

/// Returns the same text with invalid UTF-8, and very long.
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
    study.decisions = {
        {1e9, "judge", 3, hostile_bytes(), Json{{"metric", hostile_text()}, {"ratio", 1.5}}}};
    must(history.record_study(study));
    // The study of another program's database has this name.
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

  /// Fails unless the text is plain: valid UTF-8, without control characters except for line
  /// breaks.
  static void expect_plain(const std::string& text, const std::string& command) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      ASSERT_TRUE(byte >= 0x20 || c == '\n' || c == '\t') << command << ": byte " << int{byte};
      ASSERT_NE(byte, 0x7FU) << command;
    }
    EXPECT_NO_THROW((void)Json(text).dump()) << command << ": is no UTF-8";
  }

  /// Checks the files of a folder and their names. `is_binary`: the files have more than text.
  static void expect_text(const fs::path& folder, bool is_binary) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      expect_plain(entry.path().string(), "a file");
      if (!entry.is_regular_file()) continue;
      ++files;
      const std::string bytes = read_file(entry.path());
      EXPECT_EQ(bytes.find("\xff\xc3("), std::string::npos) << entry.path();
      EXPECT_TRUE(is_binary || is_utf8(bytes)) << entry.path();
    }
    EXPECT_GT(files, 0) << folder;
  }

  /// Returns a new folder with a copy of the history.
  static fs::path copied_history(const std::string& name) {
    const fs::path folder = sandbox_->folder() / name;
    fs::create_directories(folder / "logs");
    fs::copy_file(sandbox_->folder() / ".steptune" / "history.db", folder / "history.db");
    return folder / "history.db";
  }

  static Json best_configuration() {
    return Json::parse(sandbox_->steptune({"best", "hostile", "--json"}).out)["configuration"];
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
    {"show", "hostile", "--decisions"},
    {"compare", "hostile", "1", "2", "5"},
    {"best", "hostile"},
    {"importance", "hostile"},
    {"bottleneck", "hostile"},
    {"scaling", "hostile", "--over", "workers"},
};

/// All formats of `export` and of `best --format`.
constexpr const char* k_export_formats[] = {"csv", "json", "optuna", "mlflow"};
constexpr const char* k_launch_formats[] = {"text",     "json",       "args",       "env",
                                            "torchrun", "accelerate", "dockerfile", "github",
                                            "python",   "sagemaker"};

/// Reads an export to Optuna by Python's own modules.
constexpr const char* k_read_database = R"(import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
assert database.execute('PRAGMA integrity_check').fetchone() == ('ok',)
rows = 0
for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
    found = database.execute(f'SELECT * FROM "{table}"')
    names = [column[0] for column in found.description]
    for row in found: # a text that is no UTF-8 is an error
        rows += 1
        for name, value in zip(names, row):
            if name.endswith('_json'):
                json.loads(value)
print('rows:', rows > 20)
)";

/// Returns the outputs of a step as GitHub's runner reads them.
std::map<std::string, std::string> github_outputs(const std::string& text) {
  std::map<std::string, std::string> outputs;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = line.find('=');
    const std::size_t marks = line.find("<<");
    if (equals < marks) {
      outputs[line.substr(0, equals)] = line.substr(equals + 1);
      continue;
    }
    const std::string last = marks == std::string::npos ? "" : "\n" + line.substr(marks + 2) + "\n";
    const std::size_t close = last.empty() ? std::string::npos : text.find(last, at);
    if (close == std::string::npos) {
      ADD_FAILURE() << "no output: " << line;
      return outputs;
    }
    outputs[line.substr(0, marks)] = text.substr(at, close - at);
    at = close + last.size();
  }
  return outputs;
}

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
  const std::size_t decisions = page.out.find("<td>judge</td>");
  ASSERT_NE(decisions, std::string::npos);
  EXPECT_NE(page.out.find("metric==1+1&lt;script&gt;alert(1)", decisions), std::string::npos);
  for (const char* markup : {"<script>alert", "<img", "\x1b", "\x07"})
    EXPECT_EQ(page.out.find(markup), std::string::npos) << markup;
  EXPECT_NO_THROW((void)Json(page.out).dump()) << "is no UTF-8";
}

TEST_F(HostileHistory, IsQuotedInCommandLines) {
  const Ended args = sandbox_->steptune({"best", "hostile", "--format", "args"});
  EXPECT_EQ(args.exit_code, 0) << args.err;
  const Ended words = sandbox_->program({"bash", "-c", "eval \"set -- $0\"; echo $#", args.out});
  EXPECT_EQ(words.out, "3\n") << "train, mode, workers: " << args.out;
}

TEST_F(HostileHistory, IsPlainTextInCompletions) {
  const std::vector<std::vector<std::string>> lines{
      {"show", "hostile", ""},
      {"show", ""},
      {"retune", "--from", ""},
      {"leaderboard", "hostile", "--columns", ""},
      {"leaderboard", "hostile", "--where", "workers > 2 and "},
      {"best", "hostile", "--map", ""}};
  for (std::vector<std::string> words : lines) {
    words.insert(words.begin(), "__complete");
    const Ended ended = sandbox_->steptune(words);
    EXPECT_GT(ended.out.size(), 5U) << quoted(words);
    expect_plain(ended.out, quoted(words));
  }
}

TEST_F(HostileHistory, IsTextInEveryExport) {
  // An empty name means the latest study, whose own name is hostile.
  for (const std::string study : {"hostile", ""}) {
    for (const std::string format : k_export_formats) {
      const std::string folder = "exported-" + format + study;
      fs::create_directory(sandbox_->folder() / folder);
      const Ended ended =
          sandbox_->steptune({"export", study, folder + "/export", "--format", format});
      expect_plain(ended.out + ended.err, format);
      EXPECT_EQ(ended.exit_code, 0) << format << ended.err;
      expect_text(sandbox_->folder() / folder, format == "optuna");
      const std::string file = folder + "/export";
      if (format == "json") {
        const std::string json = sandbox_->read(file);
        EXPECT_TRUE(parse_json(json, file)) << study;
        expect_plain(json, file);
      }
      if (format == "optuna") {
        sandbox_->write("read.py", k_read_database);
        const Ended read = sandbox_->program({"/usr/bin/python3", "read.py", file});
        EXPECT_EQ(read.out, "rows: True\n") << read.err;
      }
    }
  }
}

TEST_F(HostileHistory, IsPlainTextInEveryLaunchFormatOnATerminal) {
  for (const std::string format : k_launch_formats) {
    Ended shown = sandbox_->on_terminal("NO_COLOR=1 $STEPTUNE best hostile --format " + format);
    // The Python format sets nothing, and says so.
    EXPECT_EQ(shown.exit_code, format == "python" ? 1 : 0) << format << shown.out;
    EXPECT_GT(shown.out.size(), 50U) << format;
    std::erase(shown.out, '\r');
    expect_plain(shown.out, format);
  }
}

TEST_F(HostileHistory, IsOneValueInEveryLaunchFormat) {
  const std::string mode = best_configuration()["mode"];
  ASSERT_NE(mode.find("\x1b[31m"), std::string::npos);
  const auto exported = [&](const std::string& format) {
    const Ended ended = sandbox_->steptune({"best", "hostile", "--format", format});
    EXPECT_EQ(ended.exit_code, 0) << format << ended.err;
    EXPECT_TRUE(is_utf8(ended.out)) << format;
    expect_plain(ended.err, format);
    return ended.out;
  };
  for (const std::string format : {"args", "torchrun", "accelerate"}) {
    const Ended word =
        sandbox_->program({"bash", "-c", "eval \"set -- $0\"; printf %s \"${*: -3:1}:${*: -2:1}\"",
                           exported(format)});
    EXPECT_EQ(word.out, "train:" + mode) << format;
  }
  EXPECT_EQ(exported("env"), "");
  expect_plain(exported("text"), "text");

  const std::string lines = exported("dockerfile");
  expect_plain(lines, "dockerfile");
  ASSERT_TRUE(lines.starts_with("CMD ")) << lines;
  EXPECT_EQ(Json::parse(lines.substr(4))[1], mode);

  const auto outputs = github_outputs(exported("github"));
  EXPECT_EQ(outputs.size(), 5U) << "mode, workers, configuration, args, env";
  EXPECT_EQ(outputs.at("mode"), mode);
  EXPECT_EQ(Json::parse(outputs.at("configuration"))["mode"], mode);

  for (const std::string format : {"json", "sagemaker"})
    expect_plain(exported(format), format);
  const Json job = Json::parse(exported("sagemaker"));
  EXPECT_EQ(job["CreateTrainingJob"]["HyperParameters"]["mode"], mode);
}

TEST_F(HostileHistory, IsPlainTextWhereItIsRemoved) {
  const std::string database = copied_history("collected").string();
  sandbox_->write("precious.txt", "precious");
  {
    SystemClock clock;
    History history = must(History::open_for_writing(database, clock));
    const Json document = must(history.studies()).front().document;
    for (const char* name : {"../../precious.txt", "..", "latest"})
      must(history.create_or_continue_study(name, "fingerprint", document, 1));
  }
  std::vector<std::string> words{"gc", "--db", database, "--history-limit", "1KB", "--dry-run"};
  for (const bool is_json : {false, true}) {
    if (is_json) words.emplace_back("--json");
    const Ended ended = sandbox_->steptune(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    expect_plain(ended.out + ended.err, quoted(words));
    EXPECT_NE(ended.out.find("hostile"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("<script>"), std::string::npos)
        << "the name of the other study is shown";
    EXPECT_TRUE(!is_json || parse_json(ended.out, "output")) << ended.out;
  }
  Ended shown = sandbox_->on_terminal("stty cols 80; NO_COLOR=1 $STEPTUNE gc --db '" + database +
                                      "' --history-limit 1KB");
  EXPECT_EQ(shown.exit_code, 0) << shown.out;
  std::erase(shown.out, '\r');
  expect_plain(shown.out, "gc");
  EXPECT_EQ(sandbox_->read("precious.txt"), "precious") << "a name is no path";
  const Ended left = sandbox_->steptune({"studies", "--db", database, "--json"});
  EXPECT_EQ(Json::parse(left.out)["studies"].size(), 1U) << "the latest";
}

}  // namespace
}  // namespace steptune::golden
