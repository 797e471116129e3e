// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/ended_trials.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/verdict/counted_runs.hpp"
#include "tuner/verdict/launch_variation.hpp"

namespace steptune {

Result<void> EndedTrials::add(const TrialRecord& trial) {
  log_ended(trial);
  const Standing& standing = run_->standing();
  run_->waits_for_results = false;
  const bool drifted = standing.drift().is_significant();
  run_->put(trial);
  update_scheduler(trial);
  if (!is_final(trial.status)) {
    report_interleaving_failed(trial);
    pending_->on_interrupted(trial);
    run_->parts.listener.on_trial_ended(trial, standing);
    return {};
  }
  conclude_from(trial);
  observe(trial, standing.launches());
  count_failures(trial);
  if (trial.purpose == TrialPurpose::baseline) check_baseline(trial);
  if (auto kept = run_->recorder.keep_decisions(); !kept) return kept;
  run_->parts.listener.on_trial_ended(trial, standing);
  warnings_.of_ended(trial);
  if (!drifted) warnings_.of_drift(standing.drift());
  if (refutes(trial)) warnings_.of_refuted(trial);
  return {};
}

void EndedTrials::learn_from(std::vector<const TrialRecord*> ended, bool counts_failures) {
  // Trials that run one at a time end in the order of their numbers, even if the clock was changed.
  const bool one_at_a_time = run_->runs_one_at_a_time();
  std::ranges::sort(ended, {}, [&](const TrialRecord* trial) {
    return std::tuple(one_at_a_time ? 0.0 : trial->ended_wall_s, trial->number);
  });
  // Give each trial to the searcher with the launch variation that was known at the trial's end.
  Standing growing(ranking_rules(run_->parts.study));
  for (const TrialRecord* trial : ended) {
    growing.put(*trial);
    observe(*trial, growing.launches());
    update_scheduler(*trial);
    if (counts_failures) count_failures(*trial);
  }
}

void EndedTrials::report_interleaving_failed(const TrialRecord& trial) {
  if (!run_->running.interleaving_failed() || std::exchange(warned_of_interleaving_, true)) return;
  run_->announce({.kind = "interleave",
                  .trial = trial.number,
                  .text = fmt::format(
                      "confirming runs are measured one after another from now on: trial {}: {}",
                      trial.number, trial.failure)});
}

void EndedTrials::conclude_from(const TrialRecord& trial) {
  Recorder& recorder = run_->recorder;
  if (trial.purpose == TrialPurpose::sentinel) {
    recorder.decided(drift_decision(trial, run_->standing().drift()));
  }
  if (!is_confirmation(trial.purpose)) return;
  for (const Finalist& finalist : run_->confirmation().finalists()) {
    const bool judged = std::ranges::any_of(finalist.pairs, [&](const RunPair& pair) {
      return pair.incumbent->number == trial.number || pair.baseline->number == trial.number;
    });
    if (judged || (refutes(trial) && finalist.configuration == trial.configuration)) {
      recorder.decided(judged_decision(trial, finalist));
    }
  }
  if (refutes(trial)) recorder.decided(excluded_decision(trial));
}

void EndedTrials::observe(const TrialRecord& trial, const LaunchVariation& launches) {
  if (!is_compared(trial.purpose)) return;
  run_->parts.searcher.observe(to_observation(run_->parts.study, trial, launches));
}

void EndedTrials::update_scheduler(const TrialRecord& trial) {
  Scheduler& scheduler = run_->parts.scheduler;
  scheduler.forget(trial.number);
  for (const TrialEstimate& estimate : compared_estimates(run_->parts.study, trial))
    scheduler.on_exempt(estimate);
}

void EndedTrials::count_failures(const TrialRecord& trial) {
  if (!is_compared(trial.purpose) || trial.status == TrialStatus::out_of_memory) return;
  if (trial.status != TrialStatus::failed) {
    failures_in_a_row_ = 0;
    return;
  }
  ++failures_in_a_row_;
  last_failure_ = fmt::format("({}): {}", trial.configuration.text(), trial.failure);
}

std::optional<SearchEnd> EndedTrials::too_many_failures() const {
  if (failures_in_a_row_ < run_->parts.study.budget.consecutive_failures) return std::nullopt;
  return SearchEnd{
      LoopEnd::too_many_failures,
      fmt::format("{} trials in a row failed, the last one {}", failures_in_a_row_, last_failure_)};
}

void EndedTrials::check_baseline(const TrialRecord& baseline) {
  if (run_->standing().baseline() == nullptr) {
    run_->end =
        SearchEnd{LoopEnd::too_many_failures,
                  fmt::format("the baseline, which all trials are compared with, could not be "
                              "measured ({}): {}",
                              to_text(baseline.status), baseline.failure)};
    return;
  }
  for (const Guard& guard : run_->parts.study.guards) {
    if (!guard.over_launches) run_->recorder.decided(guard_decision(guard, baseline));
  }
  warnings_.of_baseline(baseline);
  if (baseline.measurement) report_planned_course(baseline.measurement->startup_s);
}

void EndedTrials::report_planned_course() {
  reported_course_ = !run_->standing().trials().empty();
  if (run_->parts.seen_startup_s) report_planned_course(*run_->parts.seen_startup_s);
}

void EndedTrials::report_planned_course(double startup_s) {
  if (std::exchange(reported_course_, true)) return;
  const StudyRun& run = *run_;
  if (const auto course = planned_course(run.parts.study, startup_s, run.stopwatch.elapsed_s())) {
    run.parts.listener.on_planned(*course);
  }
}

}  // namespace steptune
