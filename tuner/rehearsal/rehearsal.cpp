// SPDX-License-Identifier: Apache-2.0
#include "tuner/rehearsal/rehearsal.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <stdlib.h>

#include "common/text.hpp"
#include "trial_runner/rehearsal_stage.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune {
namespace {

/// A folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code missing;
    std::string name = (std::filesystem::temp_directory_path(missing) / "steptune-XXXXXX").string();
    if (!missing && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Returns the configuration with these values of parameters, which are texts as on a command line.
Configuration configuration_of(const StudySpec& study,
                               const std::map<std::string, std::string>& values) {
  Configuration configuration;
  for (const Parameter& parameter : study.space.parameters()) {
    const auto found = values.find(parameter.name);
    if (found == values.end()) continue;
    const std::string& text = found->second;
    if (parameter.kind == ParameterKind::integer) {
      const auto number = parse_finite(text);
      if (number) configuration.set(parameter.name, static_cast<std::int64_t>(*number));
    } else if (parameter.kind == ParameterKind::floating) {
      if (const auto number = parse_finite(text)) configuration.set(parameter.name, *number);
    } else if (parameter.kind == ParameterKind::boolean) {
      configuration.set(parameter.name, text == "true");
    } else {
      const auto choice = std::ranges::find_if(
          parameter.choices, [&](const Value& value) { return to_text(value) == text; });
      if (choice != parameter.choices.end()) configuration.set(parameter.name, *choice);
    }
  }
  return configuration;
}

SimulatedTraining training_of(const StudySpec& study, const SpeedModel& speed,
                              const std::map<std::string, std::string>& values) {
  const Configuration configuration = configuration_of(study, values);
  const AssumedSpeed assumed = speed(configuration);
  SimulatedTraining training;
  training.startup_s = assumed.startup_s;
  training.samples_per_step = samples_per_step(study, configuration).value_or(1.0);
  training.step_s = assumed.seconds_per_sample * training.samples_per_step;
  return training;
}

class Warnings final : public LoopListener {
 public:
  void on_warning(const std::string& message) override { of_study.push_back(message); }
  void on_trial_warning(std::int64_t /*trial*/, const std::string& message) override {
    of_trials.push_back(message);
  }
  std::vector<std::string> of_study;
  std::vector<std::string> of_trials;
};

}  // namespace

Result<RehearsedTuning> rehearse_tuning(const StudySpec& study, const SpeedModel& speed,
                                        std::uint64_t seed, double wall_time_s) {
  const auto stage = study.runner->rehearse(
      {seed, wall_time_s, [&](const auto& values) { return training_of(study, speed, values); }});
  if (stage == nullptr) {
    return fail(
        ErrorKind::usage,
        fmt::format("the runner \"{}\" has no simulated provider: its trials cannot be rehearsed",
                    study.runner->kind().name()),
        study.file.string(), "'steptune check' shows what would run");
  }
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    return fail(ErrorKind::runner, "no temporary folder can be made for the rehearsal", {},
                "set TMPDIR to a folder that can be written");
  }
  auto searcher = make_study_searcher(study);
  if (!searcher) return tl::unexpected(searcher.error());
  auto scheduler = make_study_scheduler(study);
  if (!scheduler) return tl::unexpected(scheduler.error());
  const Clock& clock = stage->clock();
  auto history = History::open_for_writing(folder.path() / "history.db", clock);
  if (!history) return tl::unexpected(history.error());
  Warnings warnings;
  // Simulated programs have no hook, and the rehearsal's history has no earlier studies.
  StudySpec simulated = study;
  simulated.hooks.python.reset();
  simulated.search.learn_from.clear();
  const auto result = run_loop({simulated, **searcher, **scheduler, stage->runner(), *history,
                                clock, warnings, folder.path() / "logs", nullptr});
  if (!result) return tl::unexpected(result.error());

  RehearsedTuning tuning;
  tuning.duration_s = clock.now_s();
  tuning.warnings = warnings.of_study;
  if (result->end == LoopEnd::too_many_failures || result->end == LoopEnd::no_feasible_trial) {
    tuning.warnings.push_back("the tuning has no result: " + result->reason);
  }
  tuning.trial_warnings = warnings.of_trials;
  if (result->recommendation) tuning.recommended = result->recommendation->configuration;
  const auto record = history->study(study.name);
  if (!record) return tl::unexpected(record.error());
  const auto trials = history->trials(record->id);
  if (!trials) return tl::unexpected(trials.error());
  tuning.trials = static_cast<int>(trials->size());
  tuning.counted_usd = record->overhead_usd;
  for (const TrialRecord& trial : *trials) {
    tuning.counted_usd += trial.spent_usd;
    if (is_confirmation(trial.purpose)) tuning.confirming.push_back(trial);
  }
  tuning.bill = stage->settle();
  return tuning;
}

}  // namespace steptune
