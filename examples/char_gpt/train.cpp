// SPDX-License-Identifier: Apache-2.0
#include "char_gpt/train.hpp"

#include <torch/nn.h>
#include <torch/optim/adamw.h>
#include <torch/utils.h>

#include "char_gpt/transformer.hpp"
#include "common/rng.hpp"
#include "support/training_loop.hpp"

namespace steptune::example {

namespace {

/// Returns sequences from random positions of the text. The targets are shifted by one symbol.
Batch random_batch(const LanguageOptions& options, const EncodedText& text, Rng& rng) {
  const std::int64_t length = options.sequence_length;
  const torch::Tensor inputs = torch::empty({options.micro_batch, length}, torch::kInt64);
  const torch::Tensor targets = torch::empty({options.micro_batch, length}, torch::kInt64);
  auto* input = inputs.data_ptr<std::int64_t>();
  auto* target = targets.data_ptr<std::int64_t>();
  const std::size_t starts = text.symbols.size() - static_cast<std::size_t>(length);
  for (std::int64_t row = 0; row < options.micro_batch; ++row) {
    const std::uint8_t* symbol = text.symbols.data() + rng.below(starts);
    for (std::int64_t place = 0; place < length; ++place, ++symbol) {
      *input++ = symbol[0];
      *target++ = symbol[1];
    }
  }
  return {inputs, targets};
}

}  // namespace

void train_language_model(const LanguageOptions& options, const EncodedText& text) {
  set_operation_threads(options.training.threads);
  torch::manual_seed(options.training.seed);
  Transformer network(TransformerShape{.symbols = text.symbol_count,
                                       .sequence_length = options.sequence_length,
                                       .width = options.width,
                                       .heads = options.heads,
                                       .layers = options.layers});
  torch::optim::AdamW optimizer(network->parameters(),
                                torch::optim::AdamWOptions(options.training.learning_rate)
                                    .betas({0.9, 0.95})
                                    .weight_decay(0.01));
  Rng rng(options.training.seed, "sequences");
  const TrainingParts parts = {
      .network = *network,
      .unit = "tokens",
      .next_batch = [&] { return random_batch(options, text, rng); },
      .evaluation_batch =
          [&](std::int64_t number) {
            Rng places(options.training.seed, "evaluation", static_cast<std::uint64_t>(number));
            return random_batch(options, text, places);
          },
      .loss =
          [&](const Batch& batch) {
            const torch::Tensor scores = network(batch.inputs);
            return torch::cross_entropy_loss(scores.flatten(0, 1), batch.targets.flatten());
          },
      .samples = [](const Batch& batch) { return static_cast<double>(batch.targets.numel()); }};
  train(options.training, optimizer, parts);
}

}  // namespace steptune::example
