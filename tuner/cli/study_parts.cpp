// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/study_parts.hpp"

#include <fmt/format.h>

#include "search/searchers/background_searcher.hpp"
#include "trial_runner/local/local_runner.hpp"
#include "trial_runner/replay/replay_runner.hpp"
#include "tuner/cli/sagemaker_parts.hpp"

namespace steptune {
Result<std::unique_ptr<Searcher>> make_study_searcher(const StudySpec& study) {
  SearcherOptions options;
  options.seed = study.search.seed;
  options.initial_points = study.search.initial_points;
  options.objectives.clear();
  for (const Objective& objective : study.objectives) {
    options.objectives.push_back({objective.is_time() || objective.is_cost()});
  }
  // One trial at a time leaves the machine to the searcher while it thinks; several do not.
  const auto cpus = study.facts.find("cpus");
  const bool here = study.runner.cluster.instances.empty();
  if (here && study.runner.parallel == 1 && cpus != study.facts.end() && cpus->second > 1.0) {
    options.threads = static_cast<int>(cpus->second);
  }
  return make_searcher_in_background(study.search.searcher, study.space, options);
}

Result<std::unique_ptr<Scheduler>> make_study_scheduler(const StudySpec& study) {
  return make_scheduler(study.search.scheduler,
                        {study.search.eta, study.search.min_steps, study.search.max_steps});
}

namespace {

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
  return synthetic_replay_model(
      [formula = study.runner.replay.seconds_per_sample](const Configuration& configuration) {
        return formula ? std::optional(formula->evaluate(configuration)) : std::nullopt;
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

/// Also makes what the runner stands on.
Result<std::unique_ptr<Runner>> runner_of(const StudySpec& study, const Clock& system_clock,
                                          StudyParts& parts) {
  if (study.runner.type == "replay") {
    parts.virtual_clock = std::make_unique<VirtualClock>(system_clock.wall_time_s());
    parts.clock = parts.virtual_clock.get();
    return replay_runner_of(study, *parts.virtual_clock);
  }
  if (study.runner.type == "sagemaker") {
    auto session = aws::Session::open(system_clock, aws::wait_in_real_time(system_clock),
                                      study.runner.sagemaker.region);
    if (!session) return tl::unexpected(session.error());
    parts.session = *std::move(session);
    return connect_sagemaker_runner(study, system_clock, *parts.session);
  }
  return local_runner_of(study, system_clock);
}

}  // namespace

Result<StudyParts> make_study_parts(const StudySpec& study, const Clock& system_clock) {
  StudyParts parts;
  parts.clock = &system_clock;
  auto searcher = make_study_searcher(study);
  if (!searcher) return tl::unexpected(searcher.error());
  parts.searcher = std::move(*searcher);
  auto scheduler = make_study_scheduler(study);
  if (!scheduler) return tl::unexpected(scheduler.error());
  parts.scheduler = std::move(*scheduler);
  auto runner = runner_of(study, system_clock, parts);
  if (!runner) return tl::unexpected(runner.error());
  parts.runner = std::move(*runner);
  return parts;
}

}  // namespace steptune
