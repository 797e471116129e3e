// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/tuning.hpp"

#include <algorithm>
#include <utility>

#include "trial_runner/runner.hpp"
#include "tuner/loop/conclusion.hpp"
#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/next_trial.hpp"
#include "tuner/loop/resume.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/verdict/payback.hpp"

namespace steptune {
namespace {

/// Longest wait in seconds for machines at the end. The provider gives programs 120 s to end, and
/// then stores their output.
constexpr double k_longest_release_s = 240.0;

}  // namespace

Tuning::Tuning(const LoopParts& parts, StudyRecord study, std::optional<StudyStatus> former)
    : run_(parts, std::move(study)),
      pending_(run_),
      ended_(run_, pending_),
      launcher_(run_, pending_),
      search_(run_, pending_, ended_),
      rounds_(run_, search_, launcher_),
      former_(former) {}

Result<LoopResult> Tuning::run() {
  auto result = run_phases();
  if (!result) end_trials(result.error());
  return result;
}

Result<LoopResult> Tuning::run_phases() {
  if (auto resumed = resume_study(run_, former_, pending_, ended_, launcher_); !resumed) {
    return tl::unexpected(resumed.error());
  }
  ended_.report_planned_course();
  while (true) {
    if (auto searched = search(); !searched) return tl::unexpected(searched.error());
    const SearchEnd& end = *run_.end;
    run_.recorder.decided(end_decision(end, run_.spending()));
    if (is_to_be_continued(end.end) || end.end == LoopEnd::nothing_to_gain) break;
    if (auto confirmed = confirm(); !confirmed) return tl::unexpected(confirmed.error());
    run_.confirmed = true;
    if (!continues_search()) break;
    run_.recorder.decided(search_on_decision(run_.spending()));
    run_.end.reset();
  }
  if (left_running_.empty()) release();
  return conclude_study(run_, pending_, search_.expected_improvement(), left_running_);
}

Result<void> Tuning::search() {
  const LoopParts& parts = run_.parts;
  parts.listener.on_phase("searching");
  if (parts.study.budget.stop_at_payback && !payback_applies(parts.study) && !run_.confirmed) {
    parts.listener.on_warning(
        "\"stop\": \"payback\" has no effect: it needs \"planned_run\" with \"samples\", and "
        "\"time\" or \"cost\" as the first objective");
  }
  while (true) {
    while (run_.interrupts() == 0 && launcher_.takes_another()) {
      auto next = search_.next();
      if (!next) return tl::unexpected(next.error());
      if (!*next) break;
      if (auto launched = rounds_.launch(**std::move(next)); !launched) return launched;
    }
    if (run_.end && run_.running.empty()) return {};
    if (auto heard = listen(); !heard) return heard;
    if (run_.search_time_is_over()) {
      pending_.withdraw_waiting();
      pending_.drop_late();
      if (auto kept = run_.recorder.keep_decisions(); !kept) return kept;
    }
  }
}

Result<void> Tuning::confirm() {
  bool announced = false;
  const std::size_t without_time_before = pending_.without_time();
  while (!run_.end || run_.end->end != LoopEnd::interrupted) {
    if (run_.running.empty()) {
      // If one run got no machine or no time, the next run would not get it either.
      const bool lacks_time = pending_.without_time() > without_time_before;
      if (!run_.can_pay_another() || lacks_time) return {};
      auto next = pending_.next(/*confirming=*/true);
      if (!next) next = next_sentinel(run_, /*search_is_over=*/true);
      if (!next) next = next_confirmation(run_);
      if (!next) return {};
      const bool confirms = is_confirmation(next->purpose);
      // A repeated attempt runs alone, so no other run of its round may join it.
      const int round = next->attempt == 1 ? next->confirm_pair : 0;
      if (confirms && !std::exchange(announced, true)) run_.parts.listener.on_phase("confirming");
      if (auto launched = launcher_.launch(*std::move(next)); !launched) return launched;
      if (confirms) {
        if (auto launched = launcher_.launch_beside(round); !launched) return launched;
      }
    }
    if (auto heard = listen(); !heard) return heard;
    if (run_.is_too_late_for(TrialPurpose::confirm_baseline)) pending_.withdraw_waiting();
    if (auto kept = run_.recorder.keep_decisions(); !kept) return kept;
  }
  return {};
}

bool Tuning::continues_search() const {
  const StudySpec& study = run_.parts.study;
  if (run_.end->end != LoopEnd::budget || !run_.may_continue_search() ||
      study.measure.confirm_pairs <= 0) {
    return false;
  }
  // If fresh runs lack time now, they would also lack it after more search.
  const bool lack_time = std::ranges::any_of(pending_.dropped(), [&](std::int64_t number) {
    return is_confirmation(run_.standing().find(number)->purpose);
  });
  if (lack_time || search_.is_nothing_to_gain()) return false;
  const Confirmation& fresh = run_.confirmation();
  return fresh.may_confirm_more() && !fresh.baseline_failed() &&
         !search_budget_spent(study, run_.spending(), run_.confirmed);
}

Result<void> Tuning::listen() {
  const auto ended = run_.running.listen();
  if (!ended) return tl::unexpected(ended.error());
  forward_notices();
  if (auto taken = take_ended(*ended); !taken) return taken;
  if (run_.standing().baseline() == nullptr) end_unread_trial();
  if (run_.interrupts() > 0 && (!run_.end || run_.end->end != LoopEnd::interrupted)) {
    const bool detaches = run_.parts.detach_on_interrupt && run_.machines.holds_machines();
    return detaches ? detach() : stop_for_user();
  }
  return {};
}

Result<void> Tuning::take_ended(const std::vector<TrialRecord>& trials) {
  for (const TrialRecord& trial : trials) {
    if (auto added = ended_.add(trial); !added) return added;
  }
  return {};
}

Result<void> Tuning::stop_for_user() {
  RunningTrials& running = run_.running;
  const Clock& clock = run_.parts.clock;
  run_.parts.listener.on_phase("stopping");
  running.interrupt(/*force=*/false);
  std::optional<double> forced_s;
  while (!running.empty()) {
    if (run_.interrupts() > 1 && !forced_s) {
      running.interrupt(/*force=*/true);
      forced_s = clock.now_s();
    }
    const bool hopeless = forced_s && clock.now_s() > *forced_s + k_forced_end_s;
    const auto ended = hopeless ? running.give_up() : running.listen();
    if (!ended) return tl::unexpected(ended.error());
    if (auto taken = take_ended(*ended); !taken) return taken;
  }
  run_.end = SearchEnd{LoopEnd::interrupted, run_.parts.interrupted_because};
  return {};
}

Result<void> Tuning::detach() {
  run_.parts.listener.on_phase("detaching");
  auto left_running = run_.machines.detach();
  forward_notices();
  if (!left_running) return tl::unexpected(left_running.error());
  left_running_ = *std::move(left_running);
  run_.running.forget();
  run_.end = SearchEnd{LoopEnd::interrupted, "detached by the user; its trials continue"};
  return {};
}

void Tuning::end_unread_trial() {
  const RunningTrial* silent = run_.running.without_progress();
  const LoopParts& parts = run_.parts;
  if (!parts.why_unread || silent == nullptr) return;
  auto why = parts.why_unread(silent->record().log_path, parts.clock.now_s() - silent->started_s());
  if (why) run_.running.refuse(silent->key(), *std::move(why));
}

void Tuning::forward_notices() {
  for (const Notice& notice : run_.machines.take_notices()) {
    log_note(notice.text);
    run_.warn_of(notice.trial, notice.text);
  }
}

void Tuning::release() {
  // A user who asks twice to stop does not want to wait.
  const double longest_s = run_.interrupts() > 1 ? 0.0 : k_longest_release_s;
  if (const auto released = run_.machines.release(longest_s); !released) {
    run_.parts.listener.on_warning(released.error().text());
  }
  forward_notices();
}

void Tuning::end_trials(const Error& error) {
  RunningTrials& running = run_.running;
  // If the machines do not answer, their trials continue. The next run of the tuner takes these
  // trials over.
  const bool answers = !run_.machines.holds_machines() || error.kind != ErrorKind::unavailable;
  if (!answers) running.forget();
  if (!running.empty()) running.interrupt(/*force=*/true);
  const Clock& clock = run_.parts.clock;
  const double deadline_s = clock.now_s() + k_forced_end_s;
  while (!running.empty() && clock.now_s() < deadline_s) {
    if (!running.listen()) break;
  }
  release();
  // Record the cost of machines while no trial used them.
  const auto recorded = run_.recorder.study();
  if (!recorded && error.kind != ErrorKind::store) {
    run_.parts.listener.on_warning(recorded.error().text());
  }
}

}  // namespace steptune
