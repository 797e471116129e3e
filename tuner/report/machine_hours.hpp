// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/stored_study.hpp"

namespace steptune {

/// Use of rented machines whose price is unknown, in machine-hours: one hour on four machines
/// counts as four.
struct MachineHours {
  std::map<std::int64_t, double> by_trial;  ///< machine-hours of each trial, over all its launches
  /// Machine-hours of machines that the runner kept between trials.
  double unused = 0.0;
  [[nodiscard]] double total() const;
};

/// Returns the machine-hours of a study. Returns nullopt if trials run on the tuner's machine or
/// have a price. Also returns nullopt if the stored study or its trials cannot be read. An unused
/// time of a job or allocation counts as many machines as the trials there used. If no trial ran
/// there, it counts one machine. `trials` are all trials of the study; if null, reads them.
[[nodiscard]] std::optional<MachineHours> read_machine_hours(const StoredStudy& study);
[[nodiscard]] std::optional<MachineHours> read_machine_hours(
    const StoredStudy& study, const StudySpec& spec,
    const std::vector<TrialRecord>* trials = nullptr);

/// Returns the machine-hours of one trial; nullopt if trials run on the tuner's machine or have a
/// price.
[[nodiscard]] std::optional<double> machine_hours_of(const StudySpec& spec,
                                                     const TrialRecord& trial);

/// Returns `0.87 machine-hours`.
[[nodiscard]] std::string machine_hours_text(double hours);

}  // namespace steptune
