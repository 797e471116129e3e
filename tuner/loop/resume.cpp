// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/resume.hpp"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/loop/trial_spec.hpp"

namespace steptune {
namespace {

/// Largest number of attempts of a trial during which the tuner died. After that, the trial
/// probably kills the tuner (or the machine).
constexpr int k_attempts_when_tuner_dies = 20;

/// True if the latest trial is a confirming run. Ignores sentinels, which run in both phases.
bool was_confirming(const std::vector<TrialRecord>& trials) {
  const auto latest = std::find_if(trials.rbegin(), trials.rend(), [](const TrialRecord& trial) {
    return trial.purpose != TrialPurpose::sentinel;
  });
  return latest != trials.rend() && is_confirmation(latest->purpose);
}

/// Returns the recorded reason for the end of the last search; nullopt if the search has continued
/// or the study has changed since.
Result<std::optional<SearchEnd>> recorded_search_end(const StudyRun& run) {
  const auto decisions = run.parts.history.decisions(run.record.id);
  if (!decisions) return tl::unexpected(decisions.error());
  for (const StudyDecision& decision : std::views::reverse(*decisions)) {
    const bool is_of_search = decision.kind == k_end_decision;
    const bool is_of_study = decision.kind == k_recommend_decision;
    if (decision.kind == k_search_on_decision || is_of_change(decision)) break;
    if (!is_of_search && !is_of_study) continue;
    const auto end = loop_end_from_text(text_at(decision.numbers, is_of_search ? "of" : "end"));
    if (!end || is_to_be_continued(*end)) continue;
    if (is_of_search) {
      return SearchEnd{*end, decision.text,
                       budget_limit_from_text(text_at(decision.numbers, "limit"))};
    }
    // The study was finished, and a larger budget has continued it.
    break;
  }
  return std::nullopt;
}

/// Resumes a confirmation that was cut off. Finds out if the search before it was over, and why.
Result<void> resume_confirmation(StudyRun& run) {
  // The confirmation continues with the limits that it began with. If its runs took less than the
  // time kept for them, the search gets the rest after the confirmation.
  run.confirmed = false;
  auto end = recorded_search_end(run);
  if (!end) return tl::unexpected(end.error());
  run.end = *std::move(end);
  if (run.end) return {};
  const StudySpec& study = run.parts.study;
  const Spending so_far = run.as_of_now(spending_before_confirming(study, run.standing()));
  if (auto spent = search_budget_spent(study, so_far, run.confirmed)) {
    run.end = std::move(spent);
  }
  return {};
}

/// If the trial ran when the tuner was killed, records it as interrupted, with the time of its last
/// attempt.
Result<void> record_killed(StudyRun& run, TrialRecord& trial) {
  if (trial.status != TrialStatus::running) return {};
  trial.status = TrialStatus::interrupted;
  trial.failure = "the tuner ended while it ran";
  trial.ended_wall_s = trial.started_wall_s + std::max(0.0, latest_attempt_s(trial));
  return run.recorder.ended(trial);
}

/// Queues the trials that the last run of the tuner left open. These trials run again, unless they
/// may be the cause of the tuner's death.
Result<void> queue_cut_off(StudyRun& run, std::vector<TrialRecord> cut_off, PendingTrials& pending,
                           EndedTrials& ended) {
  std::ranges::sort(cut_off, {}, &TrialRecord::number);
  for (TrialRecord& trial : cut_off) {
    if (trial.attempt < k_attempts_when_tuner_dies) {
      if (auto recorded = record_killed(run, trial); !recorded) return recorded;
      pending.add(std::move(trial));
      continue;
    }
    trial.status = TrialStatus::failed;
    trial.failure = fmt::format("the tuner ended {} times while this trial ran", trial.attempt);
    trial.ended_wall_s = run.parts.clock.wall_time_s();
    if (auto recorded = run.recorder.ended(trial); !recorded) return recorded;
    if (auto added = ended.add(trial); !added) return added;
  }
  return {};
}

}  // namespace

Result<void> resume_study(StudyRun& run, std::optional<StudyStatus> former, PendingTrials& pending,
                          EndedTrials& ended, const TrialLauncher& launcher) {
  const LoopParts& parts = run.parts;
  if (auto begun = parts.runner.begin_study(run.record.name, study_identity(run.record)); !begun) {
    return begun;
  }
  auto trials = parts.history.trials(run.record.id);
  if (!trials) return tl::unexpected(trials.error());
  run.restore(*std::move(trials));
  const std::vector<TrialRecord>& all = run.standing().trials();
  run.confirmed = std::ranges::any_of(
      all, [](const TrialRecord& trial) { return is_confirmation(trial.purpose); });
  const bool was_cut_off = former && *former != StudyStatus::finished;
  if (was_cut_off && was_confirming(all)) {
    if (auto resumed = resume_confirmation(run); !resumed) return resumed;
  }
  std::vector<const TrialRecord*> final_trials;
  std::vector<TrialRecord> running;
  std::vector<TrialRecord> others;
  for (const TrialRecord& trial : all) {
    if (is_final(trial.status)) {
      // A longer budget may allow a slow start, so retry trials that were cut off while starting.
      if (!may_start_longer(parts.study, trial, run.standing().baseline())) {
        final_trials.push_back(&trial);
      }
    } else if (trial.status == TrialStatus::interrupted) {
      others.push_back(trial);
    } else {
      running.push_back(run.with_machine_level(trial));
    }
  }
  ended.learn_from(std::move(final_trials),
                   /*counts_failures=*/former == StudyStatus::running);
  if (!all.empty()) parts.listener.on_resumed(run.standing());

  auto lost = run.running.adopt(
      std::move(running), [&](const TrialRecord& trial) { return launcher.targets_now(trial); });
  if (!lost) return tl::unexpected(lost.error());
  others.insert(others.end(), lost->begin(), lost->end());
  return queue_cut_off(run, std::move(others), pending, ended);
}

}  // namespace steptune
