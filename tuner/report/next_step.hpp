// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/report/recommendation.hpp"

namespace steptune {

/// Returns the further seconds of tuning that would decide about the best undecided finalist
/// (`further_pairs`). Returns nullopt if the study is decided, or if the time cannot be estimated.
[[nodiscard]] std::optional<double> more_time_s(const Recommendation& recommendation,
                                                const RecommendationContext& context);

/// Returns the command or advice that follows from the outcome: use the result, tune longer, or
/// keep today's settings.
[[nodiscard]] std::string next_step(const Recommendation& recommendation,
                                    const RecommendationContext& context);

}  // namespace steptune
