// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/report.hpp"

namespace steptune {

struct MeasureOptions {
  double started_s = 0.0;  ///< runner's clock at the trial's start
  /// Where reports tell steps only; unknown: a step counts as one sample.
  std::optional<double> samples_per_step;
  /// The most steps whose samples can be ready in buffers at any time (workers * prefetch).
  std::optional<double> buffered_steps;
};

/// Turns a stream of reports into a measurement. Memory is bounded whatever the number of reports
/// (the series is thinned to 1024 points at most), and time per report is about that of one pass.
/// Not thread safe.
///
/// - Intervals between reports are weighed by their samples; reports may come at any spacing.
/// - Time is the trial's own clock where every report tells it and it agrees roughly with the
///   runner's, else the time of receipt.
/// - The warm-up is cut off where the mean of what remains is most certain (`warmup.hpp`), and the
///   interval is that of batch means (`batch_means.hpp`).
class Measurer {
 public:
  explicit Measurer(const MeasureOptions& options);
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  /// Counters that go back or do not move are ignored; metrics are always kept.
  void add(const Report& report);
  /// The measurement as of the last report. Cheap enough to call after each.
  [[nodiscard]] const Measurement& current() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptune
