// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_spec.hpp"

#include <fmt/format.h>

namespace steptune {

TrialSpec make_trial_spec(const StudySpec& study, const TrialRecord& trial) {
  RenderedCommand command = render_command(study, trial.configuration);
  TrialSpec spec;
  spec.key = {trial.number, trial.attempt};
  spec.study = study.name;
  spec.configuration = trial.configuration;
  spec.argv = std::move(command.argv);
  spec.environment = std::move(command.environment);
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

std::string study_identity(const StudyRecord& study) {
  return fmt::format("{}@{:.6f}", study.name, study.created_wall_s);
}

std::filesystem::path trial_log_path(const std::filesystem::path& log_directory,
                                     std::int64_t number, int attempt) {
  return log_directory / (attempt == 1 ? fmt::format("trial-{}.log", number)
                                       : fmt::format("trial-{}.{}.log", number, attempt));
}

}  // namespace steptune
