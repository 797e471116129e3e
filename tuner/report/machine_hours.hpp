// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/stored_study.hpp"

namespace steptune {

/// Use of rented machines without a known price, in hours of one machine.
struct MachineHours {
  std::map<std::int64_t, double> by_trial;  ///< hours of all launches of each trial
  double unused = 0.0;  ///< hours of machines that were kept but used by no trial
  [[nodiscard]] double total() const;
};

/// Returns nullopt if trials run on the tuner's machine, have a price, or this version cannot read
/// the study. If no trial shows how many machines were kept (none started there), counts one.
/// `trials` are all trials of the study; if null, reads them.
[[nodiscard]] std::optional<MachineHours> read_machine_hours(const StoredStudy& study);
[[nodiscard]] std::optional<MachineHours> read_machine_hours(
    const StoredStudy& study, const StudySpec& spec,
    const std::vector<TrialRecord>* trials = nullptr);

/// Returns the machine-hours of one trial.
[[nodiscard]] std::optional<double> machine_hours_of(const StudySpec& spec,
                                                     const TrialRecord& trial);

/// Returns `0.87 machine-hours`.
[[nodiscard]] std::string machine_hours_text(double hours);

}  // namespace steptune
