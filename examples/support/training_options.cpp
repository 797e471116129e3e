// SPDX-License-Identifier: Apache-2.0
#include "support/training_options.hpp"

#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace steptune::example {

void add_training_options(CLI::App& app, TrainingOptions& options) {
  const std::map<std::string, Precision> precisions = {{"fp32", Precision::fp32},
                                                       {"bf16", Precision::bf16}};
  app.add_option("--precision", options.precision, "fp32, or bf16 by autocast")
      ->transform(CLI::CheckedTransformer(precisions).description(""))
      ->type_name("fp32|bf16")
      ->default_str("fp32");
  app.add_option("--threads", options.threads, "threads of one operation")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--accumulate", options.accumulate, "batches per optimizer step")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  const auto any_steps = CLI::Range(std::int64_t{0}, std::int64_t{1} << 40);
  app.add_option("--evaluate-every", options.evaluate_every, "steps between evaluations; 0: never")
      ->check(any_steps)
      ->capture_default_str();
  app.add_option("--evaluation-batches", options.evaluation_batches, "batches of one evaluation")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "steps between checkpoints; 0: never")
      ->check(any_steps)
      ->capture_default_str();
  app.add_option("--checkpoint", options.checkpoint, "file of the weights")->capture_default_str();
  app.add_option("--learning-rate", options.learning_rate)
      ->check(CLI::Range(1e-9, 1e3))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of weights, order and augmentation")
      ->capture_default_str();
}

}  // namespace steptune::example
