// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_spec.hpp"

#include <cmath>

#include <fmt/format.h>

#include "trial_runner/hooks/knob_table.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "tuner/study/config_files.hpp"
#include "tuner/study/counted_steps.hpp"

namespace steptune {

namespace {

/// Returns the settings that a running program can switch to; nullopt if a knob can only be set at
/// the start.
std::optional<std::map<std::string, Value>> switchable_knobs(const PythonHookRequest& request) {
  std::map<std::string, Value> knobs;
  for (const auto& [name, value] : request.knobs) {
    const Knob* knob = find_python_knob(name);
    if (knob == nullptr) return std::nullopt;
    // `live_trial` compares the environment variables with the baseline's.
    if (knob->in_environment()) continue;
    if (!knob->switchable) return std::nullopt;
    knobs.insert_or_assign(name, value);
  }
  return knobs;
}

/// Returns all variables of a command, without the knobs that the hook sets inside the program.
std::map<std::string, std::string> variables_of(const RenderedCommand& command) {
  PythonHookRequest request = *command.hook;
  std::erase_if(request.knobs, [](const auto& knob) {
    const Knob* known = find_python_knob(knob.first);
    return known != nullptr && !known->in_environment();
  });
  std::map<std::string, std::string> variables = command.environment;
  variables.merge(hook_variables(request));
  return variables;
}

/// Returns the baseline's seconds per sample, the unit for trials in turns with it. If the rate of
/// its steps is unknown, returns the rate with phases; nullopt if that is unknown, too.
std::optional<double> level_of(const Measurement& baseline) {
  for (const double rate : {baseline.step_seconds_per_sample, baseline.seconds_per_sample}) {
    if (std::isfinite(rate)) return rate;
  }
  return std::nullopt;
}

std::optional<LiveTrial> live_trial(const StudySpec& study, const TrialRecord& trial,
                                    const RenderedCommand& command, const TrialRecord* baseline) {
  if (study.trials != TrialsIn::attached || !command.hook) return std::nullopt;
  const RenderedCommand usual =
      render_command(study, study.baseline, trial_config_paths(study, trial.log_path));
  if (usual.argv != command.argv || variables_of(usual) != variables_of(command) ||
      !same_config_files(study, study.baseline, trial.configuration)) {
    return std::nullopt;
  }
  const auto knobs = switchable_knobs(*command.hook);
  const auto usual_knobs = switchable_knobs(*usual.hook);
  if (!knobs || !usual_knobs) return std::nullopt;
  LiveTrial live{*knobs, *usual_knobs, std::nullopt, command.hook->samples_per_step};
  // Confirming runs already take turns, one run of each side.
  if (!is_confirmation(trial.purpose) && baseline != nullptr && baseline->measurement) {
    live.baseline_seconds_per_sample = level_of(*baseline->measurement);
  }
  return live;
}

/// Asks all processes to report if there are at most `k_most_ranks`. Each process prints a few
/// lines a second. So if there are more processes, only rank 0 reports.
void make_all_ranks_report(const Launch& launch, std::map<std::string, std::string>& environment) {
  const int processes = launch.processes();
  if (processes < 2 || processes > k_most_ranks) return;
  environment.emplace("STEPTUNE_ALL_RANKS", "1");
}

}  // namespace

TrialSpec make_trial_spec(const StudySpec& study, const TrialRecord& trial,
                          const TrialRecord* baseline) {
  RenderedCommand command =
      render_command(study, trial.configuration, trial_config_paths(study, trial.log_path));
  const auto live = live_trial(study, trial, command, baseline);
  TrialSpec spec;
  spec.key = {trial.number, trial.attempt};
  spec.study = study.name;
  spec.configuration = trial.configuration;
  spec.argv = std::move(command.argv);
  spec.environment = std::move(command.environment);
  if (!study.runner->traits().sees_files) {
    spec.files = carried_config_files(study, trial.configuration);
  }
  spec.launch = command.launch;
  if (command.launch) make_all_ranks_report(*command.launch, spec.environment);
  spec.live = live;
  if (study.trials == TrialsIn::forked && !is_confirmation(trial.purpose))
    spec.forked_modules.emplace();
  if (command.hook) {
    if (study.runner->traits().sees_files) command.hook->events = hook_events_path(trial);
    set_hook_variables(*command.hook, spec.environment);
    // If the hook is missing, the trial fails because it reports nothing.
    spec.python_path = python_hook_folder().value_or(std::filesystem::path());
    // An unmodified program keeps the thread counts that it finds.
    spec.set_thread_counts = false;
  }
  spec.working_directory = study.working_directory;
  spec.log_path = trial.log_path;
  spec.terminal = study.terminal;
  spec.standard_input = study.standard_input;
  spec.report_format = study.report_format;
  spec.report_format.samples_per_step = samples_per_count(study, trial.configuration);
  spec.resources = study.runner->resources_of(trial.configuration);
  spec.limits = study.limits;
  spec.page_cache = study.measure.cache;
  spec.data = study.measure.data;
  return spec;
}

std::filesystem::path hook_events_path(const TrialRecord& trial) {
  if (trial.log_path.empty()) return {};
  std::filesystem::path path = trial.log_path;
  return path += ".hook";
}

std::string study_identity(const StudyRecord& study) {
  return fmt::format("{}@{:.6f}", study.name, study.created_wall_s);
}

std::filesystem::path trial_log_path(const std::filesystem::path& log_directory,
                                     std::int64_t number, int attempt) {
  return log_directory / (attempt == 1 ? fmt::format("trial-{}.log", number)
                                       : fmt::format("trial-{}.{}.log", number, attempt));
}

}  // namespace steptune
