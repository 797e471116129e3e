// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"

namespace steptune {

[[nodiscard]] inline bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

/// Most objectives of a study.
inline constexpr std::size_t k_max_objectives = 2;

enum class ObservationKind {
  complete,      ///< measured to the requested precision
  partial,       ///< stopped early: values are less certain
  infeasible,    ///< ran but violated a guard, so it cannot be the best; may have values
  failed,        ///< crashed or timed out; no values
  out_of_memory  ///< no values; configurations that need more memory fail, too
};

/// Each milestone takes this many times the resource of the milestone before it.
inline constexpr double k_milestone_ratio = 2.0;

/// Values of a trial that were measured before its end.
struct Milestone {
  double fidelity = 1.0;       ///< resource (steps), divided by that of a full trial; in (0, 1]
  std::vector<double> values;  ///< one for each objective, to be minimised
  std::vector<double> standard_errors;  ///< of each value; 0 if unknown
};

/// Part of a finished trial's result that searchers use.
struct Observation {
  std::int64_t trial = 0;
  Configuration configuration;
  ObservationKind kind = ObservationKind::complete;
  /// One value for each objective of the study, to be minimised. Empty for `failed` and
  /// `out_of_memory`.
  std::vector<double> values;
  /// Standard error of each value, in the same unit and order; 0 if unknown.
  std::vector<double> standard_errors;
  /// Resource (steps) at which the values were measured, divided by that of a full trial; in (0,
  /// 1].
  double fidelity = 1.0;
  /// Earlier values, in order of their fidelities, which are below `fidelity`; may be empty.
  std::vector<Milestone> milestones;
  std::optional<double> peak_memory_bytes;
  /// Size of the memory in which the peak was measured, if known.
  std::optional<double> memory_limit_bytes;
};

/// Decision to stop a running trial early, or to let it continue.
struct StopDecision {
  bool stop = false;
  std::string reason;  ///< for a stop: `rung 3 (90 steps): rank 31 of 40, top 13 promoted`
};

}  // namespace steptune
