// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/runner.hpp"

namespace steptune {

/// Variable in the environment of each trial. Its value is the trial's name. A program in whose
/// environment it is set knows that a tuner reads its output.
inline constexpr std::string_view k_trial_variable = "STEPTUNE_TRIAL";

/// Returns the number and attempt of a trial, as its program sees them: `7.2`.
[[nodiscard]] std::string trial_name(TrialKey key);
/// Parses a trial's name; nullopt if the text is not a trial's name.
[[nodiscard]] std::optional<TrialKey> trial_key_from_name(std::string_view name);

}  // namespace steptune
