// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "char_gpt/text.hpp"
#include "support/training_options.hpp"

namespace steptune::example {

struct LanguageOptions {
  TrainingOptions training;
  std::int64_t micro_batch = 8;  ///< sequences per forward and backward pass
  std::int64_t sequence_length = 128;
  std::int64_t width = 128;
  std::int64_t heads = 4;
  std::int64_t layers = 3;
};

/// Trains a transformer to predict the next symbol of `text`, which must be longer than a sequence.
/// Samples are tokens.
void train_language_model(const LanguageOptions& options, const EncodedText& text);

}  // namespace steptune::example
