// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/runner.hpp"

namespace steptune {

/// In the environment of each trial: that a tuner reads what its program prints, and its name.
inline constexpr std::string_view k_trial_variable = "STEPTUNE_TRIAL";

/// `7.2`: number and attempt of a trial, as its program is told.
[[nodiscard]] std::string trial_name(TrialKey key);
/// Nothing for any other text.
[[nodiscard]] std::optional<TrialKey> trial_key_from_name(std::string_view name);

}  // namespace steptune
