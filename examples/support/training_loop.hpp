// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

#include "support/progress.hpp"
#include "support/torch_runtime.hpp"
#include "support/training_options.hpp"
#include "trial_runner/reporters/steptune_report.hpp"

namespace steptune::example {

struct Batch {
  torch::Tensor inputs;
  torch::Tensor targets;
};

/// Parts that differ between the programs.
struct TrainingParts {
  torch::nn::Module& network;
  std::string unit;  ///< name of the samples
  std::function<Batch()> next_batch;
  /// Returns the n-th batch of the evaluation; the same in every evaluation.
  std::function<Batch(std::int64_t)> evaluation_batch;
  std::function<torch::Tensor(const Batch&)> loss;  ///< returns the mean over the batch
  std::function<double(const Batch&)> samples;
};

inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the mean loss over the evaluation's batches, without gradients.
inline double evaluate(const TrainingOptions& options, const TrainingParts& parts) {
  const torch::NoGradGuard no_gradients;
  const AutocastScope autocast(options.precision);
  double loss_sum = 0.0;
  for (int i = 0; i < options.evaluation_batches; ++i)
    loss_sum += parts.loss(parts.evaluation_batch(i)).item<double>();
  return loss_sum / options.evaluation_batches;
}

inline bool is_due(std::int64_t steps, std::int64_t every) {
  return every > 0 && steps % every == 0;
}

/// Runs evaluation and checkpoint if they are due, and reports them as phases.
inline void run_phases(std::int64_t steps, const TrainingOptions& options,
                       const TrainingParts& parts, Reporter& reporter) {
  if (is_due(steps, options.evaluate_every)) {
    const Phase phase(reporter, "evaluation");
    parts.network.eval();
    reporter.metrics({{"val_loss", evaluate(options, parts)}});
    parts.network.train();
  }
  if (is_due(steps, options.checkpoint_every)) {
    const Phase phase(reporter, "checkpoint");
    torch::save(parts.network.parameters(), options.checkpoint);
  }
}

/// Trains for `options.steps` optimizer steps; reports progress to people and the tuner.
inline void train(const TrainingOptions& options, torch::optim::Optimizer& optimizer,
                  const TrainingParts& parts) {
  Reporter reporter;
  Progress progress(parts.unit, monotonic_s());
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const double step_begin_s = monotonic_s();
    double samples = 0.0;
    double loss_sum = 0.0;
    double waited_s = 0.0;
    optimizer.zero_grad();
    for (int part = 0; part < options.accumulate; ++part) {
      const double wait_begin_s = monotonic_s();
      const Batch batch = parts.next_batch();
      waited_s += monotonic_s() - wait_begin_s;
      torch::Tensor loss;
      {
        const AutocastScope autocast(options.precision);
        loss = parts.loss(batch);
      }
      (loss / options.accumulate).backward();
      loss_sum += loss.item<double>();
      samples += parts.samples(batch);
    }
    optimizer.step();

    const double now_s = monotonic_s();
    const double loss = loss_sum / options.accumulate;
    reporter.part("data", waited_s);
    reporter.part("compute", now_s - step_begin_s - waited_s);
    reporter.step(samples, {{"loss", loss}});
    progress.step(samples, loss, waited_s, now_s);
    run_phases(step + 1, options, parts, reporter);
  }
  progress.finish(monotonic_s());
}

}  // namespace steptune::example
