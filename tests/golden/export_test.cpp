// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"
#include "tests/support/must.hpp"

namespace steptune::golden {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_python = "/usr/bin/python3";

/// Returns the study of `all_kinds.json` with these objectives.
Json study_with(const Json& objectives) {
  Json study =
      must(read_json_file(std::string(STEPTUNE_SOURCE_DIR) + "/tests/golden/all_kinds.json"));
  study["objectives"] = objectives;
  return study;
}

/// One finished study with one objective.
class Export : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    sandbox_->write("study.json", study_with({"time"}).dump());
    const Ended ended = sandbox_->steptune({"run", "study.json", "--quiet"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    board_ = Json::parse(sandbox_->steptune({"leaderboard", "--all", "--json"}).out);
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static Ended exported(const std::string& format, const std::string& file) {
    return sandbox_->steptune({"export", "all-kinds", file, "--format", format});
  }
  /// Returns the trials of the search, by number.
  static std::map<std::int64_t, Json> search_trials() {
    std::map<std::int64_t, Json> trials;
    for (const Json& row : board_["rows"]) {
      const std::string purpose = row["trial"]["purpose"];
      if (purpose.starts_with("confirm") || purpose == "sentinel") continue;
      trials[row["trial"]["number"]] = row["trial"];
    }
    return trials;
  }
  static Json python(const std::string& script) {
    sandbox_->write("script.py", script);
    const Ended ended = sandbox_->program({k_python, "script.py"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return Json::parse(ended.out);
  }
  static bool has_module(const std::string& name) {
    return sandbox_->program({k_python, "-c", "import " + name}).exit_code == 0;
  }

  static std::unique_ptr<Sandbox> sandbox_;
  static Json board_;
};
std::unique_ptr<Sandbox> Export::sandbox_;
Json Export::board_;

/// Script by which Optuna itself reads a file.
constexpr const char* k_optuna_reader = R"(import collections, json, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name=None, storage='sqlite:///FILE')
trials = study.get_trials()
read = {
    'name': study.study_name,
    'directions': [d.name for d in study.directions],
    'states': collections.Counter(t.state.name for t in trials),
    'attributes': study.user_attrs,
    'trials': [{'number': t.user_attrs['number'], 'state': t.state.name, 'params': t.params,
                'values': t.values, 'attributes': t.user_attrs,
                'steps': t.intermediate_values, 'seconds': t.duration and t.duration.total_seconds(),
                'distributions': {n: repr(d) for n, d in t.distributions.items()}} for t in trials],
}
if len(study.directions) == 1:
    read['best_value'] = study.best_value
    read['best'] = study.best_trial.user_attrs['number']
else:
    read['best'] = [t.user_attrs['number'] for t in study.best_trials]
study.enqueue_trial({}) # it can go on
print(json.dumps(read, sort_keys=True))
)";

Json reported_by_optuna(const Sandbox& sandbox, const std::string& file) {
  std::string script = k_optuna_reader;
  script.replace(script.find("FILE"), 4, file);
  sandbox.write("optuna_reader.py", script);
  const Ended ended = sandbox.program({k_python, "optuna_reader.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return Json::parse(ended.out);
}

std::string optuna_state(const std::string& status) {
  if (status == "completed") return "COMPLETE";
  return status == "stopped_early" ? "PRUNED" : "FAIL";
}

TEST_F(Export, OptunaAgrees) {
  if (!has_module("optuna")) GTEST_SKIP() << "no python3-optuna";
  ASSERT_EQ(exported("optuna", "optuna.db").exit_code, 0);
  const Json shown = reported_by_optuna(*sandbox_, "optuna.db");
  EXPECT_EQ(shown["name"], "all-kinds");
  EXPECT_EQ(shown["directions"], Json::array({"MINIMIZE"}));
  const auto trials = search_trials();
  ASSERT_EQ(shown["trials"].size(), trials.size());
  std::map<std::string, int> states;
  double best = std::numeric_limits<double>::infinity();
  int pruned_with_steps = 0;
  for (const Json& one : shown["trials"]) {
    const Json& trial = trials.at(one["number"]);
    EXPECT_EQ(one["params"], trial["configuration"]) << one;
    const std::string status = trial["status"];
    EXPECT_EQ(one["state"], optuna_state(status));
    EXPECT_EQ(one["attributes"]["status"], status);
    ++states[one["state"]];
    if (status == "completed") {
      EXPECT_EQ(one["values"][0], trial["objectives"][0]["value"]);
      best = std::min(best, trial["objectives"][0]["value"].get<double>());
      EXPECT_GT(one["seconds"], 0.0);
    }
    if (one["state"] == "PRUNED" && !one["steps"].empty()) ++pruned_with_steps;
  }
  EXPECT_EQ(shown["states"], Json(states));
  EXPECT_GT(states["PRUNED"], 0) << "without a pruned trial, this test shows nothing about them";
  EXPECT_EQ(pruned_with_steps, states["PRUNED"]);
  EXPECT_EQ(shown["best_value"], best);
  EXPECT_EQ(shown["attributes"]["steptune:recommendation"]["claim"], "faster");
  const Json& distributions = shown["trials"][0]["distributions"];
  EXPECT_EQ(distributions["batch"], "CategoricalDistribution(choices=(16, 32, 64, 128, 256))");
  EXPECT_EQ(distributions["rate"], "FloatDistribution(high=0.1, log=True, low=0.001, step=None)");
  EXPECT_EQ(distributions["share"], "FloatDistribution(high=1.0, log=False, low=0.0, step=0.25)");
  EXPECT_EQ(distributions["level"], "CategoricalDistribution(choices=(1, 2, 4))");
}

TEST_F(Export, OptunaKnowsSeveralObjectives) {
  if (!has_module("optuna")) GTEST_SKIP() << "no python3-optuna";
  const Sandbox sandbox;
  sandbox.write("study.json", study_with({"time", "cost"}).dump());
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  ASSERT_EQ(sandbox.steptune({"export", "all-kinds", "o.db", "--format", "optuna"}).exit_code, 0);
  const Json shown = reported_by_optuna(sandbox, "o.db");
  EXPECT_EQ(shown["directions"], Json::array({"MINIMIZE", "MINIMIZE"}));
  EXPECT_FALSE(shown["best"].empty());
  for (const Json& trial : shown["trials"]) {
    if (trial["state"] == "COMPLETE") {
      EXPECT_EQ(trial["values"].size(), 2U);
    }
  }
}

TEST_F(Export, FilesOfOthersAreLeftAlone) {
  sandbox_->write("theirs.db", "precious");
  const Ended ended = exported("optuna", "theirs.db");
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_NE(ended.err.find("exists already"), std::string::npos) << ended.err;
  EXPECT_EQ(sandbox_->read("theirs.db"), "precious");
  EXPECT_EQ(exported("optuna", "-").exit_code, 2);
  EXPECT_EQ(exported("optuna", "no/such/folder/o.db").exit_code, 1);
  EXPECT_EQ(exported("xml", "f").exit_code, 2);
  EXPECT_EQ(sandbox_->steptune({"export", "absent", "f", "--format", "csv"}).exit_code, 1);
}

TEST_F(Export, CsvHasARowPerTrial) {
  ASSERT_EQ(exported("csv", "trials.csv").err, "wrote trials.csv\n");
  const std::string text = sandbox_->read("trials.csv");
  EXPECT_EQ(exported("csv", "-").out, text);
  sandbox_->write("read.py",
                  "import csv, json\n"
                  "print(json.dumps(list(csv.DictReader(open('trials.csv', newline='')))))\n");
  const Json rows = Json::parse(sandbox_->program({k_python, "read.py"}).out);
  ASSERT_EQ(rows.size(), board_["rows"].size());
  const auto trials = search_trials();
  for (const Json& row : rows) {
    const auto trial = trials.find(std::stoll(row["trial"].get<std::string>()));
    if (trial == trials.end()) continue;
    EXPECT_EQ(std::stod(row["time"].get<std::string>()),
              trial->second["objectives"][0]["value"].get<double>());
    EXPECT_EQ(row["batch"], trial->second["configuration"]["batch"].dump());
    EXPECT_FALSE(row["note"].get<std::string>().starts_with("=")) << "a spreadsheet would run it";
  }
}

TEST(ExportOfRentedMachines, NamesMachinesOfTrialsNotTheTunersHost) {
  Sandbox sandbox;
  sandbox.write("study.json", cluster_study());
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  const Ended shown = sandbox.steptune({"export", "cluster", "--format", "json", "-"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const Json machine = Json::parse(shown.out)["sessions"][0]["machine"];
  EXPECT_EQ(machine["trials_on"], "1 ml.p3.2xlarge");
  for (const char* of_this_host : {"cpu", "cpus", "kernel", "memory", "operating_system"})
    EXPECT_FALSE(machine.contains(of_this_host)) << of_this_host;
  EXPECT_TRUE(machine.contains("steptune"));
}

TEST_F(Export, JsonIsAsItsSchemaSays) {
  ASSERT_EQ(exported("json", "study-export.json").exit_code, 0);
  const Json json = Json::parse(sandbox_->read("study-export.json"));
  EXPECT_EQ(json["trials"].size(), board_["rows"].size());
  EXPECT_EQ(json["study"]["document"]["name"], "all-kinds");
  EXPECT_FALSE(json["trials"][0]["trace"]["at_s"].empty());
  EXPECT_EQ(json["recommendation"]["claim"], "faster");
  EXPECT_TRUE(json["sessions"][0]["machine"].contains("cpu"));
  EXPECT_EQ(json["decisions"].back()["kind"], "recommend");
  const auto recommended = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "json", "--db", ".steptune/history.db"});
    return Json::parse(sandbox_->steptune(words).out)["recommendation"];
  };
  EXPECT_EQ(recommended({"export", "all-kinds", "-"}), recommended({"best", "all-kinds"}));
  if (!has_module("jsonschema")) GTEST_SKIP() << "no python3-jsonschema";
  sandbox_->write("schema.json", must(read_json_file(std::string(STEPTUNE_SOURCE_DIR) +
                                                     "/configs/export.schema.json"))
                                     .dump());
  const std::string script = R"(import json, jsonschema
schema = json.load(open('schema.json'))
jsonschema.Draft202012Validator.check_schema(schema)
document = json.load(open('study-export.json'))
valid = jsonschema.Draft202012Validator(schema)
read = {'faults': [e.message for e in valid.iter_errors(document)]}
for trial in document['trials']:  # an export of the first version
    trial.pop('cpu_busy_share')
    trial.pop('cpu_clock')
    for later in ('whole_run', 'steps_known'):
        (trial['measurement'] or {later: None}).pop(later)
document.pop('decisions')
read['earlier'] = [e.message for e in valid.iter_errors(document)]
document['trials'][0]['status'] = 'done'
del document['study']['name']
read['broken'] = len(list(valid.iter_errors(document)))
print(json.dumps(read))
)";
  const Json shown = python(script);
  EXPECT_TRUE(shown["faults"].empty()) << shown["faults"];
  EXPECT_TRUE(shown["earlier"].empty()) << shown["earlier"];
  EXPECT_EQ(shown["broken"], 2) << "the schema finds both faults";
}

TEST_F(Export, MlflowIsGivenAFileStore) {
  ASSERT_EQ(exported("mlflow", "mlruns").exit_code, 0);
  if (!has_module("yaml")) GTEST_SKIP() << "no python3-yaml";
  const Json shown = python(R"(import glob, json, os, yaml
def text(path):
    return open(path, newline='').read()
experiments = glob.glob('mlruns/*')
meta = yaml.safe_load(text(experiments[0] + '/meta.yaml'))
runs = []
for folder in glob.glob(experiments[0] + '/*/'):
    run = yaml.safe_load(text(folder + 'meta.yaml'))
    run['params'] = {n: text(folder + 'params/' + n) for n in os.listdir(folder + 'params')}
    run['metrics'] = {n: text(folder + 'metrics/' + n) for n in os.listdir(folder + 'metrics')}
    run['read'] = {n: text(folder + 'tags/' + n) for n in os.listdir(folder + 'tags')}
    runs.append(run)
print(json.dumps({'experiments': len(experiments), 'meta': meta, 'runs': runs,
                  'hidden': [n for n in os.listdir('mlruns') if n.startswith('.')]}))
)");
  EXPECT_EQ(shown["experiments"], 1);
  EXPECT_TRUE(shown["hidden"].empty());
  EXPECT_EQ(shown["meta"]["name"], "all-kinds");
  EXPECT_TRUE(shown["meta"]["experiment_id"].is_string());
  const auto trials = search_trials();
  ASSERT_EQ(shown["runs"].size(), trials.size());
  for (const Json& run : shown["runs"]) {
    EXPECT_EQ(run["experiment_id"], shown["meta"]["experiment_id"]);
    const std::string name = run["run_name"];
    const Json& trial = trials.at(std::stoll(name.substr(name.find('-') + 1)));
    EXPECT_EQ(run["read"]["steptune.status"], trial["status"]);
    EXPECT_EQ(run["params"].size(), trial["configuration"].size());
    EXPECT_EQ(run["params"]["note"], trial["configuration"]["note"]);
    if (trial["status"] != "completed") continue;
    EXPECT_EQ(run["status"], 3);
    const std::string metric = run["metrics"]["time"];
    EXPECT_EQ(std::stod(metric.substr(metric.find(' '))), trial["objectives"][0]["value"]);
  }
  EXPECT_EQ(exported("mlflow", "mlruns").exit_code, 4)
      << "a second export does not replace the first one";
}

}  // namespace
}  // namespace steptune::golden
