// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/report.hpp"

namespace steptune {

struct MeasureOptions {
  double started_s = 0.0;  ///< runner's clock at the trial's start
  /// The program had started so long before: a part of its start-up, and of no rate.
  double before_start_s = 0.0;
  /// Where reports tell steps only; unknown: a step counts as one sample.
  std::optional<double> samples_per_step = std::nullopt;
  /// The most steps whose samples can be ready in buffers at any time (workers * prefetch).
  std::optional<double> buffered_steps = std::nullopt;
  /// The relative half-width at which whoever looks may end the trial; 0: at any. An interval that
  /// was as tight at the look before did not end it, so that its end is not chosen for tightness:
  /// it needs no widening (`k_widened_for_looks`).
  double target_half_width = 0.0;
  /// By how much steps vary in the study's earlier trials (`UsualNoise::variance_s`); 0: not known.
  double usual_variance_s = 0.0;
};

/// Turns a stream of reports into a measurement of the long run. Memory is bounded whatever the
/// number of reports (the series is thinned to 1024 points at most), and time per report is about
/// that of one pass. Not thread safe. The method: docs/algorithms/measuring.md.
///
/// - Intervals between reports are weighed by their samples; reports may come at any spacing, also
///   several at a time from a log that is read now and then.
/// - Time is the trial's own clock where every report tells it and it agrees with the runner's,
///   else the time of receipt; `remark` says where a clock is not used.
/// - Reported phases and isolated stalls are neither warm-up nor steps (`phase_cost.hpp`); what
///   follows the last change of level (`level_shift.hpp`) and of a warm-up (`warmup.hpp`) counts,
///   with the interval of batch means (`batch_means.hpp`), no narrower than it usually is after so
///   few reports (`usual_noise.hpp`).
/// - Where reports carry a `ComparedRate`, the latest is the measurement, of all since the start.
class Measurer {
 public:
  explicit Measurer(const MeasureOptions& options);
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  /// Counters that go back (but see `CounterRestart`) or do not move are ignored; metrics are kept.
  void add(const Report& report);
  /// The measurement as of the last look; metrics, samples and the bound as of the last report.
  /// Looks are at lengths that grow by a tenth, so that a trial may end at any of them without its
  /// interval being one that happens to be tight. Cheap enough to call after each report.
  [[nodiscard]] const Measurement& current() const;
  /// The measurement of all reports, of a program that came to its own end at `ended_s` (runner's
  /// clock): `whole_run`, or `current()` as it is where there are fewer than five reports with a
  /// counter, or a compared rate. Its length was not chosen by what was seen, so that the interval
  /// is not widened for looks. Without a steady state (the status stays what it is) it has the rate
  /// of what follows the warm-up, as far as that could be told, with an interval of a tenth at
  /// least, as wide as that rate differs from the mean of all, and as a slow start that goes on
  /// fading could take from it (2.5 times what the window's halves differ by). Where all
  /// reports came together (output that is written as the program ends) the rate is that of the
  /// whole process, start-up included, give or take a half.
  [[nodiscard]] Measurement whole_run(double ended_s) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptune
