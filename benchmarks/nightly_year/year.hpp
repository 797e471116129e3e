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

/// What happens in a year of nights. Nights count from 1; 0: never.
struct YearModel {
  std::uint64_t seed = 0;
  std::int64_t nights = 365;
  std::string searcher = "bayes";
  double launch_variation = 0.012;  ///< relative standard deviation from launch to launch
  double night_variation = 0.004;   ///< of all that a night has in common
  double season_factor = 3.0;       ///< launches and steps vary so many times as much in a season
  std::vector<std::pair<std::int64_t, std::int64_t>> seasons;  ///< first and last night
  /// From this night on a library makes bfloat16 slower and another configuration the best.
  std::int64_t library_upgrade = 0;
  std::int64_t slower_machine = 0;  ///< from this night on everything takes `machine_factor` times
  double machine_factor = 1.15;
};

/// The usual year: seasons of noise in spring and autumn, a library upgrade, a slower machine.
[[nodiscard]] YearModel usual_year(std::uint64_t seed);

/// True seconds per sample of a configuration in a night, chance left out.
[[nodiscard]] double true_seconds_per_sample(const YearModel& model, std::int64_t night,
                                             const Configuration& configuration);
/// The least of all configurations.
[[nodiscard]] double best_seconds_per_sample(const YearModel& model, std::int64_t night);

struct Year {
  std::vector<Night> nights;
  double scratch_s = 0.0;  ///< mean tuning time from scratch, of a few nights
};

/// Plays a year under a virtual clock: everything but processes is real. `folder` must be empty.
/// `scratch_nights`: nights that are also tuned from scratch, for comparison.
[[nodiscard]] Result<Year> play(const YearModel& model, const std::filesystem::path& folder,
                                const std::vector<std::int64_t>& scratch_nights);

}  // namespace steptune::nightly_year
