// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace steptune {

enum class MeasurementStatus {
  no_reports,  ///< the trial told nothing that a rate could be computed from
  warming_up,  ///< too few reports after the warm-up for an interval
  not_steady,  ///< enough reports, but the rate keeps drifting: a result, not a number to rank
  steady,      ///< mean and interval are valid
};
/// Persistent names, do not change.
[[nodiscard]] std::string to_text(MeasurementStatus status);
[[nodiscard]] std::optional<MeasurementStatus> measurement_status_from_text(std::string_view text);

/// What the reports of a trial amount to.
struct Measurement {
  MeasurementStatus status = MeasurementStatus::no_reports;
  /// Wall-clock seconds per sample in steady state: mean over the window (not a median of steps).
  /// While `warming_up` or `not_steady` the mean so far, for display; NaN while there is none.
  double seconds_per_sample = std::numeric_limits<double>::quiet_NaN();
  /// Half-width of its 95 % confidence interval, in seconds per sample; infinite while unknown.
  double half_width_s = std::numeric_limits<double>::infinity();
  double startup_s = 0.0;  ///< process start to the first step's end less one steady step
  double warmup_s = 0.0;   ///< from there to the begin of the window
  double window_s = 0.0;
  double window_steps = 0.0;
  double window_samples = 0.0;
  double total_samples = 0.0;
  std::map<std::string, double> metrics;  ///< last value of each reported metric
  std::map<std::string, double> parts;    ///< seconds per sample by part, over the window
  /// Metrics whose last value was NaN or infinite; a guard on one of them is violated.
  std::set<std::string> not_finite;

  /// Half-width relative to the mean; infinite while unknown.
  [[nodiscard]] double relative_half_width() const {
    return status == MeasurementStatus::steady ? half_width_s / seconds_per_sample
                                               : std::numeric_limits<double>::infinity();
  }
};

}  // namespace steptune
