// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/study_run.hpp"

#include <algorithm>
#include <utility>

#include "tuner/verdict/payback.hpp"

namespace steptune {

StudyRun::StudyRun(const LoopParts& loop_parts, StudyRecord study_record)
    : standing_(ranking_rules(loop_parts.study)),
      parts(loop_parts),
      machines(parts.runner.machine_holder()),
      record(std::move(study_record)),
      stopwatch(parts.clock, record.elapsed_s + parts.inspected_s),
      events(parts),
      recorder(parts, events, stopwatch, record),
      running(parts, events, recorder, stopwatch, standing_) {}

const Confirmation& StudyRun::confirmation() const {
  if (!confirmation_) confirmation_.emplace(parts.study, standing_);
  return *confirmation_;
}

void StudyRun::put(TrialRecord trial) {
  standing_.put(std::move(trial));
  confirmation_.reset();
}

void StudyRun::restore(std::vector<TrialRecord> trials) {
  standing_ = Standing(ranking_rules(parts.study), std::move(trials));
  confirmation_.reset();
}

TrialRecord StudyRun::new_trial(TrialPurpose purpose, std::string origin,
                                Configuration configuration) const {
  TrialRecord trial;
  trial.number = static_cast<std::int64_t>(standing_.trials().size()) + 1;
  trial.purpose = purpose;
  trial.origin = std::move(origin);
  trial.configuration = std::move(configuration);
  return trial;
}

TrialRecord StudyRun::with_machine_level(TrialRecord trial) const {
  if (is_compared(trial.purpose)) trial.level = standing_.drift().at(trial.number);
  return trial;
}

bool StudyRun::runs_one_at_a_time() const {
  return !machines.holds_machines() && parts.runner.capacity() == 1;
}

bool StudyRun::interleaves() const {
  // Interleaving needs a warm page cache, because each run finds files in memory that another run
  // has read.
  const MeasureSpec& measure = parts.study.measure;
  return parts.runner.interleaves() && measure.interleave && measure.cache == PageCache::warm &&
         parts.study.trials != TrialsIn::attached && !running.interleaving_failed();
}

bool StudyRun::may_continue_search() const {
  // If the runner holds rented machines, or a long run waits for its settings, the study ends with
  // the first confirmation. A study with a configuration in use ends after the number of rounds
  // that it requests.
  return parts.study.budget.time_s && !machines.holds_machines() &&
         parts.study.trials != TrialsIn::attached && !parts.study.measure.in_use;
}

Spending StudyRun::spending() const {
  return as_of_now(spending_of(parts.study, standing_));
}

Spending StudyRun::as_of_now(Spending spending) const {
  spending.elapsed_s = stopwatch.elapsed_s();
  spending.usd =
      tuning_cost_usd(parts.study, spending.usd + running.usd_committed(spending.least_trial_s),
                      record.overhead_usd, spending.elapsed_s);
  // Trials that the runner has queued beyond its capacity will take time, too.
  const auto places = static_cast<std::size_t>(parts.runner.capacity());
  const std::size_t ahead = running.size() - std::min(running.size(), places);
  spending.elapsed_s += static_cast<double>(ahead) * spending.least_trial_s / double(places);
  return spending;
}

bool StudyRun::search_time_is_over() const {
  if (!machines.holds_machines() || !parts.study.budget.time_s) return false;
  Spending so_far = spending_of(parts.study, standing_);
  so_far.elapsed_s = stopwatch.elapsed_s();
  return search_time_spent(parts.study, so_far, confirmed);
}

bool StudyRun::is_too_late_for(TrialPurpose purpose) const {
  const auto& time_s = parts.study.budget.time_s;
  if (!time_s) return false;
  if (is_confirmation(purpose)) return stopwatch.elapsed_s() >= *time_s;
  if (machines.holds_machines()) return search_time_is_over();
  // Always repeat the baseline. If there is no time, the baseline ends at once, and the study ends
  // with it.
  return purpose != TrialPurpose::baseline &&
         stopwatch.elapsed_s() >= latest_end_s(parts.study, spending(), purpose);
}

bool StudyRun::can_pay_another() const {
  const auto longest_s = parts.study.runner->traits().longest_billed_s;
  if (!longest_s) return true;
  const double spent_usd = standing_.spent_usd() + record.overhead_usd;
  return can_risk_a_trial(parts.study, spent_usd, running.usd_bound(*longest_s));
}

void StudyRun::end_for_time() {
  if (!end) end = spent_time(parts.study.budget);
}

void StudyRun::warn_of(std::optional<std::int64_t> trial, const std::string& text) const {
  if (trial) {
    parts.listener.on_trial_warning(*trial, text);
  } else {
    parts.listener.on_warning(text);
  }
}

void StudyRun::announce(StudyDecision decision) {
  warn_of(decision.trial > 0 ? std::optional(decision.trial) : std::nullopt, decision.text);
  recorder.decided(std::move(decision));
}

}  // namespace steptune
