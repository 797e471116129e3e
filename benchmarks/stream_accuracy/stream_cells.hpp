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
  bool states_queue = false;  ///< the study states how many batches can be ready
};

/// Set of lengths that the programs of all cells share. The estimator was developed with `first`;
/// `second` checks that it is not fitted to these numbers alone.
enum class CellFamily { first, second };

[[nodiscard]] std::vector<StreamCell> stream_cells(CellFamily family);

}  // namespace steptune
