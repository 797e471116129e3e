// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "search/schedulers/pareto_rank.hpp"
#include "search/schedulers/schedulers.hpp"

namespace steptune {
namespace {

class AshaScheduler final : public Scheduler {
 public:
  explicit AshaScheduler(const SchedulerOptions& options) : eta_(options.eta) {
    double resource = options.min_resource;
    while (resource < options.max_resource * k_resource_slack) {
      rungs_.push_back({resource, {}});
      resource *= eta_;
    }
  }

  StopDecision on_estimate(const TrialEstimate& estimate) override {
    const auto reached = record(estimate);
    if (!reached) return {};
    const Rung& rung = rungs_[*reached];
    if (passed(estimate.trial, *reached)) return {};
    const std::size_t count = rung.values.size();
    std::vector<std::vector<double>> others;
    for (const auto& [trial, values] : rung.values) {
      if (trial != estimate.trial) others.push_back(values);
    }
    const auto promoted_count =
        std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(count) / eta_));
    const std::size_t rank = rank_among(estimate.values, others);
    if (rank < promoted_count) {
      passed_[estimate.trial] = *reached + 1;
      return {};
    }
    std::vector<double> lower = estimate.values;
    for (std::size_t i = 0; i < lower.size(); ++i)
      lower[i] -= estimate.half_widths[i];
    if (!all_finite(lower) || rank_among(lower, others) < promoted_count) return {};
    return {true, fmt::format("rung {} ({:g} steps): rank {} of {}, top {} promoted", *reached + 1,
                              rung.resource, rank + 1, count, promoted_count)};
  }

  void on_exempt(const TrialEstimate& estimate) override { (void)record(estimate); }
  void forget(std::int64_t trial) override {
    for (Rung& rung : rungs_)
      rung.values.erase(trial);
    passed_.erase(trial);
  }
  bool defers_to_searcher() const override { return true; }

 private:
  struct Rung {
    double resource = 0.0;
    std::map<std::int64_t, std::vector<double>> values;  ///< by trial
  };

  /// Records the trial at each rung that it has reached, unless it is already recorded there.
  /// Returns the highest rung reached.
  std::optional<std::size_t> record(const TrialEstimate& estimate) {
    if (!all_finite(estimate.values) || estimate.values.empty()) return std::nullopt;
    std::optional<std::size_t> highest;
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      if (rungs_[i].resource * k_resource_slack > estimate.resource) break;
      rungs_[i].values.emplace(estimate.trial, estimate.values);
      highest = i;
    }
    return highest;
  }

  [[nodiscard]] bool passed(std::int64_t trial, std::size_t rung) const {
    const auto found = passed_.find(trial);
    return found != passed_.end() && found->second > rung;
  }

  double eta_;
  std::vector<Rung> rungs_;
  /// Number of rungs that each trial has passed. A trial is not judged again at a rung that it has
  /// passed.
  std::map<std::int64_t, std::size_t> passed_;
};

}  // namespace

std::unique_ptr<Scheduler> make_asha_scheduler(const SchedulerOptions& options) {
  return std::make_unique<AshaScheduler>(options);
}

}  // namespace steptune
