// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "support/command_line.hpp"

namespace steptune::example {

enum class Precision { fp32, bf16 };

/// Options that every example program has.
struct TrainingOptions {
  Precision precision = Precision::fp32;     ///< bf16: autocast; weights stay in fp32
  int threads = 1;                           ///< number of threads for the operations of one step
  int accumulate = 1;                        ///< batches whose gradients make one optimizer step
  std::int64_t steps = 0;                    ///< optimizer steps to train for
  std::int64_t evaluate_every = 0;           ///< steps from one evaluation to the next; 0: none
  int evaluation_batches = 20;               ///< batches of one evaluation
  std::int64_t checkpoint_every = 0;         ///< steps from one checkpoint to the next; 0: none
  std::string checkpoint = "checkpoint.pt";  ///< file, overwritten each time
  double learning_rate = 0.0;
  std::uint64_t seed = 1;
};

/// Adds the options of `options` to a command line. The current values in `options` are the
/// defaults.
void add_training_options(CLI::App& app, TrainingOptions& options);

}  // namespace steptune::example
