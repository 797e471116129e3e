// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/search_trials.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/next_trial.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/verdict/worth.hpp"

namespace steptune {
namespace {

/// Number of search trials kept for the best configuration with fewer changes. The first trial
/// leaves out all changes that seem needless. If that trial was slower, the second trial leaves out
/// half of them.
constexpr int k_kept_for_reduction = 2;

bool baseline_is_open(const Standing& standing) {
  return std::ranges::any_of(standing.trials(), [](const TrialRecord& trial) {
    return trial.purpose == TrialPurpose::baseline && !is_final(trial.status);
  });
}

/// True if two trials have values, so that a model can distinguish configurations.
bool has_values_to_compare(const Standing& standing) {
  const auto has_objectives = [](const TrialRecord& trial) {
    return is_compared(trial.purpose) && is_final(trial.status) && !trial.objectives.empty();
  };
  const auto& trials = standing.trials();
  const auto first = std::ranges::find_if(trials, has_objectives);
  return first != trials.end() && std::any_of(std::next(first), trials.end(), has_objectives);
}

/// Returns the expected price of a trial, including the start of its machines, in the unit of
/// observed prices.
double trial_price(const StudyRun& run, const Configuration& configuration) {
  const StudySpec& study = run.parts.study;
  const auto mean = run.standing().mean_price(study.measure);
  const double trial_s = mean ? mean->seconds : study.measure.max_trial_s;
  const double start_s = run.machines.expected_start_s(study.runner->resources_of(configuration));
  if (std::isinf(start_s)) return start_s;
  const std::optional<double>& waiting = study.search.waiting_per_hour;
  if (!waiting && !prices_in_money(study)) return trial_s + start_s;
  const double machine = usd_per_hour(study, configuration);
  return usage_usd(machine, trial_s) + usage_usd(waiting.value_or(machine), start_s);
}

}  // namespace

Result<std::optional<TrialRecord>> SearchTrials::next() {
  const StudySpec& study = run_->parts.study;
  auto& end = run_->end;
  if (end && is_to_be_continued(end->end)) return std::nullopt;
  if (!run_->can_pay_another()) {
    // While trials run, their highest possible bills count. Their real bills may be lower, so do
    // not end the search yet.
    if (run_->running.empty() && !end) {
      end = SearchEnd{LoopEnd::budget, format_usd(*study.budget.cost_usd), BudgetLimit::cost};
    }
    return std::nullopt;
  }
  if (auto pending = pending_->next(/*confirming=*/false)) return pending;
  if (end) return std::nullopt;
  if (run_->standing().baseline() == nullptr) {
    if (baseline_is_open(run_->standing())) return std::nullopt;
    return run_->new_trial(TrialPurpose::baseline, "baseline", study.baseline);
  }
  if (auto failures = ended_->too_many_failures()) {
    end = std::move(failures);
    return std::nullopt;
  }
  const Spending so_far = run_->spending();
  log_spending(so_far);
  if (auto spent = search_budget_spent(study, so_far, run_->confirmed)) {
    end = std::move(spent);
    return std::nullopt;
  }
  if (auto sentinel = next_sentinel(*run_, /*search_is_over=*/false)) return sentinel;
  if (auto hint = next_hint(*run_)) return hint;
  if (auto again = next_disturbed(*run_)) return again;
  if (is_nothing_to_gain()) {
    end =
        SearchEnd{LoopEnd::nothing_to_gain,
                  fmt::format("no configuration can be {:g} % {} than the baseline",
                              100.0 * study.search.worth, study.objectives.front().comparative())};
    return std::nullopt;
  }
  if (ends_soon(so_far)) {
    if (auto reduced = next_reduction(*run_)) return reduced;
  }
  return next_suggestion();
}

bool SearchTrials::is_nothing_to_gain() const {
  // A running trial may still be faster.
  return run_->running.empty() && nothing_to_gain(run_->parts.study, run_->standing(),
                                                  run_->confirmation(), expected_improvement())
                                      .has_value();
}

std::optional<double> SearchTrials::expected_improvement() const {
  if (expected_improvement_) return expected_improvement_;
  const auto& trials = run_->standing().trials();
  const auto latest = std::find_if(trials.rbegin(), trials.rend(), [](const TrialRecord& trial) {
    return trial.purpose == TrialPurpose::search && trial.origin != k_fewest_changes;
  });
  return latest == trials.rend() ? std::nullopt : latest->expected_improvement;
}

bool SearchTrials::ends_soon(Spending spending) const {
  const StudySpec& study = run_->parts.study;
  const auto price = run_->standing().mean_price(study.measure);
  if (!price) return false;
  spending.search_trials += k_kept_for_reduction;
  spending.elapsed_s += k_kept_for_reduction * price->seconds;
  spending.usd += k_kept_for_reduction * price->usd;
  return search_budget_spent(study, spending, run_->confirmed).has_value();
}

Result<std::optional<TrialRecord>> SearchTrials::next_suggestion() {
  const LoopParts& parts = run_->parts;
  if (run_->waits_for_results && !run_->running.empty()) return std::nullopt;
  const std::vector<Configuration> running = run_->running.configurations();
  SuggestRequest request;
  request.trial = static_cast<std::int64_t>(run_->standing().trials().size()) + 1;
  request.running = running;
  // Before there are values to compare, trials fill the search space, whatever they cost. But if
  // several trials can share the start of a machine, they use the cheapest machine.
  const bool shares_starts = run_->machines.trials_in_turn() > 1;
  if (parts.study.runner->traits().machines_vary &&
      (shares_starts || has_values_to_compare(run_->standing()))) {
    request.price = [this](const Configuration& configuration) {
      return trial_price(*run_, configuration);
    };
  }
  auto suggestion = parts.searcher.suggest(request);
  if (!suggestion) return tl::unexpected(suggestion.error());
  for (const std::string& warning : parts.searcher.take_warnings())
    parts.listener.on_warning(warning);
  // A running trial may still show something worth trying.
  run_->waits_for_results = !*suggestion && !run_->running.empty();
  if (!*suggestion && run_->waits_for_results) return std::nullopt;
  if (!*suggestion) {
    if (auto reduced = next_reduction(*run_)) return reduced;
    run_->end = SearchEnd{LoopEnd::exhausted, parts.searcher.why_done()};
    return std::nullopt;
  }
  Suggestion& found = **suggestion;
  expected_improvement_ = found.expected_improvement;
  log_suggested(request.trial, found);
  if (stops_at_payback(found, request.trial)) {
    run_->end = SearchEnd{
        LoopEnd::payback,
        "no configuration is expected to save more on the planned run than trying it costs"};
    return std::nullopt;
  }
  TrialRecord trial = run_->new_trial(TrialPurpose::search, std::move(found.origin),
                                      std::move(found.configuration));
  trial.expected_improvement = found.expected_improvement;
  return trial;
}

bool SearchTrials::stops_at_payback(const Suggestion& suggestion, std::int64_t trial) {
  const bool stops =
      payback_.stops(run_->parts.study, suggestion.expected_improvement, run_->standing());
  run_->record.unpaid_suggestions = payback_.unpaid_in_a_row();
  if (payback_.unpaid_in_a_row() > 0) run_->recorder.decided(payback_decision(trial, payback_));
  return stops;
}

}  // namespace steptune
