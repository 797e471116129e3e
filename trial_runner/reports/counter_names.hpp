// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace steptune {

/// Among several counters, the one with the highest rank counts optimizer steps. `iter` has a lower
/// rank than `step`, because it may count micro-batches.
enum CounterRank : int { unnamed_rank = -1, default_rank, iteration_rank, step_rank, update_rank };

/// Kind of a counter, judged by its printed name.
struct CounterName {
  bool counts_samples = false;  ///< otherwise steps
  bool may_be_size = false;     ///< may be a size, as in `total_samples: 60000`, `batch=64`
  int rank = default_rank;
  /// If printed together with a step, may count only the samples of a window: `iter: 20, samples:
  /// 5120`.
  bool may_be_of_window = false;
};

/// Looks up a lower-case name: `train/global_step`, `iteration`, `samples`. nullopt for others.
[[nodiscard]] std::optional<CounterName> counter_name(std::string_view name);

}  // namespace steptune
