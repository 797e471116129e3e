// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/recommendation.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {

/// Such trials in one study: enough to halve eight needless changes one by one.
inline constexpr int k_most_reductions = 4;

/// Settings of `configuration` that differ from the baseline's, in order of name. A conditional
/// setting that the baseline lacks (`prefetch` without workers) differs if its value is not the
/// parameter's least one: `false`, the lowest number, the first choice.
[[nodiscard]] std::vector<std::string> changed_settings(const StudySpec& study,
                                                        const Configuration& configuration);

/// `configuration` with every change reset but `kept`; nothing if the space has none such.
[[nodiscard]] std::optional<Configuration> with_changes(const StudySpec& study,
                                                        const Configuration& configuration,
                                                        const std::set<std::string>& kept);

/// The gain of one changed setting, as a natural logarithm: 0.69 is twice as fast.
struct SettingEffect {
  double gain = 0.0;
  double error = 0.0;  ///< standard error
};

/// Gains of single settings, estimated from all trials and fresh runs: Bayesian linear regression
/// (C. M. Bishop, Pattern Recognition and Machine Learning, 2006, section 3.3) of the logarithm of
/// each one's gain over the baseline on the changes that it made. Each value of a setting has its
/// own effect. Interactions are not modelled, but widen the errors.
class SettingEffects {
 public:
  /// `objective` indexes the study's. Trials whose value is not positive are left out.
  SettingEffects(const StudySpec& study, const Standing& standing, std::size_t objective = 0);

  /// `name` is one of `changed_settings(configuration)`.
  [[nodiscard]] SettingEffect of(const Configuration& configuration, const std::string& name) const;
  /// Every effect that a trial has shown.
  [[nodiscard]] const std::vector<SettingEffect>& all() const { return effects_; }

 private:
  std::vector<std::string> levers_;     ///< names of the effects
  std::vector<SettingEffect> effects_;  ///< in that order
};

/// Backward elimination: the incumbent without the changes that have no measurable effect, if that
/// was not tried yet. If it was tried and lost, the half of these changes with the largest expected
/// gain is put back. Nothing if each change is needed, or after `k_most_reductions` trials.
[[nodiscard]] std::optional<Configuration> fewer_changes(const StudySpec& study,
                                                         const Standing& standing);

/// How the trials reduced the changes of `chosen`.
[[nodiscard]] Reduction reduction_of(const StudySpec& study, const Standing& standing,
                                     const TrialRecord& chosen);

}  // namespace steptune
