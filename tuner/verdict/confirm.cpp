// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "common/numbers.hpp"
#include "tuner/verdict/counted_runs.hpp"
#include "tuner/verdict/disturbed_runs.hpp"
#include "tuner/verdict/further_pairs.hpp"
#include "tuner/verdict/guards_over_launches.hpp"
#include "tuner/verdict/setting_changes.hpp"
#include "tuner/verdict/shared_phases.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

/// Returns how much launches differ, from the search's runs of the baseline. The pairs of
/// confirming runs show their own variation. If the machine seems to drift, returns an empty list.
/// The runs of the baseline cannot distinguish a drift from launches that differ much.
KnownLaunches launches_before_confirming(const Standing& standing) {
  std::vector<TrialRecord> searched;
  for (const TrialRecord& trial : standing.trials()) {
    // Confirming runs, or a drift that they show, must not change earlier verdicts. The whole error
    // is divided among the planned looks, so none is left for judging again.
    if (is_confirmation(trial.purpose)) break;
    if (trial.purpose == TrialPurpose::baseline || trial.purpose == TrialPurpose::sentinel) {
      searched.push_back(trial);
    }
  }
  const Objective& first = standing.rules().objectives.front();
  const bool may_drift = first.is_timed();
  const MachineDrift drift = may_drift ? MachineDrift(searched) : MachineDrift();
  return drift.is_significant() ? KnownLaunches{} : launch_scatters(searched, drift);
}

/// Share of the error for the first finalist. Each further finalist has a quarter of the previous
/// finalist's share, so all shares add up to 1. The first share is large, because most studies have
/// one finalist.
constexpr double k_first_finalist = 0.75;

double error_of_finalist(std::size_t index) {
  return k_one_sided_error * k_first_finalist *
         std::pow(1.0 - k_first_finalist, static_cast<double>(index));
}

}  // namespace

Confirmation::Confirmation(const StudySpec& study, const Standing& standing, bool is_over)
    : study_(&study),
      standing_(&standing),
      baseline_failed_(baseline_has_failed(standing.trials())) {
  const TrialRecord* searched = standing.baseline();
  const Measurement* of_baseline =
      searched != nullptr && searched->measurement ? &*searched->measurement : nullptr;
  std::vector<const TrialRecord*> runs = counted_runs(standing.trials());
  priced_alike_ = std::make_shared<const std::vector<TrialRecord>>(
      with_shared_phases(study, runs, of_baseline));
  if (!priced_alike_->empty()) {
    std::ranges::transform(*priced_alike_, runs.begin(), [](const auto& run) { return &run; });
  }
  pair_runs(runs);
  if (!study.measure.confirm_all) known_ = launches_before_confirming(standing);
  for (std::size_t i = 0; i < finalists_.size(); ++i) {
    judge_finalist(i, false);
    if (is_over && !finalists_[i].settled) judge_finalist(i, true);
  }
  if (study.measure.in_use) settle_in_use(*study.measure.in_use);
}

void Confirmation::pair_runs(const std::vector<const TrialRecord*>& runs) {
  std::map<int, const TrialRecord*> baselines;
  for (const TrialRecord* run : runs) {
    last_round_ = std::max(last_round_, run->confirm_pair);
    if (run->purpose == TrialPurpose::confirm_baseline) {
      baselines[run->confirm_pair] = run;
    } else if (!was_tried(run->configuration)) {
      finalists_.push_back({run->configuration, {}, false, {}, Verdict::open, false});
    }
  }
  for (const TrialRecord* run : runs) {
    if (run->purpose != TrialPurpose::confirm_incumbent || !is_measured(*study_, *run)) continue;
    const auto baseline = baselines.find(run->confirm_pair);
    if (baseline == baselines.end() || !is_measured(*study_, *baseline->second)) continue;
    std::ranges::find(finalists_, run->configuration, &Finalist::configuration)
        ->pairs.push_back({run, baseline->second});
  }
}

BothErrors Confirmation::errors_of(std::size_t index) const {
  if (study_->measure.confirm_all) {
    const double each = error_of_each(*study_);
    return {each * study_->measure.confirm_error / k_one_sided_error, each};
  }
  return {error_of_finalist(index), error_of_finalist(index)};
}

void Confirmation::judge_finalist(std::size_t index, bool is_last) {
  Finalist& finalist = finalists_[index];
  finalist.failed = std::ranges::any_of(standing_->trials(), [&](const TrialRecord& trial) {
    return refutes(trial) && trial.configuration == finalist.configuration;
  });
  const BothErrors errors = errors_of(index);
  const Judgement judgement = study_->measure.confirm_all
                                  ? judge_both_ways(*study_, finalist.pairs, errors, is_last)
                                  : judge(*study_, finalist.pairs, errors.other, known_, is_last);
  finalist.speed_up = judgement.speed_up;
  finalist.verdict = finalist.failed ? Verdict::failed : judgement.verdict;
  const bool may_be_kept = !finalist.failed && judgement.verdict != Verdict::slower;
  if (may_be_kept &&
      violates_over_launches(*study_, standing_->trials(), finalist.configuration, errors.other)) {
    finalist.verdict = Verdict::worse;
  }
  finalist.settled = finalist.failed || judgement.settled;
}

double Confirmation::further_pairs_of(std::size_t finalist) const {
  const Finalist& open = finalists_[finalist];
  if (open.verdict != Verdict::open) return k_nan;
  return further_pairs(*study_, open.pairs, errors_of(finalist), known_);
}

void Confirmation::settle_in_use(const ConfigurationInUse& in_use) {
  const auto& [configuration, rounds] = in_use;
  const auto is_in_use = [&](const Finalist& finalist) {
    return finalist.configuration == configuration;
  };
  // If the round began with the baseline, another finalist may be settled before the configuration
  // in use runs. The configuration in use still runs then.
  const bool owes_a_run = !was_run(configuration, last_round_);
  const bool others_open = std::ranges::any_of(finalists_, [&](const Finalist& finalist) {
    const bool ran = !finalist.failed && was_run(finalist.configuration, last_round_);
    return !is_in_use(finalist) && (!finalist.settled || (owes_a_run && ran));
  });
  for (Finalist& finalist : finalists_) {
    if (!is_in_use(finalist) || finalist.failed) continue;
    finalist.settled = !others_open && std::ssize(finalist.pairs) >= rounds;
  }
}

const TrialRecord* Confirmation::in_use() const {
  const auto& in_use = study_->measure.in_use;
  if (!in_use || in_use->configuration == study_->baseline) return nullptr;
  for (const TrialRecord* trial : standing_->candidates()) {
    if (trial->configuration == in_use->configuration) return trial;
  }
  return nullptr;
}

bool Confirmation::was_tried(const Configuration& configuration) const {
  return std::ranges::find(finalists_, configuration, &Finalist::configuration) != finalists_.end();
}

bool Confirmation::has_needless_changes(const Finalist& finalist, const Finalist& other) const {
  return !(finalist.speed_up.low > other.speed_up.ratio) &&
         changed_settings(*study_, finalist.configuration).size() >
             changed_settings(*study_, other.configuration).size();
}

bool Confirmation::is_preferred(const Finalist& finalist, const Finalist& other) const {
  if (has_needless_changes(other, finalist)) return true;
  const double margin = 1.0 + study_->measure.target_half_width;
  return finalist.speed_up.ratio > margin * other.speed_up.ratio &&
         !has_needless_changes(finalist, other);
}

const Finalist* Confirmation::winner() const {
  const Finalist* best = nullptr;
  for (const Finalist& finalist : finalists_) {
    if (finalist.verdict != Verdict::faster) continue;
    if (best == nullptr || is_preferred(finalist, *best)) best = &finalist;
  }
  return best;
}

std::optional<Configuration> Confirmation::simpler_than(const Finalist& finalist) const {
  const TrialRecord* found = standing_->best_of(finalist.configuration);
  if (found == nullptr || !may_use_left_time(*study_)) return std::nullopt;
  const auto all = changed_settings(*study_, finalist.configuration);
  for (const std::int64_t number : standing_->tied_with(*found)) {
    const Configuration& other = standing_->find(number)->configuration;
    const auto changes = changed_settings(*study_, other);
    const bool is_part =
        !changes.empty() && changes.size() < all.size() &&
        with_changes(*study_, finalist.configuration, {changes.begin(), changes.end()}) == other;
    if (is_part && !was_tried(other)) return other;
  }
  return std::nullopt;
}

std::vector<Configuration> Confirmation::all_others() const {
  std::vector<const TrialRecord*> candidates = standing_->candidates();
  std::ranges::sort(candidates, {}, &TrialRecord::number);
  std::vector<Configuration> result;
  for (const TrialRecord* trial : candidates) {
    const bool is_new = std::ranges::find(result, trial->configuration) == result.end();
    if (is_new && trial->configuration != study_->baseline) result.push_back(trial->configuration);
  }
  return result;
}

std::vector<Configuration> Confirmation::contenders(std::size_t most) const {
  std::vector<Configuration> result;
  if (most == 0) return result;
  if (study_->measure.confirm_all) return all_others();
  const TrialRecord* incumbent = standing_->incumbent();
  const TrialRecord* baseline = standing_->baseline();
  if (baseline == nullptr) return result;
  if (incumbent == nullptr) {
    const auto stopped = standing_->stopped();
    if (!stopped.empty()) result.push_back(stopped.front()->configuration);
    return result;
  }
  const double to_beat = standing_->value(*baseline, 0);
  const bool is_kept = incumbent->configuration == baseline->configuration;
  const bool is_best = is_kept || standing_->value(*incumbent, 0) >= to_beat;
  // Without a steady state, a single launch shows little, so the baseline may be the best by luck.
  const bool may_be_luck = is_best && is_whole_run(*baseline) && !is_steady(*baseline);
  if (!is_kept) result.push_back(incumbent->configuration);
  for (const std::int64_t number : standing_->tied_with(*incumbent)) {
    if ((is_kept && !may_be_luck) || result.size() >= most) break;
    const TrialRecord& trial = *standing_->find(number);
    const bool may_be_better = may_be_luck || standing_->value(trial, 0) < to_beat;
    const bool is_new = std::ranges::find(result, trial.configuration) == result.end();
    if (may_be_better && is_new && trial.configuration != baseline->configuration) {
      result.push_back(trial.configuration);
    }
  }
  // Nothing looks better than the baseline. If time is left, confirm a configuration that may be
  // better.
  if (result.empty()) {
    const auto candidates = standing_->candidates();
    const auto open = std::ranges::find_if(
        candidates, [&](const TrialRecord* trial) { return may_be_worth_it(*trial); });
    if (open != candidates.end()) result.push_back((*open)->configuration);
  }
  const TrialRecord* with = in_use();
  if (with != nullptr && std::ranges::find(result, with->configuration) == result.end()) {
    result.push_back(with->configuration);
  }
  return result;
}

bool Confirmation::may_be_worth_it(const TrialRecord& trial) const {
  const TrialRecord& baseline = *standing_->baseline();
  const double worth = study_->search.worth;
  return worth > 0.0 && may_use_left_time(*study_) &&
         trial.configuration != baseline.configuration &&
         most_gain_of_trial(*standing_, trial, baseline, 0, standing_->candidates().size()) >=
             worth;
}

bool Confirmation::may_confirm_more() const {
  if (study_->measure.confirm_all) return standing_->baseline() != nullptr;
  const auto unproven = std::ranges::count_if(
      finalists_, [](const Finalist& finalist) { return finalist.verdict != Verdict::faster; });
  return standing_->baseline() != nullptr && static_cast<std::size_t>(unproven) < k_most_finalists;
}

std::optional<Configuration> Confirmation::next_in_turn() const {
  if (!may_confirm_more() || study_->measure.confirm_all) return std::nullopt;
  if (const Finalist* best = winner()) return simpler_than(*best);
  const TrialRecord& baseline = *standing_->baseline();
  const double to_beat = standing_->value(baseline, 0);
  const auto is_new = [&](const TrialRecord* trial) {
    return trial->configuration != baseline.configuration && !was_tried(trial->configuration);
  };
  for (const TrialRecord* trial : standing_->candidates()) {
    const bool is_open = standing_->value(*trial, 0) < to_beat || may_be_worth_it(*trial);
    if (is_open && is_new(trial)) return trial->configuration;
  }
  const auto stopped = standing_->stopped_ahead_of(baseline);
  const auto next = std::ranges::find_if(stopped, is_new);
  return next == stopped.end() ? std::nullopt : std::optional((*next)->configuration);
}

std::vector<Configuration> Confirmation::in_round(std::size_t together) const {
  std::vector<Configuration> configurations;
  for (const Finalist& finalist : finalists_) {
    if (!finalist.settled) configurations.push_back(finalist.configuration);
  }
  if (!may_confirm_more()) return configurations;
  // There is a new incumbent if an earlier incumbent failed, or if a continued study has found
  // another.
  for (const Configuration& contender : contenders(finalists_.empty() ? together : 1)) {
    if (!was_tried(contender)) configurations.push_back(contender);
  }
  if (configurations.empty()) {
    if (const auto next = next_in_turn()) configurations.push_back(*next);
  }
  const TrialRecord* with = in_use();
  if (with != nullptr && !configurations.empty() &&
      std::ranges::find(configurations, with->configuration) == configurations.end()) {
    configurations.push_back(with->configuration);
  }
  return configurations;
}

bool Confirmation::was_run(const Configuration& configuration, int round) const {
  return std::ranges::any_of(standing_->trials(), [&](const TrialRecord& trial) {
    return trial.purpose == TrialPurpose::confirm_incumbent && trial.confirm_pair == round &&
           trial.configuration == configuration;
  });
}

std::optional<ConfirmStep> Confirmation::disturbed_run() const {
  std::vector<const TrialRecord*> runs = counted_runs(standing_->trials());
  std::erase_if(runs, [](const TrialRecord* run) { return !is_final(run->status); });
  if (disturbance_is_usual(runs)) return std::nullopt;
  for (const TrialRecord* run : runs) {
    if (!is_usable(*run) || !is_much_disturbed(*run)) continue;
    const auto of_round = std::ranges::count_if(standing_->trials(), [&](const auto& trial) {
      return trial.purpose == run->purpose && trial.confirm_pair == run->confirm_pair &&
             trial.configuration == run->configuration;
    });
    if (of_round == 1) return ConfirmStep{run->purpose, run->confirm_pair, run->configuration};
  }
  return std::nullopt;
}

std::optional<ConfirmStep> Confirmation::rest_of_round() const {
  const bool baseline_first = last_round_ % 2 == 0;
  const bool with_baseline = std::ranges::any_of(standing_->trials(), [&](const auto& trial) {
    return trial.purpose == TrialPurpose::confirm_baseline && trial.confirm_pair == last_round_ &&
           !is_failed_baseline(trial);
  });
  std::vector<Configuration> open;
  for (const Finalist& finalist : finalists_) {
    if (!finalist.settled) open.push_back(finalist.configuration);
  }
  if (baseline_first) std::ranges::reverse(open);
  const bool may_join = baseline_first || !with_baseline;
  for (const Configuration& configuration : open) {
    if (may_join && !was_run(configuration, last_round_)) {
      return ConfirmStep{TrialPurpose::confirm_incumbent, last_round_, configuration};
    }
  }
  // A finalist's run counts only in a pair with a run of the baseline.
  const bool awaited = std::ranges::any_of(
      open, [&](const Configuration& each) { return was_run(each, last_round_); });
  if (with_baseline || !awaited) return std::nullopt;
  return ConfirmStep{TrialPurpose::confirm_baseline, last_round_, study_->baseline};
}

std::size_t Confirmation::runs_in_next_round() const {
  return std::max<std::size_t>(1, in_round(1).size()) + 1;
}

std::size_t Confirmation::runs_left_in_round(const TrialRecord& run) const {
  const auto open =
      std::ranges::count_if(finalists_, [](const Finalist& finalist) { return !finalist.settled; });
  const auto others = std::ranges::count_if(standing_->trials(), [&](const TrialRecord& trial) {
    return is_confirmation(trial.purpose) && trial.confirm_pair == run.confirm_pair &&
           trial.number != run.number;
  });
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, open + 1 - others));
}

std::optional<ConfirmStep> Confirmation::next_step(const ConfirmLimits& limits) const {
  if (baseline_failed_ || study_->measure.confirm_pairs == 0) return std::nullopt;
  if (last_round_ <= 1) {
    // Until the first round has a pair, finalists that the search cannot distinguish may join it.
    const bool begun = std::ranges::any_of(
        finalists_, [](const Finalist& finalist) { return !finalist.pairs.empty(); });
    for (const Configuration& contender : contenders(begun ? 0 : limits.together)) {
      const bool may_begin = finalists_.empty() || limits.another_round;
      if (may_begin && !was_tried(contender) && may_confirm_more()) {
        return ConfirmStep{TrialPurpose::confirm_incumbent, 1, contender};
      }
    }
  }
  if (last_round_ > 0) {
    if (auto step = rest_of_round()) return step;
  }
  // Wait for the end of the round, because the disturbance may be over then.
  if (limits.another_round) {
    if (auto step = disturbed_run()) return step;
  }
  const auto configurations = in_round(limits.together);
  const bool is_first = finalists_.empty();
  if (configurations.empty() || (!is_first && !limits.another_round)) return std::nullopt;
  const int round = last_round_ + 1;
  // In even rounds, the baseline runs first. But a new finalist joins a round with its own first
  // run, so this run must come before the baseline's run.
  if (round % 2 == 0 && was_tried(configurations.front())) {
    return ConfirmStep{TrialPurpose::confirm_baseline, round, study_->baseline};
  }
  return ConfirmStep{TrialPurpose::confirm_incumbent, round, configurations.front()};
}

double error_of_each(const StudySpec& study) {
  const double configurations = static_cast<double>(confirmed_configurations(study).value_or(2));
  return k_one_sided_error / std::max(1.0, configurations - 1.0);
}

}  // namespace steptune
