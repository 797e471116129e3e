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

/// What is known of a trial beside its record.
struct TrialDetails {
  std::optional<TrialTrace> trace;
  std::vector<AttemptRecord> attempts;
  std::optional<TrialCommand> command;  ///< nothing where the study has none
  std::vector<std::string> log_tail;    ///< printable lines
  std::optional<double> machine_hours;  ///< see `MachineHours`
};

/// Everything about one trial, a line per fact, step times as a plot; ends with a newline.
/// `baseline` is null where it has not been measured. `width`: columns of the terminal, which only
/// commands, paths and the log go beyond; 0: no limit.
[[nodiscard]] std::string trial_text(const TrialRecord& trial, const TrialRecord* baseline,
                                     const std::vector<ObjectiveView>& objectives,
                                     const std::vector<std::string>& parameter_order,
                                     const TrialDetails& details = {}, std::size_t width = 0);

}  // namespace steptune
