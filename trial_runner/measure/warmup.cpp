// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/warmup.hpp"

#include <algorithm>
#include <vector>

#include "trial_runner/measure/batch_means.hpp"

namespace steptune {
namespace {

/// Intervals of a batch: the 5 of MSER-5.
constexpr std::size_t k_batch = 5;
/// The cut's squared error may exceed the least one by this factor, because the least is partly so
/// by chance.
constexpr double k_slack = 1.1;

}  // namespace

Warmup find_warmup(std::span<const Interval> intervals) {
  const std::size_t count = intervals.size();
  // With few intervals, use smaller batches, so that a warm-up is found even among ten steps.
  const std::size_t batch = std::clamp<std::size_t>(count / k_min_batches, 1, k_batch);
  const std::size_t batches = count / batch;
  if (batches < k_min_level_intervals) return {};

  // Go from the end, so that each iteration adds one batch to the remaining part. The last batch
  // takes the intervals that do not fill a batch.
  std::vector<double> errors(batches);
  Interval rest;
  double squares = 0.0;
  for (std::size_t j = batches; j-- > 0;) {
    const std::size_t end = j + 1 == batches ? count : (j + 1) * batch;
    const Interval added = sum_of(intervals.subspan(j * batch, end - j * batch));
    rest += added;
    squares += added.seconds * added.seconds / added.samples;
    // Weighted sum of squared deviations from the remaining mean, divided by the squared weight.
    errors[j] = std::max(0.0, squares - rest.seconds * rest.seconds / rest.samples) /
                (rest.samples * rest.samples);
  }
  const std::size_t limit = batches / 2;
  const double best =
      *std::min_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(limit) + 1);
  std::size_t cut = 0;
  while (errors[cut] > k_slack * best)
    ++cut;
  return {cut * batch, cut == limit};
}

}  // namespace steptune
