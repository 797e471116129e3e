// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/trial_way.hpp"

#include <cmath>

namespace steptune::bayes {
namespace {

constexpr double k_shared_errors = 2.0;

}  // namespace

std::vector<WayPoint> way_of(std::span<const Milestone> milestones) {
  std::vector<WayPoint> way;
  for (const Milestone& milestone : milestones) {
    const bool rises = way.empty() || milestone.fidelity > way.back().fidelity;
    if (!rises || milestone.values.empty() || !std::isfinite(milestone.values[0])) continue;
    if (!way.empty()) way.back().standard_error *= k_shared_errors;
    const double error = milestone.standard_errors.empty() ? 0.0 : milestone.standard_errors[0];
    way.push_back({milestone.fidelity, milestone.values[0], error});
  }
  return way;
}

}  // namespace steptune::bayes
