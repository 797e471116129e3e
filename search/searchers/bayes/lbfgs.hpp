// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace steptune::bayes {

/// Function that returns the value at `x` and writes the gradient. A value that is not finite means
/// that `x` is out of bounds.
using DifferentiableFunction =
    std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct LbfgsOptions {
  int max_evaluations = 40;
  int memory = 6;
  double gradient_tolerance = 1e-3;  ///< stops if max |gradient| is below this
  double value_tolerance = 1e-5;     ///< stops if the improvement is below this
  double max_step = 2.0;             ///< longest change of any coordinate in one iteration

  /// Options for hyperparameters: a rough optimum suffices, since the posterior is flat near its
  /// maximum.
  [[nodiscard]] static LbfgsOptions roughly(int max_evaluations) {
    LbfgsOptions options;
    options.max_evaluations = max_evaluations;
    options.gradient_tolerance = 0.02;
    options.value_tolerance = 1e-3;
    return options;
  }
};

struct LbfgsResult {
  std::vector<double> x;
  double value = 0.0;
  int evaluations = 0;
};

/// Minimises a smooth function by limited-memory BFGS with a backtracking line search (Nocedal and
/// Wright 2006, algorithms 7.4 and 3.1). Skips updates that fail the curvature condition. Returns
/// the best point found, or `start` if none was better.
[[nodiscard]] LbfgsResult minimise_lbfgs(const DifferentiableFunction& function,
                                         std::span<const double> start,
                                         const LbfgsOptions& options);

}  // namespace steptune::bayes
