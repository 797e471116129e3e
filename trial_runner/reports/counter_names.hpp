// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace steptune {

/// Kind of counter, by its printed name.
struct CounterName {
  bool counts_samples = false;  ///< otherwise steps
  bool may_be_size = false;     ///< may be a size, as in `total_samples: 60000`, `batch=64`
  /// The counter of the highest rank counts optimizer steps; `iter` may count micro-batches.
  int rank = 0;
  /// May count a window if printed with a step: `iter: 20, samples: 5120`.
  bool may_be_of_window = false;
};

/// Looks up a lower-case name: `train/global_step`, `iteration`, `samples`. nullopt for others.
[[nodiscard]] std::optional<CounterName> counter_name(std::string_view name);

}  // namespace steptune
