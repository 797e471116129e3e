// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/trial_command.hpp"

#include <string>
#include <utility>

#include "trial_runner/launch/launch_words.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

RenderedCommand measured_command(const StudySpec& spec, const TrialRecord& trial,
                                 const document::NamedTexts& copies) {
  RenderedCommand command = render_command(spec, trial.configuration, copies);
  if (command.launch) command.argv = typed_words(*command.launch, std::move(command.argv));
  for (const auto& [name, value] : trial.placement) {
    if (name.ends_with("_NUM_THREADS")) command.environment.emplace(name, value);
  }
  return command;
}

TrialCommand trial_command(const StudyRecord& study, const StudySpec& spec,
                           const TrialRecord& trial, const std::filesystem::path& database) {
  RenderedCommand rendered = measured_command(spec, trial);
  if (rendered.needs_hook() || !spec.config_files.empty()) {
    // `exec` loads the hook for settings that only the hook can apply. `exec` also writes the
    // copies of configuration files again, because the trial's copies may be gone.
    std::vector<std::string> argv{"steptune", "exec", study.name, "--trial",
                                  std::to_string(trial.number)};
    const auto stored = std::filesystem::absolute(database).lexically_normal();
    if (stored != (spec.working_directory / k_default_database).lexically_normal()) {
      argv.insert(argv.end(), {"--db", stored.string()});
    }
    return {std::move(argv), {}, spec.working_directory};
  }
  return {std::move(rendered.argv), std::move(rendered.environment), spec.working_directory};
}

Result<TrialCommand> trial_command(const StudyRecord& study, const TrialRecord& trial,
                                   const std::filesystem::path& database) {
  const auto spec = stored_spec(study);
  if (!spec) return tl::unexpected(spec.error());
  return trial_command(study, *spec, trial, database);
}

}  // namespace steptune
