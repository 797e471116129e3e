// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/interval.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Ratio of two values of a number from which the speed clearly shows the difference. The speed
/// changes slowly with a number, so closer values cover each other.
inline constexpr double k_clear_ratio = 2.0;

/// Most trials with fewer changes in one study: enough to halve a set of eight changes down to one
/// change.
inline constexpr int k_most_reductions = 4;

/// Returns the settings of `configuration` that differ from the baseline's, in order of name. A
/// conditional setting that the baseline lacks (`prefetch` without workers) differs if its value is
/// not the parameter's least one: `false`, the lowest number, the first choice.
[[nodiscard]] std::vector<std::string> changed_settings(const StudySpec& study,
                                                        const Configuration& configuration);

/// Returns `configuration` with all changes reset except `kept`; nullopt if the result is not in
/// the search space.
[[nodiscard]] std::optional<Configuration> with_changes(const StudySpec& study,
                                                        const Configuration& configuration,
                                                        const std::set<std::string>& kept);

/// Gains of single changed settings, as natural logarithms: 0.69 is twice as fast. They are
/// estimated from all trials and fresh runs. This is a Bayesian linear regression of the logarithm
/// of a trial's gain over the baseline on its changes (C. M. Bishop, Pattern Recognition and
/// Machine Learning, 2006, section 3.3). Each value of a setting has its own effect. Interactions
/// are not modelled, but widen the errors.
class SettingEffects {
 public:
  /// `objective` is an index of the study's objectives. Trials without a positive value are left
  /// out.
  SettingEffects(const StudySpec& study, const Standing& standing, std::size_t objective = 0);

  /// Returns the effect of the setting `name`, one of `changed_settings(configuration)`.
  [[nodiscard]] MeasuredValue of(const Configuration& configuration, const std::string& name) const;
  /// Returns the effects of all changes that trials made.
  [[nodiscard]] const std::vector<MeasuredValue>& all() const { return effects_; }

 private:
  std::vector<std::string> effect_names_;  ///< names of the effects: `malloc=jemalloc`
  std::vector<MeasuredValue> effects_;     ///< in the order of `effect_names_`
};

/// Returns the incumbent without the changes that have no measurable effect (backward elimination).
/// If no change has a measurable effect, resets only the half with the least expected gain. If the
/// resulting configuration was already tried, resets only the half of these changes with the least
/// expected gain, and so on. Returns nullopt if there are fewer than two changes, if each change is
/// needed, if all such configurations were tried, or after `k_most_reductions` trials.
[[nodiscard]] std::optional<Configuration> fewer_changes(const StudySpec& study,
                                                         const Standing& standing);

/// Returns which changes the trials have reset to arrive at `chosen`.
[[nodiscard]] Reduction reduction_of(const StudySpec& study, const Standing& standing,
                                     const TrialRecord& chosen);

}  // namespace steptune
