// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/null_studies/simulated_studies.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "benchmarks/null_studies/neighbours.hpp"
#include "benchmarks/null_studies/shared_machine_runner.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "trial_runner/replay/replay_runner.hpp"

namespace steptune::null_studies {
namespace {

constexpr std::int64_t k_fast = 5;

constexpr const char* k_document = R"({
  "name": "simulated",
  "command": ["train", "{x}"],
  "parameters": {"x": {"type": "int", "low": 1, "high": 8}},
  "baseline": {"x": 1},
  "planned_run": {"samples": 1e6, "batch_size": 1},
  "objectives": ["time"],
  "search": {"searcher": "grid", "scheduler": "asha"},
  "runner": {"type": "local"}
})";

double true_speed_up(const Program& program, const Configuration& configuration) {
  if (configuration.find("x") == nullptr) return 1.0;
  const double x = to_number(*configuration.find("x"));
  if (!program.speeds.empty()) return program.speeds.at(static_cast<std::size_t>(x) - 1);
  return x == k_fast ? program.speed_up : 1.0;
}

/// Returns the model of the program's speed. Each launch is slower than the one before it by
/// `Machine::drift_per_run`.
ReplayModel model_of(const Machine& machine, const Program& program, const Clock& clock) {
  return [machine, program, &clock, launches = 0.0](
             const TrialSpec& spec) mutable -> tl::expected<ReplayBehaviour, std::string> {
    ReplayBehaviour behaviour;
    behaviour.seconds_per_sample = program.step_s / true_speed_up(program, spec.configuration) *
                                   std::pow(1.0 + machine.drift_per_run, launches);
    if (machine.slowness) behaviour.seconds_per_sample *= machine.slowness(clock.now_s());
    launches += 1.0;
    return behaviour;
  };
}

/// Makes the runner of the study: `ReplayRunner` for a machine without neighbours and turns,
/// otherwise `SharedMachineRunner`.
std::unique_ptr<Runner> runner_of(const Machine& machine, VirtualClock& clock, ReplayModel model,
                                  const ReplayOptions& options) {
  if (machine.neighbours == 0 && !machine.in_turns) {
    return std::make_unique<ReplayRunner>(clock, std::move(model), options);
  }
  return std::make_unique<SharedMachineRunner>(
      clock, std::move(model), options,
      Neighbours(machine.neighbours, machine.neighbour_slowness, options.seed), machine.in_turns);
}

/// Returns `Outcome::finalist`.
std::optional<ConfirmedFinalist> finalist_of(const Program& program, const Recommendation& found,
                                             const std::vector<TrialRecord>& trials) {
  const FinalistResult* chosen = nullptr;
  for (const FinalistResult& finalist : found.finalists) {
    if (finalist.speed_up.pairs == 0) continue;
    const bool is_recommended = finalist.trial == found.incumbent_trial;
    if (chosen == nullptr || is_recommended || finalist.speed_up.pairs > chosen->speed_up.pairs) {
      chosen = &finalist;
    }
    if (is_recommended) break;
  }
  if (chosen == nullptr) return std::nullopt;
  const auto trial = std::ranges::find(trials, chosen->trial, &TrialRecord::number);
  if (trial == trials.end()) return std::nullopt;
  return ConfirmedFinalist{chosen->speed_up, true_speed_up(program, trial->configuration)};
}

}  // namespace

Result<Outcome> run_study(const Machine& machine, const Program& program, const Json& budget,
                          std::uint64_t seed, const std::filesystem::path& folder,
                          const Json& measure) {
  auto document = parse_json(k_document, "simulated study");
  if (!document) return tl::unexpected(document.error());
  (*document)["budget"] = budget;
  (*document)["measure"] = measure;
  (*document)["search"]["searcher"] = program.searcher;
  (*document)["search"]["worth"] = program.worth;
  if (program.ends_after_steps > 0.0) (*document)["planned_run"].erase("samples");
  if (!program.speeds.empty()) (*document)["parameters"]["x"]["high"] = program.speeds.size();
  const auto study = study_from_json(*document, "/studies/simulated.json",
                                     {{"cpus", 1}, {"gpus", 0}, {"memory_gb", 16}});
  if (!study) return tl::unexpected(study.error());
  VirtualClock clock;
  auto history = History::open_for_writing(folder / "history.db", clock);
  if (!history) return tl::unexpected(history.error());
  SearcherOptions searcher_options;
  searcher_options.objectives = {ObjectiveTraits{true}};
  const bool is_ordered = program.speeds.empty() && program.searcher == "grid";
  if (!is_ordered) searcher_options.seed = seed;
  auto searcher = make_searcher(study->search.searcher, study->space, searcher_options);
  if (!searcher) return tl::unexpected(searcher.error());
  auto scheduler = make_scheduler(study->search.scheduler, {});
  if (!scheduler) return tl::unexpected(scheduler.error());
  ReplayOptions options;
  options.seed = seed;
  options.startup_s = program.startup_s;
  if (program.ends_after_steps > 0.0) options.steps = program.ends_after_steps;
  options.noise.step = machine.step_noise;
  options.noise.run = machine.launch_variation;
  options.noise.warmup_steps = machine.warmup_steps;
  options.noise.stall_period_steps = machine.stall_period_steps;
  options.noise.stall_steps = machine.stall_steps;
  const auto runner = runner_of(machine, clock, model_of(machine, program, clock), options);
  LoopListener listener;
  const auto result = run_loop(
      {*study, **searcher, **scheduler, *runner, *history, clock, listener, folder / "logs", {}});
  if (!result) return tl::unexpected(result.error());
  if (!result->recommendation) {
    return fail(ErrorKind::internal, "a simulated study has no result: " + result->reason);
  }
  const auto record = history->study("simulated");
  if (!record) return tl::unexpected(record.error());
  const auto trials = history->trials(record->id);
  if (!trials) return tl::unexpected(trials.error());
  const Recommendation& found = *result->recommendation;
  Outcome outcome{found.claim, found.speed_up, true_speed_up(program, found.configuration),
                  record->elapsed_s, static_cast<std::int64_t>(trials->size())};
  for (const TrialRecord& trial : *trials) {
    if (trial.purpose == TrialPurpose::sentinel) ++outcome.sentinels;
    if (!is_compared(trial.purpose)) continue;
    ++outcome.searched;
    outcome.searched_s += trial.spent_s;
  }
  const MachineDrift drift = Standing(ranking_rules(*study), *trials).drift();
  outcome.reports_drift = drift.is_significant();
  outcome.finalist = finalist_of(program, found, *trials);
  return outcome;
}

}  // namespace steptune::null_studies
