// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steptune::bench {

/// Trials with their instance types, in the order in which a search might propose them.
struct Workload {
  std::vector<std::string> instance_types;  ///< one for each trial
  std::vector<double> training_s;           ///< one for each trial
  int pools = 1;                            ///< number of sets of instances at a time
};

/// Makes `trials` trials of 30 to 90 s on `types` instance types, in random order.
[[nodiscard]] Workload make_workload(int trials, int types, int pools, std::uint64_t seed);

/// Schedule by which the jobs are submitted.
enum class Policy {
  ours,       ///< this project's runner
  no_pools,   ///< submits the next job when a job has ended; has no warm pools
  unordered,  ///< like `no_pools`, but with a keep-alive period of 5 min
};

struct PoolFigures {
  double training_s = 0.0;      ///< billed seconds in which programs ran
  double other_billed_s = 0.0;  ///< all other billed seconds, kept pools included
  double least_other_s = 0.0;  ///< lowest `other_billed_s` that any schedule of these trials allows
  double duration_s = 0.0;     ///< from the first request until the end of all costs
  int cold_starts = 0;
  int warm_starts = 0;
  double mean_cold_start_s = 0.0;  ///< from the request to the program's start
  double mean_warm_start_s = 0.0;
};

/// Plays the workload in a simulated account with the default `StageTimes`.
[[nodiscard]] PoolFigures play(const Workload& workload, Policy policy);

}  // namespace steptune::bench
