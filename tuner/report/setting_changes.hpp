// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// A setting whose advised value is not the one in use today.
struct SettingChange {
  std::string parameter;
  std::optional<Value> today;    ///< nothing: not set today
  std::optional<Value> advised;  ///< nothing: no longer set
  std::string place;             ///< `train.py:114`, `train.yaml`, `environment`; empty: unknown
  std::string edit;              ///< `DataLoader(..., num_workers=6)`, `--workers 6`; may be empty
  /// The advised value is the last one of its range in the direction that paid, and the parameter
  /// could go on from there: no trial has gone beyond.
  bool ends_range = false;
};

/// The settings that differ from the baseline's, in the study's order. `seen`: what the hook told
/// of the program; it names the places in the source.
[[nodiscard]] std::vector<SettingChange> setting_changes(const StudySpec& study,
                                                         const Configuration& advised,
                                                         const HookLog& seen);

/// The events of the hook in the trial that told last, of those that decide who leads.
[[nodiscard]] Result<HookLog> read_hook_log(const StoredStudy& study);

/// `change  num_workers  0 -> 6  train.py:114  DataLoader(..., num_workers=6)`: one line for each.
/// A line is at most `width` columns wide (0: no limit). Empty if nothing changes.
[[nodiscard]] std::string change_lines(const std::vector<SettingChange>& changes,
                                       std::size_t width);
/// `range   batch_size 256 is the end of its range: nothing beyond was tried`; empty if no change
/// ends its range.
[[nodiscard]] std::string range_line(const std::vector<SettingChange>& changes);
[[nodiscard]] Json changes_json(const std::vector<SettingChange>& changes);

}  // namespace steptune
