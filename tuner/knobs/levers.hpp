// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/numbers.hpp"
#include "search/space/search_space.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {

/// Parameters that change together: the thread counts of PyTorch, OpenMP and BLAS; workers and the
/// batches that each loads ahead; batch size and accumulation.
struct Lever {
  KnobRole role = KnobRole::other;
  /// Indices in the space. The first parameter is moved; all later parameters follow it.
  std::vector<std::size_t> parameters;
};

/// Returns the levers of a space, in the order of their first parameters. Parameters without a role
/// belong to no lever; nor do the instance type, and checkpointing, which trades time for memory.
[[nodiscard]] std::vector<Lever> levers_of(const SearchSpace& space, const KnobRoles& declared);

/// Returns the parameter's value that is nearest to `wanted`.
[[nodiscard]] Value nearest_level(const Parameter& parameter, double wanted);

/// Number that a configuration gives to a lever.
struct LeverNumber {
  double number = 0.0;  ///< the largest number if thread counts differ
  /// False if thread counts differ, although the lever would set them to one number.
  bool is_common = true;
};
[[nodiscard]] LeverNumber lever_number(const SearchSpace& space, const Lever& lever,
                                       const Configuration& configuration);

/// Values of a lever that were tried, and rules for the next value.
struct Climb {
  double today = 0.0;
  double best = 0.0;  ///< value in the best configuration so far
  /// Numbers of the best configuration and of all trials, including failed trials.
  std::vector<double> tried;
  std::vector<double> first = {};  ///< values to try before any step from the best
  /// Smallest value above `best` that failed or ran out of memory.
  std::optional<double> too_large = {};
  double most = k_infinity;  ///< largest value that fits into memory
  double factor = 2.0;       ///< factor of one step
  bool may_fall = false;     ///< values below today's may be faster
  bool falls_first = false;  ///< values below today's are tried before larger values
};

/// Returns the next number to try. First come the numbers of `first`, then steps from the best
/// number in the direction that made training faster. Last come the numbers halfway (on a
/// logarithmic scale) between the best number and its two tried neighbours. Never returns a number
/// that was tried. Returns nullopt if no step is left.
[[nodiscard]] std::optional<double> next_number(const Parameter& parameter, const Climb& climb);

}  // namespace steptune
