// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace steptune {

/// What the launches of one night took: natural logarithms of the first objective's value.
struct NightTimes {
  std::int64_t night = 0;
  std::vector<double> incumbent;  ///< at least one launch
  std::vector<double> baseline;   ///< empty where the incumbent is the baseline
};

/// Whose slowness it is.
enum class SlowdownScope {
  shared,         ///< incumbent and baseline are slower alike: the machine, or a library
  configuration,  ///< the incumbent lost more than half of it against the baseline
  unknown,        ///< no second configuration to compare with, tonight or in the nights before
};

struct Slowdown {
  std::int64_t since = 0;  ///< the first night that is slower
  /// How many times as long the incumbent takes since, with the 95 % interval.
  double ratio = 1.0;
  double low = 1.0;
  double high = 1.0;
  std::optional<double> baseline_ratio;  ///< the same of the baseline
  SlowdownScope scope = SlowdownScope::unknown;
};

/// What the nights say of the latest one.
struct SlowdownWatch {
  std::optional<Slowdown> slowdown;  ///< shown in the latest night, and in none before
  /// Of a change to slower against chance; shown from `WatchOptions::alarm` on.
  double evidence = 0.0;
  /// The latest night is so slow, or the evidence so far so large, that further launches are worth
  /// their time.
  bool suspicious = false;
  /// The incumbent's lead over the baseline shrank, though it is no slower itself.
  bool lead_shrank = false;
};

struct WatchOptions {
  /// Nights without any change pass between two alarms on average, at the least.
  double alarm = 730.0;
  /// Relative; nights differ by half of it without anybody's minding.
  double least_slowdown = 0.02;
};

/// Tells a slower incumbent from noise.
///
/// Two statistics are watched, the logarithm of the incumbent's time and that of its ratio to the
/// baseline's, which has no part in what a whole night has in common. Each night is compared with
/// what the 120 nights before predict (a self-starting chart: D. M. Hawkins, "Self-starting CUSUM
/// charts for location and scale", The Statistician 36, 1987; C. P. Quesenberry, "SPC Q charts for
/// start-up processes", Journal of Quality Technology 23(3), 1991): Student's t of the two-level
/// model of launches within nights, turned into a standard normal score z. A night's own launches
/// say how much they differ in that night, so that a noisy season is no slowdown.
///
/// For each shift s of {1, 2, 4} standard deviations exp(s z - s^2 / 2) is an e-value, and
/// M = max(1, M) exp(s z - s^2 / 2) an e-detector: alarmed where the mean of all M reaches A it has
/// an average run length to a false alarm of at least A nights (J. Shin, A. Ramdas and A. Rinaldo,
/// "E-detectors", New England Journal of Statistics in Data Science, 2023; for one shift, E. S.
/// Page's CUSUM of 1954). After an alarm, and where nights have become faster, the comparison
/// begins anew with the nights since.
class SlowdownWatcher {
 public:
  explicit SlowdownWatcher(WatchOptions options = {}) : options_(options) {}

  /// The next night of the same incumbent; the first one may be its confirmation. What is returned
  /// is about this night.
  SlowdownWatch add(NightTimes night);

 private:
  /// Evidence that a score has become larger, for each shift; and since when.
  class Detector {
   public:
    void add(std::int64_t night, double score);
    [[nodiscard]] double evidence() const;
    /// Of the shift that explains most.
    [[nodiscard]] std::int64_t since() const;

   private:
    static constexpr std::array k_shifts{1.0, 2.0, 4.0};
    std::array<double, k_shifts.size()> evidence_{1.0, 1.0, 1.0};
    std::array<std::int64_t, k_shifts.size()> since_{};
  };

  /// Where evidence of a slower incumbent begins.
  [[nodiscard]] std::int64_t slower_since() const;
  [[nodiscard]] Slowdown slowdown_since(std::int64_t since) const;
  void begin_anew(std::int64_t since);

  WatchOptions options_;
  std::vector<NightTimes> nights_;  ///< that the next one is compared with
  Detector slower_;                 ///< the incumbent
  Detector faster_;
  Detector lost_;  ///< against the baseline
};

}  // namespace steptune
