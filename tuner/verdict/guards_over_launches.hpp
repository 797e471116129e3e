// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "common/configuration.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Means of a guarded metric over the launches of a configuration and of the baseline.
struct LaunchMeans {
  double value = 0.0;
  double baseline = 0.0;
  int launches = 0;          ///< the smaller number of both sides; at least 2
  double difference = 0.0;   ///< value minus baseline, as a share of the baseline's absolute value
  double half_width = 0.0;   ///< of the interval of `difference`
  bool is_violated = false;  ///< the interval lies above the guard's ratio
};

/// Compares a guarded metric over all launches of both configurations that reported it at the same
/// number of samples. `guard` is a guard over launches. Returns nullopt with fewer than two such
/// launches of either side, or if the baseline's mean is 0.
///
/// The interval is Student's t at the one-sided error `error`. The variance of a mean comes from
/// the launches. It is never less than the mean variance within one launch. Launches with the same
/// random seed repeat each other's values, so they do not show how much the values vary.
[[nodiscard]] std::optional<LaunchMeans> means_over_launches(const Guard& guard,
                                                             std::span<const TrialRecord> trials,
                                                             const Configuration& configuration,
                                                             const Configuration& baseline,
                                                             double error);

/// True if the configuration violates one of the study's guards over launches.
[[nodiscard]] bool violates_over_launches(const StudySpec& study,
                                          std::span<const TrialRecord> trials,
                                          const Configuration& configuration, double error);

}  // namespace steptune
