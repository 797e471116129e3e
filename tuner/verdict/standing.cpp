// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/standing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "tuner/verdict/counted_runs.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/shrinkage.hpp"
#include "tuner/verdict/trial_price.hpp"

namespace steptune {
namespace {

bool has_values(const RankingRules& rules, const TrialRecord& trial) {
  return is_compared(trial.purpose) && trial.objectives.size() == rules.objectives.size() &&
         !trial.objectives.empty() &&
         std::ranges::all_of(trial.objectives, [](double value) { return std::isfinite(value); });
}

bool was_stopped_in_mid(const RankingRules& rules, const TrialRecord& trial) {
  return trial.status == TrialStatus::stopped_early && has_values(rules, trial);
}

}  // namespace

RankingRules ranking_rules(const StudySpec& study) {
  RankingRules rules = ranking_rules(study.objectives, study.measure.target_half_width,
                                     study.planned_run.batch_size);
  rules.worth = study.search.worth;
  return rules;
}

RankingRules ranking_rules(std::vector<Objective> objectives, double target_half_width,
                           std::optional<document::Formula> batch_size) {
  RankingRules rules;
  rules.objectives = std::move(objectives);
  rules.target_half_width = target_half_width;
  if (!batch_size) return rules;
  rules.samples_per_step = [size = *std::move(batch_size)](const Configuration& configuration) {
    return samples_per_step(size, configuration);
  };
  return rules;
}

bool may_win(const RankingRules& rules, const TrialRecord& trial) {
  return trial.status == TrialStatus::completed && has_values(rules, trial);
}

Standing::Standing(RankingRules rules, std::size_t ranked_by)
    : rules_(std::move(rules)), ranked_by_(ranked_by) {}

Standing::Standing(RankingRules rules, std::vector<TrialRecord> trials, std::size_t ranked_by)
    : Standing(std::move(rules), ranked_by) {
  trials_ = std::move(trials);
  if (!std::ranges::is_sorted(trials_, {}, &TrialRecord::number)) {
    std::ranges::stable_sort(trials_, {}, &TrialRecord::number);
  }
  const auto repeated = std::ranges::unique(trials_, {}, &TrialRecord::number);
  trials_.erase(repeated.begin(), repeated.end());
  // Estimate the machine's drift only once. `put` would estimate it after each run of the baseline
  // or of a confirmation.
  for (const TrialPurpose purpose :
       {TrialPurpose::baseline, TrialPurpose::sentinel, TrialPurpose::confirm_incumbent,
        TrialPurpose::confirm_baseline}) {
    const bool ended = std::ranges::any_of(trials_, [&](const TrialRecord& trial) {
      return trial.purpose == purpose && is_final(trial.status);
    });
    if (!ended) continue;
    estimate_machine(purpose);
    break;
  }
  for (const TrialRecord& trial : trials_) {
    spent_usd_ += trial.spent_usd;
    if (is_final(trial.status)) count_ended(trial);
  }
}

std::vector<TrialRecord> Standing::take_trials() {
  by_value_.clear();
  baseline_ = 0;
  incumbent_ = 0;
  return std::exchange(trials_, {});
}

void Standing::put(TrialRecord trial) {
  const auto place = std::ranges::lower_bound(trials_, trial.number, {}, &TrialRecord::number);
  const bool known = place != trials_.end() && place->number == trial.number;
  const bool ended_before = known && is_final(place->status);
  spent_usd_ += trial.spent_usd - (known ? place->spent_usd : 0.0);
  const auto stored =
      known ? (*place = std::move(trial), place) : trials_.insert(place, std::move(trial));
  if (!is_final(stored->status) || ended_before) return;
  estimate_machine(stored->purpose);
  count_ended(*stored);
}

void Standing::count_ended(const TrialRecord& trial) {
  incumbent_.reset();
  if (refutes(trial)) refuted_.push_back(trial.configuration);
  if (!is_compared(trial.purpose)) return;
  ++ended_search_trials_;
  ended_total_.seconds += latest_attempt_s(trial);
  ended_total_.usd += latest_attempt_usd(trial);
  if (may_win(rules_, trial)) by_value_.emplace(value(trial, ranked_by_), trial.number);
  const bool is_earlier = baseline_ == 0 || trial.number < baseline_;
  if (is_earlier && is_measured_baseline(trial)) baseline_ = trial.number;
}

void Standing::estimate_machine(TrialPurpose ended) {
  const bool at_baseline = ended == TrialPurpose::baseline || ended == TrialPurpose::sentinel;
  if (!at_baseline && !is_confirmation(ended)) return;
  const bool drifted = drift_.is_significant();
  const Objective& first = rules_.objectives.front();
  if (at_baseline && first.is_timed()) drift_ = MachineDrift(trials_);
  launches_ = estimate_launch_variation(trials_, drift_);
  if (!at_baseline || !(drifted || drift_.is_significant())) return;
  std::set<std::pair<double, std::int64_t>> by_value;
  for (const auto& [former, number] : by_value_)
    by_value.emplace(value(*find(number), ranked_by_), number);
  by_value_ = std::move(by_value);
}

const TrialRecord* Standing::find(std::int64_t number) const {
  const auto place = std::ranges::lower_bound(trials_, number, {}, &TrialRecord::number);
  return place != trials_.end() && place->number == number ? &*place : nullptr;
}

const TrialRecord* Standing::best_of(const Configuration& configuration) const {
  const TrialRecord* best = nullptr;
  for (const TrialRecord& trial : trials_) {
    const bool wins = may_win(rules_, trial);
    if (trial.configuration != configuration || !(wins || was_stopped_in_mid(rules_, trial))) {
      continue;
    }
    const bool best_wins = best != nullptr && may_win(rules_, *best);
    if (best == nullptr || (wins && !best_wins) ||
        (wins == best_wins && value(trial, 0) < value(*best, 0))) {
      best = &trial;
    }
  }
  return best;
}

std::vector<const TrialRecord*> Standing::stopped() const {
  std::vector<const TrialRecord*> result;
  for (const TrialRecord& trial : trials_) {
    if (was_stopped_in_mid(rules_, trial) && !is_refuted(trial)) result.push_back(&trial);
  }
  std::ranges::stable_sort(result, {},
                           [&](const TrialRecord* trial) { return value(*trial, ranked_by_); });
  return result;
}

std::vector<const TrialRecord*> Standing::stopped_ahead_of(const TrialRecord& other) const {
  std::vector<const TrialRecord*> result = stopped();
  const double to_beat = value(other, 0);
  std::erase_if(result, [&](const TrialRecord* trial) {
    return !(value(*trial, 0) + k_z_95 * error(*trial, 0) < to_beat);
  });
  return result;
}

const TrialRecord* Standing::baseline() const {
  return find(baseline_);
}

MachineLevel Standing::level_of(const TrialRecord& trial, std::size_t objective) const {
  const Objective& which = rules_.objectives[objective];
  // The time of a trial in a search round is relative to the baseline already.
  return which.is_timed() && !is_of_search_round(trial) ? drift_.at(trial.number) : MachineLevel{};
}

double Standing::value(const TrialRecord& trial, std::size_t objective) const {
  const double measured = trial.objectives[objective];
  return to_minimized(rules_.objectives[objective],
                      steptune::without_drift(measured, level_of(trial, objective)));
}

double Standing::error(const TrialRecord& trial, std::size_t objective) const {
  const MachineLevel level = level_of(trial, objective);
  const double measured = error_among_launches(trial, objective, launches_);
  if (!(measured > 0.0)) return measured;
  return steptune::without_drift(
      std::hypot(measured, level.standard_error * trial.objectives[objective]), level);
}

TrialRecord Standing::without_drift(TrialRecord trial) const {
  trial.level = level_of(trial, 0);
  if (!drift_.is_significant()) return trial;
  for (std::size_t objective = 0; objective < trial.objectives.size(); ++objective) {
    const MachineLevel level = level_of(trial, objective);
    trial.objectives[objective] = steptune::without_drift(trial.objectives[objective], level);
    if (objective >= trial.standard_errors.size()) continue;
    double& error = trial.standard_errors[objective];
    if (!(error > 0.0)) continue;
    error = std::hypot(steptune::without_drift(error, level),
                       level.standard_error * trial.objectives[objective]);
  }
  return trial;
}

bool Standing::may_be_best(const TrialRecord& trial, const TrialRecord& leader,
                           std::size_t objective, std::size_t candidates) const {
  const double both = std::hypot(error(trial, objective), error(leader, objective));
  const double behind = value(trial, objective) - value(leader, objective);
  return behind <= critical_difference(candidates) * both;
}

bool Standing::is_refuted(const TrialRecord& trial) const {
  return std::ranges::find(refuted_, trial.configuration) != refuted_.end();
}

std::vector<const TrialRecord*> Standing::candidates() const {
  std::vector<const TrialRecord*> result;
  std::size_t considered = 0;
  for (const auto& [compared, number] : by_value_) {
    if (++considered > k_leading_trials) break;
    const TrialRecord* trial = find(number);
    if (!is_refuted(*trial)) result.push_back(trial);
  }
  return result;
}

const TrialRecord* Standing::incumbent() const {
  if (!incumbent_) {
    const TrialRecord* chosen = choose_incumbent();
    incumbent_ = chosen == nullptr ? 0 : chosen->number;
  }
  return find(*incumbent_);
}

const TrialRecord* Standing::choose_incumbent() const {
  const auto leading = candidates();
  if (leading.empty()) return nullptr;
  const TrialRecord& leader = *leading.front();
  std::vector<const TrialRecord*> tied;
  std::vector<MeasuredValue> values;
  for (const TrialRecord* trial : leading) {
    if (!may_be_best(*trial, leader, ranked_by_, leading.size())) continue;
    tied.push_back(trial);
    values.push_back({value(*trial, ranked_by_), error(*trial, ranked_by_)});
  }
  const std::vector<double> expected = shrunk(values);
  const double near =
      values.front().value + rules_.target_half_width * std::abs(values.front().value);
  const double worth = expected.front() + rules_.worth * std::abs(expected.front());
  std::vector<const TrialRecord*> preferred;
  for (std::size_t i = 0; i < tied.size(); ++i) {
    const bool is_simpler = changes_of(*tied[i]) > 0 && changes_of(*tied[i]) < changes_of(leader);
    const bool is_as_good =
        expected[i] <= worth && values[i].value <= expected.front() + values[i].error;
    if (values[i].value <= near || (is_simpler && is_as_good)) preferred.push_back(tied[i]);
  }
  prefer_fewest_changes(preferred);
  prefer_cheapest(preferred);
  const auto batch = [&](const TrialRecord* trial) {
    const auto size = rules_.samples_per_step ? rules_.samples_per_step(trial->configuration)
                                              : std::optional<double>();
    return size.value_or(k_infinity);
  };
  return *std::ranges::min_element(preferred, {}, [&](const TrialRecord* trial) {
    return std::tuple(batch(trial), value(*trial, ranked_by_), trial->number);
  });
}

std::size_t Standing::changes_of(const TrialRecord& trial) const {
  const TrialRecord* first = baseline();
  if (first == nullptr) return 0;
  const auto& values = first->configuration.values();
  return static_cast<std::size_t>(std::ranges::count_if(values, [&](const auto& setting) {
    const Value* value = trial.configuration.find(setting.first);
    return value != nullptr && *value != setting.second;
  }));
}

void Standing::prefer_fewest_changes(std::vector<const TrialRecord*>& trials) const {
  // Without fresh runs, the baseline is chosen only if it has the best value.
  const bool keeps_baseline = changes_of(*trials.front()) == 0;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const TrialRecord* trial : trials) {
    const std::size_t changes = changes_of(*trial);
    if (changes > 0 || keeps_baseline) fewest = std::min(fewest, changes);
  }
  std::erase_if(trials, [&](const TrialRecord* trial) { return changes_of(*trial) > fewest; });
  const auto is_reduced = [](const TrialRecord* trial) {
    return trial->origin == k_fewest_changes;
  };
  const auto fewer = std::ranges::find_if(trials, is_reduced);
  // Prefer a trial with origin `k_fewest_changes`. It has also reset conditional settings, which
  // `changes_of` does not count.
  if (fewer == trials.end()) return;
  std::erase_if(trials, [&](const TrialRecord* trial) {
    return changes_of(*trial) == fewest && !is_reduced(trial);
  });
}

void Standing::prefer_cheapest(std::vector<const TrialRecord*>& trials) const {
  const std::size_t other = ranked_by_ == 0 ? 1 : 0;
  if (rules_.objectives.size() < 2 || !rules_.objectives[other].is_cost()) return;
  const TrialRecord* cheapest = *std::ranges::min_element(
      trials, {}, [&](const TrialRecord* trial) { return value(*trial, other); });
  const std::size_t count = trials.size();
  std::erase_if(trials, [&](const TrialRecord* trial) {
    return !may_be_best(*trial, *cheapest, other, count);
  });
}

std::vector<std::int64_t> Standing::tied_with(const TrialRecord& leader) const {
  std::vector<std::int64_t> numbers;
  if (leader.objectives.size() != rules_.objectives.size()) return numbers;
  const auto leading = candidates();
  for (const TrialRecord* trial : leading) {
    if (trial->configuration == leader.configuration) continue;
    if (may_be_best(*trial, leader, ranked_by_, leading.size())) numbers.push_back(trial->number);
  }
  return numbers;
}

std::array<MeasuredValue, 2> Standing::compared(const TrialRecord& trial) const {
  const std::size_t other = ranked_by_ == 0 ? 1 : 0;
  return {MeasuredValue{value(trial, ranked_by_), error(trial, ranked_by_)},
          MeasuredValue{value(trial, other), error(trial, other)}};
}

std::vector<std::int64_t> Standing::front(const TrialRecord& leader) const {
  if (rules_.objectives.size() < 2 || leader.objectives.size() != rules_.objectives.size()) {
    return {};
  }
  std::vector<std::array<MeasuredValue, 2>> others;
  std::vector<std::int64_t> numbers;
  for (const auto& [first, number] : by_value_) {
    const TrialRecord& trial = *find(number);
    if (is_refuted(trial) || trial.configuration == leader.configuration) continue;
    others.push_back(compared(trial));
    numbers.push_back(number);
  }
  std::vector<std::int64_t> front{leader.number};
  for (const std::size_t index : trade_offs(compared(leader), others))
    front.push_back(numbers[index]);
  std::ranges::stable_sort(front, {}, [&](std::int64_t number) {
    return value(number == leader.number ? leader : *find(number), ranked_by_);
  });
  return front;
}

std::optional<TrialPrice> Standing::mean_price(const MeasureSpec& measure) const {
  const TrialRecord* first = baseline();
  TrialPrice total = ended_total_;
  std::int64_t count = ended_search_trials_;
  if (first != nullptr) {
    if (count == 1) return price_of_repeat(measure, *first);
    total.seconds -= latest_attempt_s(*first);
    total.usd -= latest_attempt_usd(*first);
    --count;
  }
  if (count == 0) return std::nullopt;
  return TrialPrice{total.seconds / static_cast<double>(count),
                    total.usd / static_cast<double>(count)};
}

}  // namespace steptune
