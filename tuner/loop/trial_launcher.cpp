// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_launcher.hpp"

#include <algorithm>
#include <utility>

#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/next_trial.hpp"
#include "tuner/loop/study_decisions.hpp"

namespace steptune {
namespace {

/// True if this configuration has no confirming run yet.
bool is_first_of_finalist(const TrialRecord& trial, const Standing& standing) {
  return trial.purpose == TrialPurpose::confirm_incumbent &&
         std::ranges::none_of(standing.trials(), [&](const TrialRecord& other) {
           return other.purpose == trial.purpose && other.configuration == trial.configuration;
         });
}

}  // namespace

bool TrialLauncher::takes_another() const {
  const MachineHolder& machines = run_->machines;
  const std::size_t running = run_->running.size();
  if (!machines.holds_machines() || run_->standing().baseline() == nullptr) {
    return running < static_cast<std::size_t>(run_->parts.runner.capacity());
  }
  if (run_->parts.searcher.learns()) return machines.open_places() > 0;
  return running < static_cast<std::size_t>(machines.backlog());
}

Result<void> TrialLauncher::launch(TrialRecord trial, int search_round) {
  const Standing& standing = run_->standing();
  if (search_round == 0) trial = run_->with_machine_level(std::move(trial));
  trial.status = TrialStatus::launching;
  log_launch(trial);
  if (is_first_of_finalist(trial, standing)) {
    run_->recorder.decided(finalist_decision(trial, standing));
  }
  run_->put(trial);
  if (const auto further = further_trials()) run_->machines.expect_at_most(*further);
  TrialTargets targets = targets_now(trial, search_round);
  return run_->running.launch(std::move(trial), std::move(targets));
}

Result<void> TrialLauncher::launch_beside(int round) {
  if (auto launched = launch_rest_of_round(round); !launched) return launched;
  return launch_more_rounds();
}

Result<void> TrialLauncher::launch_rest_of_round(int round) {
  while (run_->interleaves()) {
    auto next = next_confirmation(*run_);
    if (!next || next->confirm_pair != round) break;
    if (auto launched = launch(*std::move(next)); !launched) return launched;
  }
  return {};
}

Result<void> TrialLauncher::launch_more_rounds() {
  const int in_turn = run_->machines.trials_in_turn();
  // If each run starts its own machine, or shares this machine, launch it only when it is certainly
  // needed.
  if (in_turn == 1) return {};
  const StudySpec& study = run_->parts.study;
  const Resources of_baseline = study.runner->resources_of(study.baseline);
  bool apart = false;
  // Launch the usual number of rounds at once. If the claim needs more rounds, launch them after
  // the usual rounds.
  while (run_->can_pay_another()) {
    auto next = next_confirmation(*run_);
    if (!next || next->confirm_pair > std::max(1, study.measure.confirm_pairs)) break;
    apart = apart || study.runner->resources_of(next->configuration) != of_baseline;
    // If all runs can use one machine, they follow each other there without another start. If runs
    // need different machines, each machine is started once for all rounds, not once for each
    // round.
    const int most = apart ? run_->machines.backlog() : in_turn;
    if (run_->running.size() >= static_cast<std::size_t>(most)) break;
    if (auto launched = launch(*std::move(next)); !launched) return launched;
  }
  return {};
}

std::optional<std::int64_t> TrialLauncher::further_trials() const {
  const StudySpec& study = run_->parts.study;
  std::int64_t searched = 0;
  std::int64_t confirmed = 0;
  for (const TrialRecord& trial : run_->standing().trials()) {
    if (is_confirmation(trial.purpose)) ++confirmed;
    if (is_compared(trial.purpose)) ++searched;
  }
  const std::int64_t confirmations =
      std::max<std::int64_t>(0, std::int64_t{2} * study.measure.confirm_pairs - confirmed);
  const auto again = static_cast<std::int64_t>(pending_->size());
  // Only the fresh runs themselves show how many of them a claim needs.
  if (run_->end && next_confirmation(*run_)) return std::nullopt;
  if (run_->end) return again + confirmations;
  if (!study.budget.trials) return std::nullopt;
  return again + confirmations + std::max<std::int64_t>(0, *study.budget.trials - searched);
}

TrialTargets TrialLauncher::targets_now(const TrialRecord& trial, int search_round) const {
  const LoopParts& parts = run_->parts;
  LaunchState state{.study = parts.study,
                    .standing = run_->standing(),
                    .spending = run_->spending(),
                    .now_s = parts.clock.now_s(),
                    .elapsed_s = run_->stopwatch.elapsed_s(),
                    .interleaves = run_->interleaves(),
                    .one_at_a_time = run_->runs_one_at_a_time(),
                    .search_round = search_round};
  if (is_confirmation(trial.purpose)) {
    state.runs_left_in_round = run_->confirmation().runs_left_in_round(trial);
    const bool is_adopted = trial.status == TrialStatus::running;
    if (is_adopted) {
      state.ran_s = std::max(0.0, parts.clock.wall_time_s() - trial.started_wall_s);
    }
  }
  return targets_of(trial, state);
}

}  // namespace steptune
