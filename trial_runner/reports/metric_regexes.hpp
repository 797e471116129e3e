// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_format.hpp"

namespace steptune {

/// Returns the user's regular expressions as a preset. RE2's time is linear in the line's length,
/// so no expression or line can stall the tuner.
[[nodiscard]] Result<std::unique_ptr<Preset>> make_metric_regexes(
    const std::vector<MetricDefinition>& definitions);

}  // namespace steptune
