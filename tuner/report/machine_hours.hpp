// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/stored_study.hpp"

namespace steptune {

/// What a study whose trials rent machines, and which knows no price of them, has used: hours, each
/// of one machine.
struct MachineHours {
  std::map<std::int64_t, double> by_trial;  ///< all launches of each
  double unused = 0.0;                      ///< machines that were kept, and no trial used
  [[nodiscard]] double total() const;
};

/// Nothing where trials run on the tuner's machine, where money says it, or where this version
/// cannot read the study. Where no trial tells how many machines were kept (none started there), it
/// counts one. `trials`: all of the study; null: they are read.
[[nodiscard]] std::optional<MachineHours> read_machine_hours(const StoredStudy& study);
[[nodiscard]] std::optional<MachineHours> read_machine_hours(
    const StoredStudy& study, const StudySpec& spec,
    const std::vector<TrialRecord>* trials = nullptr);

/// The same of one trial.
[[nodiscard]] std::optional<double> machine_hours_of(const StudySpec& spec,
                                                     const TrialRecord& trial);

/// `0.87 machine-hours`
[[nodiscard]] std::string machine_hours_text(double hours);

}  // namespace steptune
