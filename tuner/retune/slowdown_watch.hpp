// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace steptune {

/// Launches of one night: natural logarithms of the first objective's value.
struct NightTimes {
  std::int64_t night = 0;
  std::vector<double> incumbent;  ///< at least one launch
  std::vector<double> baseline;   ///< empty if the incumbent is the baseline
};

/// Scope of a slowdown.
enum class SlowdownScope {
  shared,         ///< at least half of the slowdown also affects the baseline
  configuration,  ///< more than half of the slowdown affects only the incumbent, not the baseline
  unknown,        ///< the baseline did not run tonight, or in no night before the slowdown
};

struct Slowdown {
  std::int64_t since = 0;  ///< first slower night
  /// Ratio of the incumbent's time from night `since` on to its time before, with the 95 %
  /// interval.
  double ratio = 1.0;
  double low = 1.0;
  double high = 1.0;
  std::optional<double> baseline_ratio;  ///< the same ratio for the baseline
  SlowdownScope scope = SlowdownScope::unknown;
};

/// Verdict of the watcher on the latest night.
struct SlowdownWatch {
  std::optional<Slowdown> slowdown;  ///< set if the slowdown was first shown on the latest night
  /// Evidence that the incumbent became slower, or that its lead over the baseline shrank. If it
  /// reaches `WatchOptions::alarm`, one of the two counts as shown.
  double evidence = 0.0;
  /// True if further launches tonight are worth their time: the latest night looks slow, or there
  /// is some evidence.
  bool suspicious = false;
  /// True if the incumbent's lead over the baseline shrank, although the incumbent is not slower.
  bool lead_shrank = false;
};

struct WatchOptions {
  /// Least average number of nights between two false alarms.
  double alarm = 730.0;
  /// Least slowdown that counts, as a share. The standard deviation of a night counts as at least
  /// half of it.
  double least_slowdown = 0.02;
};

/// Distinguishes a slower incumbent from noise.
///
/// Watches two statistics: the logarithm of the incumbent's time, and the logarithm of its ratio to
/// the baseline's time. Effects that are common to a whole night cancel in the ratio. Compares each
/// night with the prediction of the 120 nights before (a self-starting chart: D. M. Hawkins,
/// "Self-starting CUSUM charts for location and scale", The Statistician 36, 1987; C. P.
/// Quesenberry, "SPC Q charts for start-up processes", Journal of Quality Technology 23(3), 1991).
/// The comparison is Student's t of the two-level model of launches within nights, turned into a
/// standard normal score z. The variation of launches is estimated on each night, so a period of
/// noisy nights is no slowdown.
///
/// The shifts s are 1, 2 and 4 standard deviations. For each s, exp(s z - s^2 / 2) is an e-value,
/// and M = max(1, M) exp(s z - s^2 / 2) is an e-detector. The alarm is raised when the mean of all
/// M reaches A. The average run length to a false alarm is then at least A nights (J. Shin, A.
/// Ramdas and A. Rinaldo, "E-detectors", New England Journal of Statistics in Data Science, 2023;
/// for one shift, E. S. Page's CUSUM of 1954). After an alarm, and after nights have become faster,
/// the comparison starts again with the nights since then.
class SlowdownWatcher {
 public:
  explicit SlowdownWatcher(WatchOptions options = {}) : options_(options) {}

  /// Adds the next night of the same incumbent and returns the verdict on it. The first added night
  /// may be the incumbent's confirmation.
  SlowdownWatch add(NightTimes night);

 private:
  /// Evidence that scores have become larger. Keeps the evidence and the night of the change for
  /// each size of the shift.
  class Detector {
   public:
    void add(std::int64_t night, double score);
    [[nodiscard]] double evidence() const;
    /// Returns the first night of the shift with the most evidence.
    [[nodiscard]] std::int64_t since() const;

   private:
    static constexpr std::array k_shifts{1.0, 2.0, 4.0};
    std::array<double, k_shifts.size()> evidence_{1.0, 1.0, 1.0};
    std::array<std::int64_t, k_shifts.size()> since_{};
  };

  /// Returns the first slower night, by the statistic with more evidence.
  [[nodiscard]] std::int64_t slower_since() const;
  [[nodiscard]] Slowdown slowdown_since(std::int64_t since) const;
  void begin_anew(std::int64_t since);

  WatchOptions options_;
  std::vector<NightTimes> nights_;  ///< earlier nights, with which the next night is compared
  Detector slower_;                 ///< evidence that the incumbent became slower
  Detector faster_;
  Detector lost_;  ///< evidence that the incumbent's lead over the baseline shrank
};

}  // namespace steptune
