// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/report.hpp"

namespace steptune {

struct MeasureOptions {
  double started_s = 0.0;  ///< runner's clock at the trial's start
  std::optional<double> samples_per_step;  ///< where reports tell steps only
};

/// Turns a stream of reports into a measurement. Memory is bounded whatever the number of reports.
/// Not thread safe.
class Measurer {
 public:
  explicit Measurer(const MeasureOptions& options);
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  /// Counters that go back, do not move or carry no time are ignored; metrics are always kept.
  void add(const Report& report);
  /// The measurement as of the last report. Cheap enough to call after each.
  [[nodiscard]] const Measurement& current() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptune
