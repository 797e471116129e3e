// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "search/observation.hpp"

namespace steptune::bayes {

/// A value that a trial has come to on its way, as an example to learn from.
struct WayPoint {
  double fidelity = 1.0;  ///< in (0, 1]
  double value = 0.0;     ///< of the first objective
  double standard_error = 0.0;
};

/// The milestones at rising fidelities that have a finite value. Standard errors are doubled but
/// for the last one: the last value rests on all that those before it rest on, and as so many
/// measurements of their own they would seem to have averaged out the noise of one trial.
[[nodiscard]] std::vector<WayPoint> way_of(std::span<const Milestone> milestones);

}  // namespace steptune::bayes
