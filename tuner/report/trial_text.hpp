// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tuner/history/history.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/trial_command.hpp"

namespace steptune {

/// Details about a trial that its record does not have.
struct TrialDetails {
  std::optional<TrialTrace> trace;
  std::vector<AttemptRecord> attempts;
  std::optional<TrialCommand> command;  ///< nullopt if the study has none
  std::vector<std::string> log_tail;    ///< printable lines
  std::optional<double> machine_hours;  ///< see `MachineHours`
};

/// Returns everything about one trial, a line for each fact and a plot of step times; ends with a
/// newline. `baseline` is null if it was not measured. `width` is the terminal's (0: no limit);
/// only commands, paths and the log exceed this width.
[[nodiscard]] std::string trial_text(const TrialRecord& trial, const TrialRecord* baseline,
                                     const std::vector<ObjectiveView>& objectives,
                                     const std::vector<std::string>& parameter_order,
                                     const TrialDetails& details = {}, std::size_t width = 0);

}  // namespace steptune
