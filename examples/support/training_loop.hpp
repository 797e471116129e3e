// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <torch/optim/optimizer.h>

#include "support/progress.hpp"
#include "support/torch_runtime.hpp"
#include "support/training_options.hpp"
#include "trial_runner/reporters/steptune_report.hpp"

namespace steptune::example {

struct Batch {
  torch::Tensor inputs;
  torch::Tensor targets;
};

/// What differs between the programs.
struct TrainingParts {
  std::string unit;  ///< what samples are called
  std::function<Batch()> next_batch;
  std::function<torch::Tensor(const Batch&)> loss;  ///< mean over the batch
  std::function<double(const Batch&)> samples;
};

inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Trains for `options.steps` optimiser steps; tells people and the tuner how it goes.
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
  }
  progress.finish(monotonic_s());
}

}  // namespace steptune::example
