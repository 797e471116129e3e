// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "trial_runner/measure/measurement.hpp"
#include "tuner/history/trial_trace.hpp"

namespace steptune {

/// Returns a plot of seconds per step over a trial's time. It has `width` columns and eight lines
/// of ASCII, each ending with a newline. A bar of `#` shows the mean over the time that its column
/// covers. The line below marks each column: `.` start-up and warm-up, `=` the measured window, `P`
/// a reported phase, `!` a disturbed time. Stalls are visible, because columns average over time,
/// not over steps. A legend of the signs follows. Empty if there are fewer than three points or 36
/// columns.
[[nodiscard]] std::string step_plot(const TrialTrace& trace,
                                    const std::optional<Measurement>& measurement,
                                    std::size_t width);

}  // namespace steptune
