// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/configuration.hpp"

namespace steptune {

enum class ObservationKind {
  complete,    ///< measured to the precision asked for
  partial,     ///< stopped early by the scheduler: values are less certain
  infeasible,  ///< ran, but violated a guard: values may be present, the configuration is no winner
  failed,      ///< crashed or timed out: no values
  out_of_memory  ///< no values; larger memory needs will fail too
};

/// What a trial had measured on its way.
struct Milestone {
  double fidelity = 1.0;  ///< resource relative to a full trial's, in (0, 1]
  /// To be minimised, one per objective, and the standard error of each (0 where unknown).
  std::vector<double> values;
  std::vector<double> standard_errors;
};

/// What one finished trial taught, in the terms of the search: nothing of processes or files.
struct Observation {
  std::int64_t trial = 0;
  Configuration configuration;
  ObservationKind kind = ObservationKind::complete;
  /// To be minimised, one per objective of the study; empty for `failed` and `out_of_memory`.
  std::vector<double> values;
  /// Standard error of each value, same unit and length as `values`; 0 where unknown.
  std::vector<double> standard_errors;
  /// Resource that the values stem from relative to a full trial's, in (0, 1].
  double fidelity = 1.0;
  /// What it had measured before, at rising fidelities below `fidelity`; may be empty.
  std::vector<Milestone> milestones;
  /// What the trial cost, in the study's currency of trying (seconds, or USD); 0 where unknown.
  double price = 0.0;
  std::optional<double> peak_memory_bytes;
};

}  // namespace steptune
