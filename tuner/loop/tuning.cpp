// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/tuning.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/loop/budget.hpp"
#include "tuner/loop/confirm.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/loop/ranking.hpp"
#include "tuner/loop/recommend.hpp"
#include "tuner/loop/trial_spec.hpp"

namespace steptune {
namespace {

/// A trial during which the tuner itself died this often probably kills it (or the machine).
constexpr int k_attempts_when_tuner_dies = 20;
/// How long trials may outlive a forced end before the runner is not believed any more.
constexpr double k_forced_end_s = 30.0;
/// How long machines may take to come free at the end: the provider gives programs 120 s to end,
/// and has their output to store.
constexpr double k_longest_release_s = 240.0;
/// Incumbents that are tried in turn when fresh runs of them fail.
constexpr std::size_t k_most_refuted = 3;

/// Ends after which running the study again goes on with it.
bool is_to_be_continued(LoopEnd end) {
  return end == LoopEnd::interrupted || end == LoopEnd::too_many_failures;
}

}  // namespace

Tuning::Tuning(const LoopParts& parts, StudyRecord study)
    : parts_(parts),
      study_(std::move(study)),
      machines_(parts.runner.machine_holder()),
      stopwatch_(parts.clock, study_.elapsed_s),
      events_(parts),
      recorder_(parts, machines_, events_, stopwatch_, study_),
      pool_(parts, events_, recorder_, stopwatch_) {}

Result<LoopResult> Tuning::run() {
  auto result = run_phases();
  if (result) return result;
  if (!pool_.empty()) pool_.interrupt(/*force=*/true);
  const double deadline_s = parts_.clock.now_s() + k_forced_end_s;
  while (!pool_.empty() && parts_.clock.now_s() < deadline_s) {
    if (!pool_.pump(nullptr)) break;
  }
  release();
  return result;
}

Result<LoopResult> Tuning::run_phases() {
  if (auto resumed = resume(); !resumed) return tl::unexpected(resumed.error());
  if (auto searched = search(); !searched) return tl::unexpected(searched.error());
  if (!is_to_be_continued(end_->end)) {
    if (auto confirmed = confirm(); !confirmed) return tl::unexpected(confirmed.error());
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
  trials_ = *std::move(trials);
  std::vector<const TrialRecord*> final_trials;
  std::vector<TrialRecord> running;
  std::vector<TrialRecord> others;
  for (const TrialRecord& trial : trials_) {
    if (is_final(trial.status)) {
      final_trials.push_back(&trial);
    } else if (trial.status == TrialStatus::interrupted) {
      others.push_back(trial);
    } else {
      running.push_back(trial);
    }
  }
  std::ranges::sort(final_trials, {}, [](const TrialRecord* trial) {
    return std::tuple(trial->ended_wall_s, trial->number);
  });
  for (const TrialRecord* trial : final_trials) {
    teach(*trial);
    remind_scheduler(*trial);
  }
  find_new_incumbent();

  auto lost = pool_.adopt(std::move(running));
  if (!lost) return tl::unexpected(lost.error());
  others.insert(others.end(), lost->begin(), lost->end());
  std::ranges::sort(others, {}, &TrialRecord::number);
  for (TrialRecord& trial : others) {
    if (trial.attempt < k_attempts_when_tuner_dies) {
      ++trial.attempt;
      pending_.push_back(std::move(trial));
      continue;
    }
    trial.status = TrialStatus::failed;
    trial.failure = fmt::format("the tuner ended {} times while this trial ran", trial.attempt);
    trial.ended_wall_s = parts_.clock.wall_time_s();
    if (auto recorded = recorder_.ended(trial); !recorded) return recorded;
    on_ended(trial);
  }
  return {};
}

Result<void> Tuning::search() {
  parts_.listener.on_phase("search");
  if (parts_.study.budget.stop_at_payback && !payback_applies(parts_.study)) {
    parts_.listener.on_warning(
        "the search cannot stop at payback: that needs \"planned_run\" with \"samples\", and "
        "\"time\" or \"cost\" as the first objective");
  }
  while (true) {
    while (interrupts() == 0 && pool_.size() < places()) {
      auto next = next_search_trial();
      if (!next) return tl::unexpected(next.error());
      if (!*next) break;
      if (auto launched = launch(**std::move(next)); !launched) return launched;
    }
    if (end_ && pool_.empty()) return {};
    if (auto pumped = pump(); !pumped) return pumped;
  }
}

Result<std::optional<TrialRecord>> Tuning::next_search_trial() {
  const StudySpec& study = parts_.study;
  if (end_ && is_to_be_continued(end_->end)) return std::nullopt;
  if (!can_pay_another()) {
    // While trials are under way their bounds stand in the way; what they cost in the end may not.
    if (pool_.empty() && !end_) end_ = End{LoopEnd::budget, format_usd(*study.budget.cost_usd)};
    return std::nullopt;
  }
  if (auto pending = next_pending(/*confirmation=*/false)) return pending;
  if (end_) return std::nullopt;
  if (find_baseline(trials_) == nullptr) {
    if (baseline_is_open()) return std::nullopt;
    return new_trial(TrialPurpose::baseline, "baseline", study.baseline);
  }
  if (failures_in_a_row_ >= study.budget.consecutive_failures) {
    end_ = End{LoopEnd::too_many_failures, fmt::format("{} trials in a row failed; the last one {}",
                                                       failures_in_a_row_, last_failure_)};
    return std::nullopt;
  }
  if (auto spent = search_budget_spent(study, spending())) {
    end_ = End{LoopEnd::budget, *std::move(spent)};
    return std::nullopt;
  }
  if (auto hint = next_hint()) return hint;
  return next_suggestion();
}

std::optional<TrialRecord> Tuning::next_pending(bool confirmation) {
  const auto found = std::ranges::find_if(pending_, [&](const TrialRecord& trial) {
    return is_confirmation(trial.purpose) == confirmation;
  });
  if (found == pending_.end()) return std::nullopt;
  TrialRecord trial = std::move(*found);
  pending_.erase(found);
  return trial;
}

std::optional<TrialRecord> Tuning::next_hint() const {
  for (const Configuration& hint : parts_.study.search.hints) {
    const bool tried = std::ranges::any_of(
        trials_, [&](const TrialRecord& trial) { return trial.configuration == hint; });
    if (!tried) return new_trial(TrialPurpose::hint, "try", hint);
  }
  return std::nullopt;
}

Result<std::optional<TrialRecord>> Tuning::next_suggestion() {
  const std::vector<Configuration> running = pool_.configurations();
  SuggestRequest request;
  request.trial = static_cast<std::int64_t>(trials_.size()) + 1;
  request.running = running;
  if (!parts_.study.runner.cluster.instances.empty()) {
    request.price = [this](const Configuration& configuration) {
      return trial_price(configuration);
    };
  }
  auto suggestion = parts_.searcher.suggest(request);
  if (!suggestion) return tl::unexpected(suggestion.error());
  for (const std::string& warning : parts_.searcher.take_warnings())
    parts_.listener.on_warning(warning);
  if (!*suggestion) {
    end_ = End{LoopEnd::exhausted, "every configuration of the search space has been tried"};
    return std::nullopt;
  }
  const TrialRecord* best = incumbent();
  if (best != nullptr && payback_.stops(parts_.study, (*suggestion)->expected_improvement,
                                        best->objectives.front(), trials_)) {
    end_ = End{LoopEnd::payback,
               "no configuration is expected to save more on the planned run than trying it costs"};
    return std::nullopt;
  }
  return new_trial(TrialPurpose::search, std::move((*suggestion)->origin),
                   std::move((*suggestion)->configuration));
}

Result<void> Tuning::confirm() {
  bool announced = false;
  while (!end_ || end_->end != LoopEnd::interrupted) {
    if (pool_.empty()) {
      if (!can_pay_another()) return {};
      auto next = next_pending(/*confirmation=*/true);
      if (!next) next = next_confirmation();
      if (!next) return {};
      if (!std::exchange(announced, true)) parts_.listener.on_phase("confirm");
      if (auto launched = launch(*std::move(next)); !launched) return launched;
    }
    if (auto pumped = pump(); !pumped) return pumped;
  }
  return {};
}

std::optional<TrialRecord> Tuning::next_confirmation() {
  const StudySpec& study = parts_.study;
  const TrialRecord* best = incumbent();
  const TrialRecord* baseline = find_baseline(trials_);
  if (best == nullptr || baseline == nullptr || best->configuration == baseline->configuration ||
      refuted_configurations(trials_).size() >= k_most_refuted) {
    return std::nullopt;
  }
  const auto step =
      next_confirm_step(study, trials_, best->configuration, study.measure.confirm_pairs);
  if (!step) return std::nullopt;
  const bool first = confirmed_pairs(study, trials_, best->configuration).empty();
  if (step->purpose == TrialPurpose::confirm_incumbent && !first &&
      !can_pay_confirm_pair(study, spending())) {
    return std::nullopt;
  }
  const bool of_baseline = step->purpose == TrialPurpose::confirm_baseline;
  TrialRecord trial = new_trial(step->purpose, "confirm",
                                of_baseline ? baseline->configuration : best->configuration);
  trial.confirm_pair = step->pair;
  return trial;
}

TrialRecord Tuning::new_trial(TrialPurpose purpose, std::string origin,
                              Configuration configuration) const {
  TrialRecord trial;
  trial.number = static_cast<std::int64_t>(trials_.size()) + 1;
  trial.purpose = purpose;
  trial.origin = std::move(origin);
  trial.configuration = std::move(configuration);
  return trial;
}

std::size_t Tuning::places() const {
  const bool ahead =
      machines_ != nullptr && !parts_.searcher.learns() && find_baseline(trials_) != nullptr;
  return static_cast<std::size_t>(ahead ? machines_->backlog() : parts_.runner.capacity());
}

std::optional<std::int64_t> Tuning::further_trials() const {
  const auto& budget = parts_.study.budget;
  std::int64_t searched = 0;
  std::int64_t confirmed = 0;
  for (const TrialRecord& trial : trials_)
    ++(is_confirmation(trial.purpose) ? confirmed : searched);
  const std::int64_t confirmations =
      std::max<std::int64_t>(0, std::int64_t{2} * parts_.study.measure.confirm_pairs - confirmed);
  const auto again = static_cast<std::int64_t>(pending_.size());
  if (end_) return again + confirmations;
  if (!budget.trials) return std::nullopt;
  return again + confirmations + std::max<std::int64_t>(0, *budget.trials - searched);
}

Result<void> Tuning::launch(TrialRecord trial) {
  const auto index = static_cast<std::size_t>(trial.number) - 1;
  if (index == trials_.size()) {
    trials_.push_back(trial);
  } else {
    trials_[index] = trial;
  }
  trials_[index].status = TrialStatus::launching;
  if (machines_ != nullptr) {
    if (const auto further = further_trials()) machines_->expect_at_most(*further);
  }
  return pool_.launch(std::move(trial));
}

Result<void> Tuning::pump() {
  const TrialRecord* baseline = find_baseline(trials_);
  const auto ended = pool_.pump(baseline);
  if (!ended) return tl::unexpected(ended.error());
  pass_on_notices();
  for (const TrialRecord& trial : *ended)
    on_ended(trial);
  if (interrupts() > 0 && (!end_ || end_->end != LoopEnd::interrupted)) {
    return parts_.detach_on_interrupt && machines_ != nullptr ? detach() : stop_for_user();
  }
  return {};
}

void Tuning::pass_on_notices() {
  if (machines_ == nullptr) return;
  for (const std::string& notice : machines_->take_notices())
    parts_.listener.on_warning(notice);
}

Result<void> Tuning::detach() {
  parts_.listener.on_phase("detaching");
  auto left_running = machines_->detach();
  if (!left_running) return tl::unexpected(left_running.error());
  left_running_ = *std::move(left_running);
  pool_.forget();
  end_ = End{LoopEnd::interrupted, "left by the user; its trials go on"};
  return {};
}

void Tuning::release() {
  if (machines_ == nullptr) return;
  // Whoever asks twice to stop does not want to wait.
  const double longest_s = interrupts() > 1 ? 0.0 : k_longest_release_s;
  if (const auto released = machines_->release(longest_s); !released) {
    parts_.listener.on_warning(released.error().text());
  }
  pass_on_notices();
}

Result<void> Tuning::stop_for_user() {
  parts_.listener.on_phase("stopping");
  pool_.interrupt(/*force=*/false);
  std::optional<double> forced_s;
  while (!pool_.empty()) {
    if (interrupts() > 1 && !forced_s) {
      pool_.interrupt(/*force=*/true);
      forced_s = parts_.clock.now_s();
    }
    const bool hopeless = forced_s && parts_.clock.now_s() > *forced_s + k_forced_end_s;
    const TrialRecord* baseline = find_baseline(trials_);
    const auto ended = hopeless ? pool_.give_up() : pool_.pump(baseline);
    if (!ended) return tl::unexpected(ended.error());
    for (const TrialRecord& trial : *ended)
      on_ended(trial);
  }
  end_ = End{LoopEnd::interrupted, "stopped by the user"};
  return {};
}

void Tuning::on_ended(const TrialRecord& trial) {
  trials_[static_cast<std::size_t>(trial.number) - 1] = trial;
  if (!is_final(trial.status)) {
    if (interrupts() == 0) {
      pending_.push_back(trial);
      ++pending_.back().attempt;
    }
    parts_.listener.on_trial_ended(trial, false);
    return;
  }
  teach(trial);
  count_failures(trial);
  if (trial.purpose == TrialPurpose::baseline) warn_of_baseline(trial);
  const std::int64_t before = incumbent_;
  find_new_incumbent();
  parts_.listener.on_trial_ended(trial, incumbent_ == trial.number && incumbent_ != before);
  if (trial.purpose == TrialPurpose::confirm_incumbent && trial.status != TrialStatus::completed) {
    parts_.listener.on_warning(
        fmt::format("a fresh run of the best configuration was no success ({}: {}): it is left out",
                    to_text(trial.status), trial.failure));
  }
}

void Tuning::find_new_incumbent() {
  const TrialRecord* best = find_incumbent(parts_.study, trials_);
  incumbent_ = best == nullptr ? 0 : best->number;
}

const TrialRecord* Tuning::incumbent() const {
  return incumbent_ == 0 ? nullptr : &trials_[static_cast<std::size_t>(incumbent_) - 1];
}

void Tuning::teach(const TrialRecord& trial) {
  if (is_confirmation(trial.purpose)) return;
  parts_.searcher.observe(to_observation(parts_.study, trial));
}

void Tuning::remind_scheduler(const TrialRecord& trial) {
  if (is_confirmation(trial.purpose) || !is_ranked(trial.status) || !trial.measurement ||
      trial.objectives.empty()) {
    return;
  }
  parts_.scheduler.on_exempt(to_estimate(parts_.study, trial.number,
                                         trial.measurement->window_steps, trial.objectives,
                                         trial.standard_errors));
}

void Tuning::count_failures(const TrialRecord& trial) {
  if (is_confirmation(trial.purpose) || trial.status == TrialStatus::out_of_memory) return;
  if (trial.status != TrialStatus::failed) {
    failures_in_a_row_ = 0;
    return;
  }
  ++failures_in_a_row_;
  last_failure_ = fmt::format("({}): {}", trial.configuration.text(), trial.failure);
}

void Tuning::warn_of_baseline(const TrialRecord& baseline) {
  if (find_baseline(trials_) == nullptr) {
    end_ = End{LoopEnd::too_many_failures,
               fmt::format("the baseline is what everything is compared with, and it was not "
                           "measured ({}): {}",
                           to_text(baseline.status), baseline.failure)};
    return;
  }
  if (baseline.status == TrialStatus::infeasible) {
    parts_.listener.on_warning(
        fmt::format("the baseline itself violates a guard: {}", baseline.failure));
  }
  for (const auto& metric : metrics_missing_in_baseline(parts_.study.guards, baseline)) {
    parts_.listener.on_warning(fmt::format(
        "the baseline did not report {}: guards that compare with it are not judged", metric));
  }
}

bool Tuning::baseline_is_open() const {
  return std::ranges::any_of(trials_, [](const TrialRecord& trial) {
    return trial.purpose == TrialPurpose::baseline && !is_final(trial.status);
  });
}

int Tuning::interrupts() const {
  return parts_.interrupts ? parts_.interrupts() : 0;
}

Spending Tuning::spending() const {
  Spending spending = spending_of(trials_, incumbent());
  spending.elapsed_s = stopwatch_.elapsed_s();
  spending.usd += study_.overhead_usd + pool_.usd_committed(spending.least_trial_s);
  return spending;
}

double Tuning::trial_price(const Configuration& configuration) const {
  const StudySpec& study = parts_.study;
  double sum_s = 0.0;
  int count = 0;
  for (const TrialRecord& trial : trials_) {
    if (is_confirmation(trial.purpose) || !is_ranked(trial.status)) continue;
    sum_s += trial.spent_s;
    ++count;
  }
  const double trial_s = count > 0 ? sum_s / count : study.measure.max_trial_s;
  double seconds = trial_s;
  if (machines_ != nullptr) {
    seconds += machines_->expected_start_s(resources_of(study, configuration));
  }
  return prices_in_money(study) ? usage_usd(usd_per_hour(study, configuration), seconds) : seconds;
}

bool Tuning::can_pay_another() const {
  const auto longest_s = longest_billed_s(parts_.study);
  if (!longest_s) return true;
  const double spent_usd = spending_of(trials_, nullptr).usd + study_.overhead_usd;
  return can_risk_a_trial(parts_.study, spent_usd, pool_.usd_bound(*longest_s));
}

Result<LoopResult> Tuning::conclude() {
  LoopResult result{end_->end, end_->reason, {}, left_running_};
  if (machines_ != nullptr) study_.overhead_usd += machines_->take_overhead_usd();
  result.recommendation =
      recommend(parts_.study, trials_, {stopwatch_.elapsed_s(), study_.overhead_usd});
  const bool to_be_continued = is_to_be_continued(result.end);
  if (!result.recommendation && !to_be_continued) {
    result.end = LoopEnd::no_feasible_trial;
    result.reason =
        fmt::format("{}; no trial was measured that respects all guards", result.reason);
  }
  study_.status = to_be_continued ? StudyStatus::interrupted : StudyStatus::finished;
  study_.stop_reason = result.reason;
  study_.recommendation = result.recommendation ? to_json(*result.recommendation) : Json::object();
  study_.recommendation["end"] = to_text(result.end);
  if (auto recorded = recorder_.study(); !recorded) return tl::unexpected(recorded.error());
  return result;
}

}  // namespace steptune
