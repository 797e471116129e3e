// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmarks/stream_accuracy/training_stream.hpp"

namespace steptune {

/// One row of the table: programs of one kind.
struct StreamCell {
  std::string name;
  SimulatedProgram program;
  bool states_queue = false;  ///< the study file states the size of the queue of ready batches
};

/// Set of periods and queue sizes that the programs of all cells use. The estimator was developed
/// with `first`. `second` checks that the estimator is not fitted to these numbers alone.
enum class CellFamily { first, second };

[[nodiscard]] std::vector<StreamCell> stream_cells(CellFamily family);

}  // namespace steptune
