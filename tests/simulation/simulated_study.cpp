// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulated_study.hpp"

#include <algorithm>
#include <cmath>

#include "search/searcher.hpp"

namespace steptune::simulation {
namespace {

constexpr const char* k_document = R"({
  "name": "simulated",
  "command": ["train", "--batch-size", "{batch_size}", "--workers", "{workers}"],
  "parameters": {
    "batch_size": {"type": "int", "low": 16, "high": 256, "scale": "log2", "memory": "increases"},
    "workers":    {"type": "int", "low": 0, "high": 3}
  },
  "baseline": {"batch_size": 32, "workers": 0},
  "planned_run": {"samples": 1e6, "batch_size": "batch_size"},
  "objectives": ["time"],
  "search": {"searcher": "sobol", "scheduler": "none", "seed": 7},
  "budget": {"trials": 10},
  "measure": {"target_half_width": 0.02, "max_trial": "60s", "min_window": "1s", "confirm_pairs": 3},
  "runner": {"type": "local", "price_per_hour": 3.6}
})";

}  // namespace

Json study_document() {
  return must(parse_json(k_document, "simulated.json"));
}

StudySpec study_of(const Json& document) {
  return must(study_from_json(document, "/studies/simulated.json",
                              {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
}

TrialScript train(const TrialSpec& spec) {
  const double batch = to_number(*spec.configuration.find("batch_size"));
  const double workers = to_number(*spec.configuration.find("workers"));
  TrialScript script;
  script.samples_per_step = batch;
  script.seconds_per_step = 0.02 + batch * (0.0005 + 0.002 / (1.0 + workers));
  return script;
}

void RecordingListener::on_phase(const std::string& phase) {
  phases.push_back(phase);
  if (at_crash_point) at_crash_point();
}

void RecordingListener::on_trial_started(const TrialRecord& trial) {
  started.push_back(trial.number);
  if (at_crash_point) at_crash_point();
}

void RecordingListener::on_trial_ended(const TrialRecord& trial, const Standing& standing) {
  ended.push_back(trial);
  const TrialRecord* incumbent = standing.incumbent();
  if (incumbent != nullptr && incumbent->number == trial.number) incumbents.push_back(trial.number);
  if (at_crash_point) at_crash_point();
}

void RecordingListener::on_progress(const std::vector<const RunningTrial*>& running,
                                    double elapsed_s) {
  progress_s.push_back(elapsed_s);
  most_live = std::max(most_live, running.size());
}

void RecordingListener::on_warning(const std::string& message) {
  warnings.push_back(message);
}

SimulatedRun::SimulatedRun(const std::filesystem::path& run_folder, const Json& document,
                           ScriptedRunner::Script script, double wall_start_s, int capacity)
    : study(study_of(document)),
      clock(wall_start_s),
      runner(clock, capacity, std::move(script)),
      history(must(History::open_for_writing(run_folder / "history.db", clock))),
      folder(run_folder) {
  SearcherOptions options;
  options.seed = study.search.seed;
  options.objectives.assign(study.objectives.size(), ObjectiveTraits{true});
  searcher = must(make_searcher(study.search.searcher, study.space, options));
  scheduler = must(make_scheduler(
      study.search.scheduler, {study.search.eta, study.search.min_steps, study.search.max_steps}));
}

Result<LoopResult> SimulatedRun::run() {
  return run_on(runner);
}

Result<LoopResult> SimulatedRun::run_on(Runner& other) {
  return run_loop(
      {study, *searcher, *scheduler, other, history, clock, listener, folder / "logs", interrupts});
}

std::vector<TrialRecord> SimulatedRun::trials() const {
  return must(history.trials(record().id));
}

StudyRecord SimulatedRun::record() const {
  return must(history.study(study.name));
}

}  // namespace steptune::simulation
