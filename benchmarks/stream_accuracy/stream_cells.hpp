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
  bool tells_queue = false;  ///< the study says how many batches can be ready
};

/// What the programs of all cells have in common. The estimator was made with `first` in sight;
/// `second` checks that it does not fit these numbers alone.
enum class CellFamily { first, second };

[[nodiscard]] std::vector<StreamCell> stream_cells(CellFamily family);

}  // namespace steptune
