// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "search/schedulers/schedulers.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_min_others = 3;
/// A curve keeps a point when the resource has grown by this factor since its last one.
constexpr double k_growth = 1.05;

class MedianScheduler final : public Scheduler {
 public:
  explicit MedianScheduler(const SchedulerOptions& options) : min_resource_(options.min_resource) {}

  StopDecision on_estimate(const TrialEstimate& estimate) override {
    on_exempt(estimate);
    if (estimate.resource < min_resource_ || estimate.values.empty()) return {};
    double first_median = 0.0;
    for (std::size_t i = 0; i < estimate.values.size(); ++i) {
      std::vector<double> others = others_at(estimate, i);
      if (others.size() < k_min_others) return {};
      const double median = median_of(others);
      if (i == 0) first_median = median;
      if (!(estimate.values[i] - estimate.half_widths[i] > median)) return {};
    }
    return {
        true,
        fmt::format("at {:g} steps its interval ({:.4g} at least) lies above the median of the "
                    "others ({:.4g})",
                    estimate.resource, estimate.values[0] - estimate.half_widths[0], first_median)};
  }

  void on_exempt(const TrialEstimate& estimate) override {
    std::vector<TrialEstimate>& curve = curves_[estimate.trial];
    // The last point is replaced until it lies far enough from the one before it.
    if (curve.size() > 1 && curve.back().resource < curve[curve.size() - 2].resource * k_growth) {
      curve.pop_back();
    }
    curve.push_back(estimate);
  }

 private:
  /// What the other trials that got as far had measured at this resource.
  [[nodiscard]] std::vector<double> others_at(const TrialEstimate& estimate,
                                              std::size_t objective) const {
    std::vector<double> values;
    for (const auto& [trial, curve] : curves_) {
      if (trial == estimate.trial || curve.back().resource < estimate.resource) continue;
      const auto* at = &curve.front();
      for (const TrialEstimate& point : curve) {
        if (point.resource <= estimate.resource) at = &point;
      }
      if (objective < at->values.size() && std::isfinite(at->values[objective])) {
        values.push_back(at->values[objective]);
      }
    }
    return values;
  }

  static double median_of(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
  }

  double min_resource_;
  std::map<std::int64_t, std::vector<TrialEstimate>> curves_;
};

}  // namespace

std::unique_ptr<Scheduler> make_median_scheduler(const SchedulerOptions& options) {
  return std::make_unique<MedianScheduler>(options);
}

}  // namespace steptune
