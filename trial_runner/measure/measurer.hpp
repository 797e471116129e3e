// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/measure/progress_series.hpp"
#include "trial_runner/report.hpp"

namespace steptune {

/// Factor by which the series grows from one evaluation to the next. So evaluations are few and
/// cost little, and a trial rarely ends because the interval is tight by chance. P. W. Glynn and W.
/// Whitt, "The asymptotic validity of sequential stopping rules for stochastic simulations", Annals
/// of Applied Probability 2(1), 1992.
inline constexpr double k_evaluation_growth = 1.1;
/// Most ranks that are measured, to bound memory and time.
inline constexpr int k_most_ranks = 64;

struct MeasureOptions {
  double started_s = 0.0;  ///< runner's clock at the trial's start
  /// The program started this many seconds before the trial. They count as start-up, not for the
  /// rate.
  double before_start_s = 0.0;
  /// Used if reports contain only steps. If unknown, a step counts as one sample.
  std::optional<double> samples_per_step = std::nullopt;
  /// Largest number of steps whose samples can be in buffers at one time (workers * prefetch).
  std::optional<double> buffered_steps = std::nullopt;
  /// Relative half-width of the confidence interval at which the caller may end the trial. A trial
  /// that ends at the first narrow interval favours intervals that are narrow by chance, so the
  /// interval is widened (`k_widened_for_looks`). If the interval was already this narrow at the
  /// previous evaluation, the trial continues for another reason, so it is not widened. 0: the
  /// caller may end at any width, and the interval is always widened.
  double target_half_width = 0.0;
  /// Scatter of steps in the study's earlier trials (`UsualNoise::variance_s`); 0: unknown.
  double usual_variance_s = 0.0;
  /// The trial runs in turns with the trials that it is compared with. The same changes of the
  /// machine's speed therefore affect all of them. These changes are averaged and not cut off.
  bool in_turns = false;
};

/// Turns a stream of reports into a measurement of the long run. Memory is bounded for any number
/// of reports (the series is thinned to at most 1024 points). A report costs about one pass over
/// the points. Not thread safe. The method: docs/algorithms/measuring.md.
///
/// - Intervals between reports are weighted by their samples. Reports may come at any spacing;
///   several come at once from a log that is read occasionally.
/// - Time is the trial's own clock if every report has it and it agrees with the runner's.
///   Otherwise it is the time of receipt, and `remark` says why.
/// - Reported phases and isolated stalls are neither warm-up nor steps (`phase_cost.hpp`). The
///   window begins after the last change of level (`level_shift.hpp`) and after a warm-up
///   (`warmup.hpp`). The confidence interval comes from batch means (`batch_means.hpp`). It is
///   widened if other trials show that so few reports scatter more (`usual_noise.hpp`).
/// - If reports have a `ComparedRate`, the latest one is the measurement of the whole trial.
///
/// Several processes may report (`Report::global_rank`), each with its own clock. Each process
/// counts the steps and samples of the whole training, and is measured alone. The process with the
/// lowest rank gives the measurement. Exception: if the slowest process's confidence interval lies
/// wholly above the lowest rank's, the slowest process gives it. (Processes that wait for
/// each other in each step are equally fast, and the maximum of several equal estimates would be
/// too slow.) Metrics come from the process with the lowest rank. The remark names stragglers. Uses
/// the first 64 ranks that report; the remark says if there are more.
class Measurer {
 public:
  explicit Measurer(const MeasureOptions& options);
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  /// Adds a report. Ignores its counters if they do not exceed the latest ones (unless the counter
  /// has restarted: `CounterRestart`), but keeps its metrics.
  void add(const Report& report);
  /// Returns the result of the last evaluation. Metrics, samples and `slowest_seconds_per_sample`
  /// are as of the last report. Evaluates again when the series has a tenth more samples than at
  /// the last evaluation. So evaluations are few, and a trial rarely ends because its confidence
  /// interval is narrow by chance. Cheap enough to call after each report.
  [[nodiscard]] const Measurement& current() const;
  /// Returns the measurement of all reports of a program that ended by itself at `ended_s`
  /// (runner's clock), with `whole_run` set. Returns `current()` unchanged if fewer than five
  /// reports have a counter, or if there is a compared rate. The confidence interval is not widened
  /// for repeated evaluations, because results did not decide the run's length.
  ///
  /// Without a steady state the status is unchanged. The rate then is the mean after the warm-up;
  /// if the warm-up cannot be separated, the overall mean. The half-width is at least a tenth of
  /// the rate. It also covers the difference from the overall mean, and the rest of a fading slow
  /// start (2.5 times the difference of the window's halves). All reports may have come together,
  /// if the program wrote its output at its end. The rate then covers the whole process, start-up
  /// included. Its half-width is half the rate.
  [[nodiscard]] Measurement whole_run(double ended_s) const;
  /// Returns the progress in the latest report with a counter from the lowest reporting rank;
  /// nullopt before the first such report.
  [[nodiscard]] std::optional<ProgressPoint> latest() const;

 private:
  struct OneRank;
  void combine();
  /// Combines several processes.
  [[nodiscard]] Measurement combination_of(const std::map<int, const Measurement*>& measured) const;

  MeasureOptions options_;
  std::map<int, std::unique_ptr<OneRank>> ranks_;
  int unheeded_rank_ = -1;  ///< highest ignored rank; negative: none is ignored
  Measurement combined_;    ///< of several ranks
};

}  // namespace steptune
