// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "search/observation.hpp"
#include "search/schedulers/schedulers.hpp"

namespace steptune {
namespace {

/// Fewest other trials whose median is compared.
constexpr std::size_t k_min_others = 3;

class MedianScheduler final : public Scheduler {
 public:
  explicit MedianScheduler(const SchedulerOptions& options) : min_resource_(options.min_resource) {}

  StopDecision on_estimate(const TrialEstimate& estimate) override {
    on_exempt(estimate);
    const bool is_judged = estimate.resource >= min_resource_ * k_resource_slack;
    if (!is_judged || estimate.values.empty()) return {};
    for (std::size_t i = 0; i < estimate.values.size(); ++i) {
      std::vector<double> others = others_at(estimate, i);
      if (others.size() < k_min_others) return {};
      if (!(estimate.values[i] - estimate.half_widths[i] > median_of(others))) return {};
    }
    return {true, fmt::format("at {:g} steps its 95 % interval is wholly worse than the median of "
                              "the other trials",
                              estimate.resource)};
  }

  void on_exempt(const TrialEstimate& estimate) override {
    Curve& curve = curves_.try_emplace(estimate.trial, Curve{{}, {}, min_resource_}).first->second;
    curve.latest = estimate;
    if (estimate.resource < curve.next_resource * k_resource_slack) return;
    // Keep only the points that are also the trial's milestones (`EarlyStopping`). The history has
    // these, so the curve is the same after a resume.
    while (curve.next_resource * k_resource_slack <= estimate.resource)
      curve.next_resource *= k_milestone_ratio;
    curve.kept.push_back(estimate);
  }

  void forget(std::int64_t trial) override { curves_.erase(trial); }

 private:
  struct Curve {
    std::vector<TrialEstimate> kept;
    TrialEstimate latest;
    double next_resource = 0.0;  ///< resource of the next point to keep
  };

  /// Returns the objective's values of all other trials that have reached the resource of
  /// `estimate`. Uses each trial's last point up to this resource.
  [[nodiscard]] std::vector<double> others_at(const TrialEstimate& estimate,
                                              std::size_t objective) const {
    std::vector<double> values;
    for (const auto& [trial, curve] : curves_) {
      if (trial == estimate.trial || curve.latest.resource < estimate.resource * k_resource_slack)
        continue;
      const auto* at = curve.kept.empty() ? &curve.latest : &curve.kept.front();
      for (const TrialEstimate& point : curve.kept) {
        if (point.resource * k_resource_slack <= estimate.resource) at = &point;
      }
      if (curve.latest.resource * k_resource_slack <= estimate.resource) at = &curve.latest;
      if (objective < at->values.size() && std::isfinite(at->values[objective])) {
        values.push_back(at->values[objective]);
      }
    }
    return values;
  }

  /// Returns the middle value, or the mean of the middle two.
  static double median_of(std::vector<double>& values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
  }

  double min_resource_;
  std::map<std::int64_t, Curve> curves_;
};

}  // namespace

std::unique_ptr<Scheduler> make_median_scheduler(const SchedulerOptions& options) {
  return std::make_unique<MedianScheduler>(options);
}

}  // namespace steptune
