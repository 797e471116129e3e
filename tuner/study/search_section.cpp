// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/search_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tuner/study/identifiers.hpp"
#include "tuner/study/study_keys.hpp"

namespace steptune::study {
namespace {

constexpr double k_max_trials = 1e6;
constexpr double k_max_budget_s = 366.0 * 86'400.0;
constexpr double k_max_trial_s = 30.0 * 86'400.0;
constexpr std::size_t k_max_earlier_studies = 10;

std::vector<std::string> read_learn_from(const Node& node) {
  std::vector<std::string> studies;
  for (const Node& element : node.elements(k_max_earlier_studies)) {
    const auto name = element.text();
    if (!name) continue;
    if (!is_study_name(*name)) {
      element.fault("is no study name; `steptune leaderboard --json` shows those of a history");
    } else if (std::ranges::find(studies, *name) != studies.end()) {
      element.fault("repeats an earlier study of the list");
    }
    studies.push_back(*name);
  }
  return studies;
}

}  // namespace

SearchSpec read_search(const Node& node) {
  SearchSpec search;
  const ObjectNode object(node, "an object such as {\"searcher\": \"bayes\"}", keys::k_search);
  object.read_name("searcher", search.searcher, names::k_searchers);
  object.read_name("scheduler", search.scheduler, names::k_schedulers);
  if (const auto seed = object.find("seed")) {
    // Doubles hold every whole number up to here, so that a seed survives every JSON reader.
    const auto value = seed->integer({0.0, 0x1p53});
    if (value) search.seed = static_cast<std::uint64_t>(*value);
  }
  object.read_integer("initial_points", search.initial_points, {0.0, k_max_trials});
  if (const auto earlier = object.find("learn_from")) search.learn_from = read_learn_from(*earlier);
  object.read_number("eta", search.eta, {1.1, 100.0});
  object.read_number("min_steps", search.min_steps, {1.0, 1e9});
  object.read_number("max_steps", search.max_steps, {1.0, 1e9});
  if (search.min_steps > search.max_steps) {
    const bool low_given = object.has("min_steps");
    object.find(low_given ? "min_steps" : "max_steps")
        ->fault(fmt::format("min_steps ({}) is above max_steps ({})", search.min_steps,
                            search.max_steps));
  }
  return search;
}

BudgetSpec read_budget(const Node& node) {
  BudgetSpec budget;
  const ObjectNode object(node, "an object such as {\"trials\": 40, \"time\": \"30m\"}",
                          keys::k_budget);
  if (const auto trials = object.find("trials"))
    budget.trials = trials->integer({1.0, k_max_trials});
  object.read_duration_s("time", budget.time_s, {1.0, k_max_budget_s});
  object.read_number("cost", budget.cost_usd, {0.0001, 1e9});
  if (const auto stop = object.find("stop")) {
    budget.stop_at_payback = stop->one_of(names::k_stops).has_value();
  }
  object.read_integer("consecutive_failures", budget.consecutive_failures, {1.0, k_max_trials});
  return budget;
}

void default_budget(BudgetSpec& budget) {
  if (!budget.trials && !budget.time_s && !budget.cost_usd) budget.trials = 40;
}

MeasureSpec read_measure(const Node& node) {
  MeasureSpec measure;
  const ObjectNode object(node, "an object such as {\"max_trial\": \"2m\"}", keys::k_measure);
  object.read_number("target_half_width", measure.target_half_width, {0.0001, 0.5});
  object.read_duration_s("max_trial", measure.max_trial_s, {0.1, k_max_trial_s});
  object.read_duration_s("min_window", measure.min_window_s, {0.01, k_max_trial_s});
  object.read_integer("min_window_steps", measure.min_window_steps, {1.0, 1e6});
  object.read_integer("confirm_pairs", measure.confirm_pairs, {0.0, 100.0});
  if (measure.min_window_s > measure.max_trial_s) {
    const bool window_given = object.has("min_window");
    object.find(window_given ? "min_window" : "max_trial")
        ->fault(fmt::format("min_window ({} s) is longer than max_trial ({} s)",
                            measure.min_window_s, measure.max_trial_s));
  }
  return measure;
}

}  // namespace steptune::study
