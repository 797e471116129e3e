// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"

namespace steptune::parallel_plans {

/// A language model and the GPUs that train it. Times are in seconds, sizes in bytes.
struct TrainingJob {
  std::string name;
  double layers = 32.0;
  double heads = 32.0;
  double groups = 8.0;  ///< number of key-value groups in attention
  double hidden = 4096.0;
  double feed_forward = 14336.0;
  double vocabulary = 128256.0;
  double sequence = 8192.0;
  double global_batch = 128.0;
  double nodes = 2.0;
  double gpus_per_node = 8.0;
  double memory_bytes = 80e9;  ///< memory of a GPU
  /// Options of the command line that set the current parallel plan.
  std::vector<std::string> plan;

  [[nodiscard]] double world() const { return nodes * gpus_per_node; }
};

/// Returns the jobs of the benchmark.
[[nodiscard]] std::vector<TrainingJob> training_jobs();

/// Memory and time of one launch.
struct Launch {
  double peak_bytes = 0.0;
  std::optional<double> step_s;  ///< unset: the launch runs out of memory
};

/// Computes a launch of Megatron-LM with parameters of its search space: `tp`, `pp`, `cp`,
/// `micro_batch`, `sequence_parallel`, `recompute`, `flash_attention`, `distributed_optimizer`,
/// `overlap_reduce` and `overlap_gather`. Speeds and sizes are rounded figures of
/// H100 machines.
[[nodiscard]] Launch launch(const TrainingJob& job, const Configuration& configuration);

}  // namespace steptune::parallel_plans
