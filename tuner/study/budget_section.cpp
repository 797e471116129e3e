// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/limits.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

Key<BudgetSpec> stop_key() {
  const auto type = document::one_of({"payback"});
  return {"stop",
          [type](const Node& node, BudgetSpec& budget) {
            budget.stop_at_payback = type.read(node).has_value();
          },
          [](const BudgetSpec& budget, const document::Writing&) {
            return budget.stop_at_payback ? std::optional<Json>("payback") : std::nullopt;
          },
          type.schema};
}

}  // namespace

const Section<BudgetSpec>& budget_section() {
  static const auto k_section =
      Section<BudgetSpec>("budget",
                          "When to end the search. Without trials, time and cost: 40 trials.",
                          "an object such as {\"trials\": 40, \"time\": \"30m\"}")
          .add(key("consecutive_failures", &BudgetSpec::consecutive_failures,
                   document::integer({1.0, double(k_most_budget_trials)}))
                   .doc("failed trials in a row after which the study ends"))
          .add(key("trials", &BudgetSpec::trials,
                   document::integer({1.0, double(k_most_budget_trials)}))
                   .doc("most trials, baseline and `try` included, without confirming runs"))
          .add(key("time", &BudgetSpec::time_s,
                   document::duration_s({k_shortest_budget_s, k_longest_budget_s}))
                   .doc("tuning time. Only the first pair of fresh runs may exceed it"))
          .add(key("cost", &BudgetSpec::cost_usd, document::number({0.0001, 1e9}))
                   .doc("USD; needs `runner.price_per_hour` or instances. Exceeded by less than "
                        "one trial can cost"))
          .add(stop_key().doc("`\"payback\"`: end if no trial is expected to save more than it "
                              "costs; needs `planned_run.samples`"));
  return k_section;
}

}  // namespace steptune::study
