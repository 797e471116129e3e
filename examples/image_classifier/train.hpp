// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/error.hpp"
#include "image_classifier/catalog.hpp"
#include "support/training_options.hpp"

namespace steptune::example {

struct ClassifierOptions {
  TrainingOptions training;
  int batch_size = 32;
  int workers = 0;   ///< threads that read and decode; 0: the training thread does
  int prefetch = 2;  ///< batches in preparation for each worker
  bool channels_last = false;
  int crop_px = 56;
  int width = 16;  ///< channels of the network's first stage, a multiple of 16
};

/// Trains a residual network on the images of `catalog`. Errors: an image that cannot be read.
[[nodiscard]] Result<void> train_classifier(const ClassifierOptions& options,
                                            const Catalog& catalog);

}  // namespace steptune::example
