// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace steptune::bisections {

/// A sequence of versions, one of which made the program slower.
struct BisectionModel {
  std::uint64_t seed = 0;
  std::size_t versions = 64;  ///< versions after the good version
  double slowdown = 0.05;     ///< relative increase of the time, from the first slow version on
  double launch_variation = 0.01;  ///< standard deviation of the logarithm of a launch's time
  double run_variation = 0.003;  ///< standard deviation of the logarithm of a time within a launch
  double run_s = 10.0;           ///< duration of a launch, start-up included
  double time_s = 1800.0;        ///< time limit of `bisect`
};

/// Result of one search.
struct SearchResult {
  std::optional<std::size_t> named;  ///< the version that the search names; nullopt: none
  std::size_t first_slow = 0;
  std::size_t suspects = 1;  ///< number of versions that may be the first slow one
  int runs = 0;
};

/// Simulates `bisect`: stages that compare up to seven versions with the good one. The same model
/// gives the same result.
[[nodiscard]] SearchResult bisect(const BisectionModel& model);

/// Simulates plain bisection: each version runs three times. It is slow if its fastest run is
/// nearer to the bad version's fastest run than to the good version's.
[[nodiscard]] SearchResult bisect_plainly(const BisectionModel& model);

}  // namespace steptune::bisections
