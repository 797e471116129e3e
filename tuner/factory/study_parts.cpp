// SPDX-License-Identifier: Apache-2.0
#include "tuner/factory/study_parts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/units.hpp"
#include "search/searcher.hpp"
#include "trial_runner/forked/forked_runner.hpp"
#include "tuner/knobs/first_guesses.hpp"
#include "tuner/study/scaling_search.hpp"

namespace steptune {

namespace {

std::vector<ObjectiveTraits> traits_of(const std::vector<Objective>& objectives) {
  std::vector<ObjectiveTraits> traits;
  for (const Objective& objective : objectives)
    traits.push_back({objective.is_timed()});
  return traits;
}

int fact_of(const StudySpec& study, const char* name) {
  const auto fact = study.facts.find(name);
  return fact == study.facts.end() ? 0 : static_cast<int>(fact->second);
}

std::unique_ptr<Searcher> with_study_guesses(std::unique_ptr<Searcher> searcher,
                                             const StudySpec& study) {
  if (study.search.searcher == "grid" || study.search.searcher == "scaling") return searcher;
  const int cpus = std::max(1, fact_of(study, "cpus"));
  const int gpus = fact_of(study, "gpus");
  // Rented machines cannot be inspected; assume that their GPUs compute bfloat16.
  GuessMachine machine = study.runner->traits().uses_this_machine
                             ? guess_machine(SystemFiles{}, cpus, gpus)
                             : GuessMachine{cpus, gpus, gpus > 0};
  const auto memory_gb = study.facts.find("memory_gb");
  if (memory_gb != study.facts.end()) machine.memory_bytes = k_gib_bytes * memory_gb->second;
  return with_first_guesses(std::move(searcher), study.space, study.baseline, machine,
                            traits_of(study.objectives), study.parameter_roles);
}

}  // namespace

Result<std::unique_ptr<Searcher>> make_study_searcher(const StudySpec& study, bool guesses) {
  const auto scaling = scaling_search(study);
  if (!scaling) return tl::unexpected(scaling.error());
  SearcherOptions options;
  options.scaling = *scaling;
  options.seed = study.search.seed;
  options.initial_points = study.search.initial_points;
  options.objectives = traits_of(study.objectives);
  for (const document::Formula& term : study.search.memory_terms) {
    options.memory_terms.emplace_back(
        [term](const Configuration& configuration) { return term.evaluate(configuration); });
  }
  // If trials run one at a time, the machine is free while the searcher computes. The machine is
  // not free with several trials, or beside a program that keeps running.
  const auto cpus = study.facts.find("cpus");
  const RunnerTraits& traits = study.runner->traits();
  const bool is_free = traits.parallel == 1 && study.trials != TrialsIn::attached;
  if (traits.uses_this_machine && is_free && cpus != study.facts.end() && cpus->second > 1.0) {
    options.threads = static_cast<int>(cpus->second);
  }
  auto searcher = make_searcher(study.search.searcher, study.space, options);
  if (!searcher || !study.search.first_guesses.value_or(guesses)) return searcher;
  return with_study_guesses(*std::move(searcher), study);
}

Result<std::unique_ptr<Scheduler>> make_study_scheduler(const StudySpec& study) {
  return make_scheduler(study.search.scheduler,
                        {study.search.eta, study.search.min_steps, study.search.max_steps});
}

Error run_is_over(const std::string& study) {
  return {
      ErrorKind::usage,
      fmt::format("the trials of study \"{}\" were part of one long run, which has ended", study),
      "",
      fmt::format("use its result: 'steptune exec {} -- COMMAND'; or tune the next long run: "
                  "'steptune exec --tune --new -- COMMAND'",
                  study)};
}

Result<StudyParts> make_study_parts(const StudySpec& study, const Clock& system_clock) {
  if (study.trials == TrialsIn::attached) return tl::unexpected(run_is_over(study.name));
  StudyParts parts;
  auto searcher = make_study_searcher(study);
  if (!searcher) return tl::unexpected(searcher.error());
  parts.searcher = std::move(*searcher);
  auto scheduler = make_study_scheduler(study);
  if (!scheduler) return tl::unexpected(scheduler.error());
  parts.scheduler = std::move(*scheduler);
  auto runner = study.runner->make(system_clock, study.search.seed);
  if (!runner) return tl::unexpected(runner.error());
  parts.runner = std::move(*runner);
  if (study.trials == TrialsIn::forked) {
    parts.runner.runner = make_forked_runner(*parts.runner.clock, std::move(parts.runner.runner));
  }
  return parts;
}

}  // namespace steptune
