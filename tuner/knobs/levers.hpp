// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {

/// Parameters that move as one: the thread counts of PyTorch, OpenMP and BLAS; workers and the
/// batches that each loads ahead; batch size and accumulation.
struct Lever {
  KnobRole role = KnobRole::other;
  /// Positions in the space. The first one is moved, the others follow it.
  std::vector<std::size_t> parameters;
};

/// The levers of a space, in the order of their first parameters. Parameters without a role belong
/// to none, nor do the instance and checkpointing, which buys memory with time.
[[nodiscard]] std::vector<Lever> levers_of(const SearchSpace& space, const KnobRoles& declared);

/// The parameter's value that is nearest to `wanted`.
[[nodiscard]] Value nearest_level(const Parameter& parameter, double wanted);

/// Numbers that a lever was tried at.
struct Climb {
  double today = 0.0;
  double best = 0.0;               ///< in the best configuration so far
  std::vector<double> tried;       ///< whatever came of it
  std::vector<double> first = {};  ///< to be tried before any step from the best
  /// Least one that failed or ran out of memory.
  std::optional<double> too_large = {};
  double most = std::numeric_limits<double>::infinity();  ///< that fits into memory
  double factor = 2.0;                                    ///< of a step
  bool may_fall = false;                                  ///< numbers below today's may pay
  bool falls_first = false;                               ///< and are tried before larger ones
};

/// The next number to try: those of `first`, then steps from the best in the direction that paid,
/// then halfway, on a logarithmic scale, to the one that did not pay, and to the one before. Never
/// a number that was tried. Nothing once no step is left.
[[nodiscard]] std::optional<double> next_number(const Parameter& parameter, const Climb& climb);

}  // namespace steptune
