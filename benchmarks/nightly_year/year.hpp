// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "tuner/retune/night.hpp"

namespace steptune::nightly_year {

/// A simulated year, in which `retune` runs once each night. The first night is 1; night 0 means
/// never.
struct YearModel {
  std::uint64_t seed = 0;
  std::int64_t nights = 365;
  std::string searcher = "bayes";
  double launch_variation = 0.012;  ///< relative standard deviation from launch to launch
  /// Relative standard deviation from night to night, shared by all launches of a night.
  double night_variation = 0.004;
  /// During a season of noise, variations of steps, launches and nights are larger by this factor.
  double season_factor = 3.0;
  std::vector<std::pair<std::int64_t, std::int64_t>> seasons;  ///< first and last night
  /// From this night on, a library makes bfloat16 slower and another configuration is the best.
  std::int64_t library_upgrade = 0;
  /// From this night on, each step takes `machine_factor` times as long.
  std::int64_t slower_machine = 0;
  double machine_factor = 1.15;
};

/// Returns the usual year: seasons of noise in spring and autumn, a library upgrade, a slower
/// machine.
[[nodiscard]] YearModel usual_year(std::uint64_t seed);

/// Returns the true seconds per sample of a configuration in a night, without random variation.
[[nodiscard]] double true_seconds_per_sample(const YearModel& model, std::int64_t night,
                                             const Configuration& configuration);
/// Returns the lowest true seconds per sample over all configurations.
[[nodiscard]] double best_seconds_per_sample(const YearModel& model, std::int64_t night);

struct Year {
  std::vector<Night> nights;
  double scratch_s = 0.0;  ///< mean seconds of a study without earlier results
};

/// Simulates a year. The clock, the machine and the trials are simulated; the search, the history
/// and `retune` are the real ones. `folder` must be empty. For comparison, also runs a whole study
/// without earlier results on each of `scratch_nights`.
[[nodiscard]] Result<Year> play(const YearModel& model, const std::filesystem::path& folder,
                                const std::vector<std::int64_t>& scratch_nights);

}  // namespace steptune::nightly_year
