// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/study_parts.hpp"

#include <fmt/format.h>

#include "trial_runner/local/local_runner.hpp"
#include "trial_runner/replay/replay_runner.hpp"

namespace steptune {
namespace {

Result<std::unique_ptr<Searcher>> searcher_of(const StudySpec& study) {
  SearcherOptions options;
  options.seed = study.search.seed;
  options.initial_points = study.search.initial_points;
  options.objectives.clear();
  for (const Objective& objective : study.objectives) {
    options.objectives.push_back({objective.is_time() || objective.is_cost()});
  }
  // One trial at a time leaves the machine to the searcher while it thinks; several do not.
  const auto cpus = study.facts.find("cpus");
  if (study.runner.parallel == 1 && cpus != study.facts.end() && cpus->second > 1.0) {
    options.threads = static_cast<int>(cpus->second);
  }
  return make_searcher(study.search.searcher, study.space, options);
}

Result<std::unique_ptr<Runner>> local_runner_of(const StudySpec& study, const Clock& clock) {
  LocalRunnerOptions options;
  options.parallel = study.runner.parallel;
  options.cpus_per_trial = study.runner.cpus_per_trial;
  options.gpus_per_trial = study.runner.gpus_per_trial;
  options.pin = study.runner.pin;
  return make_local_runner(clock, std::move(options));
}

/// The synthetic model of a study: an expression over parameters and facts.
Result<ReplayModel> synthetic_model_of(const StudySpec& study) {
  std::vector<std::string> names;
  for (const Parameter& parameter : study.space.parameters())
    names.push_back(parameter.name);
  auto expression =
      Expression::compile(study.runner.replay.seconds_per_sample.value_or("0"), names, study.facts);
  if (!expression) return tl::unexpected(expression.error());
  return synthetic_replay_model(
      [expression = std::move(*expression)](const Configuration& configuration) {
        return std::optional(expression.evaluate(configuration));
      });
}

Result<std::unique_ptr<Runner>> replay_runner_of(const StudySpec& study, VirtualClock& clock) {
  const ReplaySpec& replay = study.runner.replay;
  auto model = replay.table.empty() ? synthetic_model_of(study)
                                    : table_replay_model(replay.table, replay.objective_column);
  if (!model) return tl::unexpected(model.error());
  ReplayOptions options;
  options.parallel = study.runner.parallel;
  options.seed = study.search.seed;
  options.startup_s = replay.startup_s;
  options.noise.step = replay.noise;
  return std::make_unique<ReplayRunner>(clock, std::move(*model), std::move(options));
}

}  // namespace

Result<StudyParts> make_study_parts(const StudySpec& study, const Clock& system_clock) {
  StudyParts parts;
  parts.clock = &system_clock;
  auto searcher = searcher_of(study);
  if (!searcher) return tl::unexpected(searcher.error());
  parts.searcher = std::move(*searcher);
  auto scheduler = make_scheduler(
      study.search.scheduler, {study.search.eta, study.search.min_steps, study.search.max_steps});
  if (!scheduler) return tl::unexpected(scheduler.error());
  parts.scheduler = std::move(*scheduler);
  if (study.runner.type == "sagemaker") {
    return fail(ErrorKind::runner, "this build cannot run SageMaker studies, only check them",
                study.file.string(), "give another runner to tune elsewhere");
  }
  if (study.runner.type == "replay") {
    parts.virtual_clock = std::make_unique<VirtualClock>(system_clock.wall_time_s());
    parts.clock = parts.virtual_clock.get();
  }
  auto runner = parts.virtual_clock ? replay_runner_of(study, *parts.virtual_clock)
                                    : local_runner_of(study, system_clock);
  if (!runner) return tl::unexpected(runner.error());
  parts.runner = std::move(*runner);
  return parts;
}

}  // namespace steptune
