// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/tuning.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/loop/trial_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/plan_notes.hpp"
#include "tuner/verdict/planned_time.hpp"
#include "tuner/verdict/recommend.hpp"

namespace steptune {
namespace {

/// Most attempts of a trial during which the tuner itself died. More deaths mean that the trial
/// probably kills the tuner (or the machine).
constexpr int k_attempts_when_tuner_dies = 20;
/// Seconds that trials may outlive a forced end before the loop no longer trusts the runner.
constexpr double k_forced_end_s = 30.0;
/// Longest wait in seconds for machines at the end. The provider gives programs 120 s to end, and
/// then stores their output.
constexpr double k_longest_release_s = 240.0;
/// Share of a time budget. If more than this is left, the result says so.
constexpr double k_much_left = 0.2;

/// True if the latest trial is a confirming run. Ignores sentinels, which run in both phases.
bool was_confirming(const std::vector<TrialRecord>& trials) {
  const auto latest = std::find_if(trials.rbegin(), trials.rend(), [](const TrialRecord& trial) {
    return trial.purpose != TrialPurpose::sentinel;
  });
  return latest != trials.rend() && is_confirmation(latest->purpose);
}

}  // namespace

bool is_to_be_continued(LoopEnd end) {
  return end == LoopEnd::interrupted || end == LoopEnd::too_many_failures;
}

Tuning::Tuning(const LoopParts& parts, StudyRecord study, std::optional<FormerRun> former)
    : parts_(parts),
      study_(std::move(study)),
      former_(former),
      machines_(parts.runner.machine_holder()),
      stopwatch_(parts.clock, study_.elapsed_s + parts.looked_s),
      events_(parts),
      recorder_(parts, events_, stopwatch_, study_),
      running_(parts, events_, recorder_, stopwatch_),
      standing_(ranking_rules(parts.study)),
      payback_(study_.unpaid_suggestions),
      warnings_(parts.study, parts.listener) {}

Result<LoopResult> Tuning::run() {
  auto result = run_phases();
  if (result) return result;
  // Machines that do not answer keep their trials running. The next run takes these over.
  const bool answers = !machines_.holds_machines() || result.error().kind != ErrorKind::unavailable;
  if (!answers) running_.forget();
  if (!running_.empty()) running_.interrupt(/*force=*/true);
  const double deadline_s = parts_.clock.now_s() + k_forced_end_s;
  while (!running_.empty() && parts_.clock.now_s() < deadline_s) {
    if (!running_.listen(nullptr)) break;
  }
  release();
  return result;
}

Result<LoopResult> Tuning::run_phases() {
  if (auto resumed = resume(); !resumed) return tl::unexpected(resumed.error());
  // A study that continues has already reported its course.
  told_course_ = !standing_.trials().empty();
  if (parts_.seen_startup_s) tell_course(*parts_.seen_startup_s);
  while (true) {
    if (auto searched = search(); !searched) return tl::unexpected(searched.error());
    recorder_.decided(end_decision(end_->end, end_->spent, end_->reason, spending()));
    if (is_to_be_continued(end_->end) || end_->end == LoopEnd::nothing_to_gain) break;
    if (auto confirmed = confirm(); !confirmed) return tl::unexpected(confirmed.error());
    confirmed_ = true;
    if (!searches_on()) break;
    recorder_.decided(search_on_decision(spending()));
    end_.reset();
  }
  if (left_running_.empty()) release();
  return conclude();
}

Result<void> Tuning::resume() {
  if (auto begun = parts_.runner.begin_study(study_.name, study_identity(study_)); !begun) {
    return begun;
  }
  auto trials = parts_.history.trials(study_.id);
  if (!trials) return tl::unexpected(trials.error());
  standing_ = Standing(ranking_rules(parts_.study), *std::move(trials));
  confirmation_.reset();
  const auto& all = standing_.trials();
  const auto confirming = std::ranges::find_if(
      all, [](const TrialRecord& trial) { return is_confirmation(trial.purpose); });
  confirmed_ = confirming != all.end();
  const bool was_cut_off = former_ && former_->status != StudyStatus::finished;
  if (was_cut_off && was_confirming(all)) {
    if (auto resumed = resume_confirmation(); !resumed) return resumed;
  }
  std::vector<const TrialRecord*> final_trials;
  std::vector<TrialRecord> running;
  std::vector<TrialRecord> others;
  for (const TrialRecord& trial : standing_.trials()) {
    if (is_final(trial.status)) {
      // A longer budget may allow a slow start, so retry trials that were cut off while starting.
      if (!may_start_longer(parts_.study, trial, standing_.baseline())) {
        final_trials.push_back(&trial);
      }
    } else if (trial.status == TrialStatus::interrupted) {
      others.push_back(trial);
    } else {
      running.push_back(at_present_level(trial));
    }
  }
  learn_from(std::move(final_trials));
  if (!standing_.trials().empty()) parts_.listener.on_resumed(standing_);

  auto lost = running_.adopt(std::move(running),
                             [this](const TrialRecord& trial) { return targets_of(trial); });
  if (!lost) return tl::unexpected(lost.error());
  others.insert(others.end(), lost->begin(), lost->end());
  return keep_pending(std::move(others));
}

void Tuning::learn_from(std::vector<const TrialRecord*> ended) {
  // Trials that run one at a time end in the order of their numbers, whatever the clock said.
  const bool one_at_a_time = runs_one_at_a_time();
  std::ranges::sort(ended, {}, [&](const TrialRecord* trial) {
    return std::tuple(one_at_a_time ? 0.0 : trial->ended_wall_s, trial->number);
  });
  // Give each trial to the searcher with the launch variation that was known then.
  Standing growing(ranking_rules(parts_.study));
  for (const TrialRecord* trial : ended) {
    growing.put(*trial);
    observe(*trial, growing.launches());
    tell_scheduler(*trial);
    if (former_ && former_->status == StudyStatus::running) count_failures(*trial);
  }
}

Result<void> Tuning::keep_pending(std::vector<TrialRecord> cut_off) {
  std::ranges::sort(cut_off, {}, &TrialRecord::number);
  for (TrialRecord& trial : cut_off) {
    if (trial.attempt < k_attempts_when_tuner_dies) {
      if (auto recorded = record_killed(trial); !recorded) return recorded;
      begin_further_attempt(trial);
      pending_.push_back(std::move(trial));
      continue;
    }
    trial.status = TrialStatus::failed;
    trial.failure = fmt::format("the tuner ended {} times while this trial ran", trial.attempt);
    trial.ended_wall_s = parts_.clock.wall_time_s();
    if (auto recorded = recorder_.ended(trial); !recorded) return recorded;
    if (auto concluded = on_ended(trial); !concluded) return concluded;
  }
  return {};
}

Result<void> Tuning::record_killed(TrialRecord& trial) {
  if (trial.status != TrialStatus::running) return {};
  trial.status = TrialStatus::interrupted;
  trial.failure = "the tuner ended while it ran";
  trial.ended_wall_s = trial.started_wall_s + std::max(0.0, latest_attempt_s(trial));
  return recorder_.ended(trial);
}

Result<void> Tuning::resume_confirmation() {
  // The confirmation continues with the limits that it began with. If its runs took less than the
  // time kept for them, the search gets the rest, but only after the confirmation.
  confirmed_ = false;
  if (former_->unchanged) {
    auto end = recorded_end();
    if (!end) return tl::unexpected(end.error());
    end_ = *std::move(end);
    if (end_) return {};
  }
  const StudySpec& study = parts_.study;
  const Spending so_far = as_of_now(spending_before_confirming(study, standing_));
  if (auto spent = search_budget_spent(study, so_far, confirmed_)) {
    end_ = end_by(*std::move(spent));
  }
  return {};
}

Tuning::End Tuning::end_by(SpentBudget spent) {
  return {LoopEnd::budget, std::move(spent.text), spent.limit};
}

Result<std::optional<Tuning::End>> Tuning::recorded_end() const {
  const auto decisions = parts_.history.decisions(study_.id);
  if (!decisions) return tl::unexpected(decisions.error());
  for (const StudyDecision& decision : std::views::reverse(*decisions)) {
    const bool is_of_search = decision.kind == k_end_decision;
    const bool is_of_study = decision.kind == k_recommend_decision;
    if (decision.kind == k_search_on_decision || is_of_change(decision)) break;
    if (!is_of_search && !is_of_study) continue;
    const auto end = loop_end_from_text(text_at(decision.numbers, is_of_search ? "of" : "end"));
    if (!end || is_to_be_continued(*end)) continue;
    if (is_of_search) {
      return End{*end, decision.text, budget_limit_from_text(text_at(decision.numbers, "limit"))};
    }
    // The study was finished, and a larger budget has continued it.
    break;
  }
  return std::nullopt;
}

Result<void> Tuning::search() {
  parts_.listener.on_phase("searching");
  if (parts_.study.budget.stop_at_payback && !payback_applies(parts_.study) && !confirmed_) {
    parts_.listener.on_warning(
        "\"stop\": \"payback\" has no effect: it needs \"planned_run\" with \"samples\", and "
        "\"time\" or \"cost\" as the first objective");
  }
  while (true) {
    while (interrupts() == 0 && takes_another()) {
      auto next = next_search_trial();
      if (!next) return tl::unexpected(next.error());
      if (!*next) break;
      if (auto launched = launch(**std::move(next)); !launched) return launched;
    }
    if (end_ && running_.empty()) return {};
    if (auto heard = listen(); !heard) return heard;
    if (search_time_is_over()) {
      withdraw_waiting();
      leave_cut_off();
      if (auto kept = recorder_.keep_decisions(); !kept) return kept;
    }
  }
}

Result<void> Tuning::confirm() {
  bool announced = false;
  const std::size_t withdrawn_before = withdrawn_;
  const std::size_t cut_off_before = cut_off_.size();
  while (!end_ || end_->end != LoopEnd::interrupted) {
    if (running_.empty()) {
      // If one run got no machine or no time, the next run would not get it either.
      const bool lacks_time = withdrawn_ > withdrawn_before || cut_off_.size() > cut_off_before;
      if (!can_pay_another() || lacks_time) return {};
      auto next = next_pending(/*confirming=*/true);
      if (!next) next = next_sentinel(/*search_is_over=*/true);
      if (!next) next = next_confirmation();
      if (!next) return {};
      const bool confirms = is_confirmation(next->purpose);
      const int round = next->confirm_pair;
      if (confirms && !std::exchange(announced, true)) parts_.listener.on_phase("confirming");
      if (auto launched = launch(*std::move(next)); !launched) return launched;
      if (confirms) {
        if (auto launched = launch_rest_of_round(round); !launched) return launched;
        if (auto launched = launch_more_rounds(); !launched) return launched;
      }
    }
    if (auto heard = listen(); !heard) return heard;
    if (time_is_over()) withdraw_waiting();
    if (auto kept = recorder_.keep_decisions(); !kept) return kept;
  }
  return {};
}

bool Tuning::may_search_on() const {
  const StudySpec& study = parts_.study;
  // If machines cost money, or a long run waits for its settings, the study ends with the first
  // proof. A study with a companion has its own rule.
  return study.budget.time_s && !machines_.holds_machines() && study.trials != TrialsIn::attached &&
         !study.measure.companion;
}

bool Tuning::searches_on() const {
  const StudySpec& study = parts_.study;
  if (end_->end != LoopEnd::budget || !may_search_on() || study.measure.confirm_pairs <= 0) {
    return false;
  }
  // If fresh runs lack time now, they would also lack it after more search.
  const bool lack_time = std::ranges::any_of(cut_off_, [&](std::int64_t number) {
    return is_confirmation(standing_.find(number)->purpose);
  });
  if (lack_time || is_nothing_to_gain()) return false;
  const Confirmation fresh = confirmation();
  return fresh.may_take_turns() && !fresh.baseline_failed() &&
         !search_budget_spent(study, spending(), confirmed_);
}

bool Tuning::leaves_time() const {
  const auto& time_s = parts_.study.budget.time_s;
  const Spending so_far = spending();
  const auto& trials = parts_.study.budget.trials;
  const bool has_trials = !trials || so_far.search_trials < *trials;
  return may_search_on() && has_trials && so_far.elapsed_s + so_far.least_trial_s < *time_s &&
         standing_.baseline() != nullptr && !confirmation().may_take_turns();
}

bool Tuning::runs_one_at_a_time() const {
  return !machines_.holds_machines() && parts_.runner.capacity() == 1;
}

bool Tuning::interleaves() const {
  // Interleaving needs a warm page cache: each run finds in memory what the other one has read.
  const MeasureSpec& measure = parts_.study.measure;
  return parts_.runner.interleaves() && measure.interleave && measure.cache == PageCache::warm &&
         parts_.study.trials != TrialsIn::attached && !running_.interleaving_failed();
}

Result<void> Tuning::launch_rest_of_round(int round) {
  while (interleaves()) {
    auto next = next_confirmation();
    if (!next || next->confirm_pair != round) break;
    if (auto launched = launch(*std::move(next)); !launched) return launched;
  }
  return {};
}

Result<void> Tuning::launch_more_rounds() {
  const int in_turn = machines_.trials_in_turn();
  // Runs side by side, or runs with their own start, wait until they are certain to be needed.
  if (in_turn == 1) return {};
  const StudySpec& study = parts_.study;
  const Resources of_baseline = study.runner->resources_of(study.baseline);
  bool apart = false;
  // Ask for the usual number at once. If the claim needs more, ask for these after the usual ones.
  while (can_pay_another()) {
    auto next = next_confirmation();
    if (!next || next->confirm_pair > std::max(1, study.measure.confirm_pairs)) break;
    apart = apart || study.runner->resources_of(next->configuration) != of_baseline;
    // On a machine that suits both, they take turns without a start between. If they need different
    // machines, each machine is started once for all rounds, not once for each.
    const int most = apart ? machines_.backlog() : in_turn;
    if (running_.size() >= static_cast<std::size_t>(most)) break;
    if (auto launched = launch(*std::move(next)); !launched) return launched;
  }
  return {};
}

bool Tuning::takes_another() const {
  const std::size_t running = running_.size();
  if (!machines_.holds_machines() || standing_.baseline() == nullptr) {
    return running < static_cast<std::size_t>(parts_.runner.capacity());
  }
  if (parts_.searcher.learns()) return machines_.open_places() > 0;
  return running < static_cast<std::size_t>(machines_.backlog());
}

std::optional<std::int64_t> Tuning::further_trials() const {
  const auto& budget = parts_.study.budget;
  std::int64_t searched = 0;
  std::int64_t confirmed = 0;
  for (const TrialRecord& trial : standing_.trials()) {
    if (is_confirmation(trial.purpose)) ++confirmed;
    if (is_compared(trial.purpose)) ++searched;
  }
  const std::int64_t confirmations =
      std::max<std::int64_t>(0, std::int64_t{2} * parts_.study.measure.confirm_pairs - confirmed);
  const auto again = static_cast<std::int64_t>(pending_.size());
  // Only the fresh runs themselves show how many of them a claim needs.
  if (end_ && next_confirmation()) return std::nullopt;
  if (end_) return again + confirmations;
  if (!budget.trials) return std::nullopt;
  return again + confirmations + std::max<std::int64_t>(0, *budget.trials - searched);
}

TrialRecord Tuning::at_present_level(TrialRecord trial) const {
  if (is_compared(trial.purpose)) trial.level = standing_.drift().at(trial.number);
  return trial;
}

Result<void> Tuning::launch(TrialRecord trial) {
  trial = at_present_level(std::move(trial));
  trial.status = TrialStatus::launching;
  log_launch(trial);
  if (is_first_of_finalist(trial)) recorder_.decided(finalist_decision(trial, standing_));
  put(trial);
  if (const auto further = further_trials()) machines_.expect_at_most(*further);
  TrialTargets targets = targets_of(trial);
  return running_.launch(std::move(trial), std::move(targets), standing_.baseline());
}

bool Tuning::is_first_of_finalist(const TrialRecord& trial) const {
  return trial.purpose == TrialPurpose::confirm_incumbent &&
         std::ranges::none_of(standing_.trials(), [&](const TrialRecord& other) {
           return other.purpose == trial.purpose && other.configuration == trial.configuration;
         });
}

bool Tuning::is_too_late_for(TrialPurpose purpose) const {
  if (!machines_.holds_machines()) {
    // The baseline is always repeated: if there is no time, it ends at once, and so does the study.
    return purpose != TrialPurpose::baseline &&
           stopwatch_.elapsed_s() >= latest_end_s(parts_.study, spending(), purpose);
  }
  if (is_confirmation(purpose)) return time_is_over();
  return withdrawn_ > 0 && search_time_is_over();
}

void Tuning::warn_of(std::optional<std::int64_t> trial, const std::string& text) const {
  if (trial) {
    parts_.listener.on_trial_warning(*trial, text);
  } else {
    parts_.listener.on_warning(text);
  }
}

void Tuning::tell(StudyDecision decision) {
  warn_of(decision.trial > 0 ? std::optional(decision.trial) : std::nullopt, decision.text);
  recorder_.decided(std::move(decision));
}

void Tuning::end_for_time() {
  if (!end_) end_ = end_by(spent_time(parts_.study.budget));
}

void Tuning::withdraw_waiting() {
  if (interrupts() > 0) return;
  const std::size_t count = running_.withdraw(machines_.trials_without_machine());
  if (count == 0) return;
  withdrawn_ += count;
  const std::string time = format_duration(*parts_.study.budget.time_s);
  end_for_time();
  const std::string notice = fmt::format(
      "{} was still waiting for machines when the tuning time was over ({}, \"time\" of "
      "\"budget\"), and is not run",
      count == 1 ? "1 trial" : fmt::format("each of {} trials", count), time);
  tell({.kind = "withdraw", .text = notice, .numbers = Json{{"trials", count}}});
}

void Tuning::leave_cut_off() {
  if (interrupts() > 0) return;
  const auto late = std::ranges::stable_partition(
      pending_, [](const TrialRecord& trial) { return !is_compared(trial.purpose); });
  if (late.empty()) return;
  const std::string time = format_duration(*parts_.study.budget.time_s);
  for (const TrialRecord& trial : late) {
    const std::string notice = fmt::format(
        "trial {} was cut off, and is not run again: the time for it is over ({}, \"time\" of "
        "\"budget\")",
        trial.number, time);
    tell({.kind = "cut_off", .trial = trial.number, .text = notice});
    cut_off_.push_back(trial.number);
  }
  pending_.erase(late.begin(), late.end());
  end_for_time();
}

Result<void> Tuning::listen() {
  const TrialRecord* baseline = standing_.baseline();
  const auto ended = running_.listen(baseline);
  if (!ended) return tl::unexpected(ended.error());
  forward_notices();
  for (const TrialRecord& trial : *ended) {
    if (auto concluded = on_ended(trial); !concluded) return concluded;
  }
  if (standing_.baseline() == nullptr) end_unread_trial();
  if (interrupts() > 0 && (!end_ || end_->end != LoopEnd::interrupted)) {
    return parts_.detach_on_interrupt && machines_.holds_machines() ? detach() : stop_for_user();
  }
  return {};
}

void Tuning::end_unread_trial() {
  const RunningTrial* silent = running_.without_progress();
  if (!parts_.why_unread || silent == nullptr) return;
  auto why =
      parts_.why_unread(silent->record().log_path, parts_.clock.now_s() - silent->started_s());
  if (why) running_.refuse(silent->key(), *std::move(why));
}

void Tuning::forward_notices() {
  for (const Notice& notice : machines_.take_notices()) {
    log_note(notice.text);
    warn_of(notice.trial, notice.text);
  }
}

Result<void> Tuning::detach() {
  parts_.listener.on_phase("detaching");
  auto left_running = machines_.detach();
  forward_notices();
  if (!left_running) return tl::unexpected(left_running.error());
  left_running_ = *std::move(left_running);
  running_.forget();
  end_ = End{LoopEnd::interrupted, "detached by the user; its trials continue"};
  return {};
}

void Tuning::release() {
  // A user who asks twice to stop does not want to wait.
  const double longest_s = interrupts() > 1 ? 0.0 : k_longest_release_s;
  if (const auto released = machines_.release(longest_s); !released) {
    parts_.listener.on_warning(released.error().text());
  }
  forward_notices();
}

Result<void> Tuning::stop_for_user() {
  parts_.listener.on_phase("stopping");
  running_.interrupt(/*force=*/false);
  std::optional<double> forced_s;
  while (!running_.empty()) {
    if (interrupts() > 1 && !forced_s) {
      running_.interrupt(/*force=*/true);
      forced_s = parts_.clock.now_s();
    }
    const bool hopeless = forced_s && parts_.clock.now_s() > *forced_s + k_forced_end_s;
    const TrialRecord* baseline = standing_.baseline();
    const auto ended = hopeless ? running_.give_up() : running_.listen(baseline);
    if (!ended) return tl::unexpected(ended.error());
    for (const TrialRecord& trial : *ended) {
      if (auto concluded = on_ended(trial); !concluded) return concluded;
    }
  }
  end_ = End{LoopEnd::interrupted, parts_.interrupted_because};
  return {};
}

Result<void> Tuning::on_ended(const TrialRecord& trial) {
  log_ended(trial);
  waits_for_results_ = false;
  const bool drifted = standing_.drift().is_significant();
  put(trial);
  tell_scheduler(trial);
  if (!is_final(trial.status)) {
    if (running_.interleaving_failed() && !std::exchange(told_of_interleaving_, true)) {
      tell({.kind = "interleave",
            .trial = trial.number,
            .text = fmt::format("runs that confirm are measured one after the other: trial {}: {}",
                                trial.number, trial.failure)});
    }
    const bool has_had_its_part =
        is_confirmation(trial.purpose) && running_.lacked_time(trial.number);
    if (interrupts() == 0 && !has_had_its_part && !is_too_late_for(trial.purpose)) {
      pending_.push_back(trial);
      begin_further_attempt(pending_.back());
    } else if (interrupts() == 0 && withdrawn_ == 0) {
      cut_off_.push_back(trial.number);
    }
    parts_.listener.on_trial_ended(trial, standing_);
    return {};
  }
  conclude_from(trial);
  observe(trial, standing_.launches());
  count_failures(trial);
  if (trial.purpose == TrialPurpose::baseline) check_baseline(trial);
  if (auto kept = recorder_.keep_decisions(); !kept) return kept;
  parts_.listener.on_trial_ended(trial, standing_);
  warnings_.of_ended(trial);
  if (!drifted) warnings_.of_drift(standing_.drift());
  if (refutes(trial)) warnings_.of_refuted(trial);
  return {};
}

void Tuning::conclude_from(const TrialRecord& trial) {
  if (trial.purpose == TrialPurpose::sentinel) {
    recorder_.decided(drift_decision(trial, standing_.drift()));
  }
  if (!is_confirmation(trial.purpose)) return;
  for (const Finalist& finalist : confirmation().finalists()) {
    const bool judged = std::ranges::any_of(finalist.pairs, [&](const RunPair& pair) {
      return pair.incumbent->number == trial.number || pair.baseline->number == trial.number;
    });
    if (judged || (refutes(trial) && finalist.configuration == trial.configuration)) {
      recorder_.decided(judged_decision(trial, finalist));
    }
  }
  if (refutes(trial)) recorder_.decided(excluded_decision(trial));
}

void Tuning::put(TrialRecord trial) {
  standing_.put(std::move(trial));
  confirmation_.reset();
}

const Confirmation& Tuning::confirmation() const {
  if (!confirmation_) confirmation_.emplace(parts_.study, standing_);
  return *confirmation_;
}

void Tuning::observe(const TrialRecord& trial, const LaunchVariation& launches) {
  if (!is_compared(trial.purpose)) return;
  parts_.searcher.observe(to_observation(parts_.study, trial, launches));
}

void Tuning::tell_scheduler(const TrialRecord& trial) {
  parts_.scheduler.forget(trial.number);
  for (const TrialEstimate& estimate : compared_estimates(parts_.study, trial))
    parts_.scheduler.on_exempt(estimate);
}

void Tuning::count_failures(const TrialRecord& trial) {
  if (!is_compared(trial.purpose) || trial.status == TrialStatus::out_of_memory) return;
  if (trial.status != TrialStatus::failed) {
    failures_in_a_row_ = 0;
    return;
  }
  ++failures_in_a_row_;
  last_failure_ = fmt::format("({}): {}", trial.configuration.text(), trial.failure);
}

void Tuning::check_baseline(const TrialRecord& baseline) {
  if (standing_.baseline() == nullptr) {
    end_ = End{LoopEnd::too_many_failures,
               fmt::format("the baseline, which all trials are compared with, could not be "
                           "measured ({}): {}",
                           to_text(baseline.status), baseline.failure)};
    return;
  }
  for (const Guard& guard : parts_.study.guards)
    recorder_.decided(guard_decision(guard, baseline));
  warnings_.of_baseline(baseline);
  if (baseline.measurement) tell_course(baseline.measurement->startup_s);
}

void Tuning::tell_course(double startup_s) {
  if (std::exchange(told_course_, true)) return;
  if (const auto course = planned_course(parts_.study, startup_s, stopwatch_.elapsed_s())) {
    parts_.listener.on_planned(*course);
  }
}

bool Tuning::baseline_is_open() const {
  return std::ranges::any_of(standing_.trials(), [](const TrialRecord& trial) {
    return trial.purpose == TrialPurpose::baseline && !is_final(trial.status);
  });
}

int Tuning::interrupts() const {
  return parts_.interrupts ? parts_.interrupts() : 0;
}

std::string Tuning::why_nothing_faster() const {
  const BudgetSpec& budget = parts_.study.budget;
  const auto& limit_s = budget.time_s;
  const bool by_time = limit_s && end_->spent == BudgetLimit::time;
  const bool compared = std::ranges::any_of(
      standing_.trials(), [](const TrialRecord& trial) { return is_searched(trial.purpose); });
  const double left_s = by_time ? *limit_s - stopwatch_.elapsed_s() : 0.0;
  // Time may also be left for other reasons: machines are held, or no further claim is possible.
  const bool too_little = by_time && search_time_spent(parts_.study, spending(), confirmed_);
  const std::string rest =
      too_little && left_s > k_much_left * *limit_s
          ? fmt::format(", and the {} left are too short for another trial and its confirmation",
                        format_duration(left_s))
          : "";
  if (by_time && !compared) {
    // The advice is about time, so it does not suit a money budget.
    const std::string then = budget.time_of_usd ? "" : parts_.after_too_little;
    return fmt::format("; that was enough for the baseline only: nothing was compared with it{}{}",
                       rest, then.empty() ? "" : ": " + then);
  }
  return fmt::format("; nothing was shown to be {} than the baseline{}",
                     parts_.study.objectives.front().comparative(), rest);
}

std::string Tuning::why_none_feasible() const {
  if (standing_.baseline() == nullptr) return "the baseline was not measured";
  const StudySpec& study = parts_.study;
  const TrialRecord* nearest = nullptr;
  PlannedFigures least;
  for (const TrialRecord& trial : standing_.trials()) {
    if (trial.status != TrialStatus::infeasible || !is_compared(trial.purpose)) continue;
    const auto figures = planned_figures(study, trial.configuration, trial.objectives);
    if (!figures.seconds) continue;
    const bool is_nearer =
        nearest == nullptr || (study.planned_run.deadline_s ? *figures.seconds < *least.seconds
                                                            : figures.usd < least.usd);
    if (!is_nearer) continue;
    nearest = &trial;
    least = figures;
  }
  std::string why = "no trial respects all limits";
  if (nearest == nullptr) return why;
  const auto missed = missed_limit(study.planned_run, {*least.seconds, 0.0},
                                   usd_per_hour(study, nearest->configuration));
  return missed ? fmt::format("{}; trial {} comes nearest: {}", why, nearest->number, *missed)
                : why;
}

std::string Tuning::who_did_not_start() const {
  std::vector<std::int64_t> numbers;
  for (const TrialRecord& trial : standing_.trials()) {
    if (!trial.awaited_start_s) continue;
    const bool was_measured =
        std::ranges::any_of(standing_.trials(), [&](const TrialRecord& other) {
          return is_ranked(other.status) && other.configuration == trial.configuration;
        });
    if (!was_measured) numbers.push_back(trial.number);
  }
  if (numbers.empty()) return "";
  return fmt::format("; {} {} {} ended before {} first step, which {} waits for",
                     numbers.size() == 1 ? "trial" : "trials", fmt::join(numbers, ", "),
                     numbers.size() == 1 ? "was" : "were", numbers.size() == 1 ? "its" : "their",
                     parts_.study.budget.time_of_usd ? "a larger budget" : "a longer tuning time");
}

Result<LoopResult> Tuning::conclude() {
  LoopResult result{end_->end, end_->reason, {}, left_running_, end_->end};
  if (withdrawn_ > 0) {
    result.reason += fmt::format("; {} {} not run: no machines were available in that time",
                                 withdrawn_, withdrawn_ == 1 ? "trial was" : "trials were");
  }
  const bool to_be_continued = is_to_be_continued(result.end);
  for (const TrialRecord& trial : pending_)
    cut_off_.push_back(trial.number);
  if (!cut_off_.empty() && !to_be_continued) {
    result.reason += fmt::format("; {} cut off, and not run again within the budget",
                                 cut_off_.size() == 1
                                     ? fmt::format("trial {} was", cut_off_.front())
                                     : fmt::format("trials {} were", fmt::join(cut_off_, ", ")));
  }
  recorder_.count_unused();
  result.recommendation =
      recommend(parts_.study, standing_, {stopwatch_.elapsed_s(), study_.overhead_usd},
                expected_improvement_);
  const bool decided =
      result.recommendation && result.recommendation->claim == Claim::nothing_to_gain;
  if (decided && !to_be_continued) {
    if (std::exchange(result.end, LoopEnd::nothing_to_gain) != LoopEnd::nothing_to_gain) {
      result.reason +=
          fmt::format("; the baseline is within {:g} % of the best that these settings allow",
                      100.0 * parts_.study.search.worth);
    }
  }
  if (result.end == LoopEnd::budget && leaves_time()) {
    result.reason += fmt::format(
        "; fresh runs did not confirm {} configurations, and no more are tried", k_most_finalists);
  }
  if (result.recommendation && result.recommendation->claim == Claim::nothing_faster &&
      !to_be_continued) {
    result.end = LoopEnd::nothing_faster;
    result.reason += why_nothing_faster();
  }
  if (!result.recommendation && !to_be_continued) {
    result.end = LoopEnd::no_feasible_trial;
    result.reason = fmt::format("{}; {}", result.reason, why_none_feasible());
  }
  if (!to_be_continued) result.reason += who_did_not_start();
  recorder_.decided(recommended_decision(result));
  study_.status = to_be_continued ? StudyStatus::interrupted : StudyStatus::finished;
  study_.stop_reason = result.reason;
  study_.recommendation = result.recommendation ? to_json(*result.recommendation) : Json::object();
  study_.recommendation["end"] = to_text(result.end);
  study_.recommendation["search_end"] = to_text(result.search_end);
  if (auto recorded = recorder_.study(); !recorded) return tl::unexpected(recorded.error());
  return result;
}

}  // namespace steptune
