// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_spec.hpp"

#include <fmt/format.h>

#include "trial_runner/hooks/pytorch_hook.hpp"

namespace steptune {

TrialSpec make_trial_spec(const StudySpec& study, const TrialRecord& trial) {
  RenderedCommand command = render_command(study, trial.configuration);
  TrialSpec spec;
  spec.key = {trial.number, trial.attempt};
  spec.study = study.name;
  spec.configuration = trial.configuration;
  spec.argv = std::move(command.argv);
  spec.environment = std::move(command.environment);
  if (command.hook) {
    command.hook->events = hook_events_path(trial);
    for (auto& [name, text] : hook_variables(*command.hook))
      spec.environment.insert_or_assign(name, text);
    // Where the hook is missing, the trial fails for not having told anything.
    spec.python_path = pytorch_hook_folder().value_or(std::filesystem::path());
    // What is tuned as it is keeps the thread counts that it finds.
    spec.set_thread_counts = false;
  }
  spec.working_directory = study.working_directory;
  spec.log_path = trial.log_path;
  spec.report_format = study.report_format;
  spec.report_format.samples_per_step = samples_per_step(study, trial.configuration);
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
