// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace steptune {

/// Kind of counter that a printed name stands for.
struct CounterName {
  bool counts_samples = false;  ///< otherwise steps
  bool may_be_size = false;     ///< as in `total_samples: 60000`, `batch=64`
  /// The counter with the highest rank counts optimizer steps: `iter` may count micro-batches.
  int rank = 0;
  bool may_be_of_window = false;  ///< beside a step: `iter: 20, samples: 5120`
};

/// Looks up a lower-case name: `train/global_step`, `iteration`, `samples`. Returns nothing for any
/// other name.
[[nodiscard]] std::optional<CounterName> counter_name(std::string_view name);

}  // namespace steptune
