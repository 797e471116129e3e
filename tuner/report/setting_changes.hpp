// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/json_record.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// A setting whose recommended value differs from today's.
struct SettingChange {
  std::string parameter;
  std::optional<Value> today;    ///< nullopt: not set today
  std::optional<Value> advised;  ///< nullopt: no longer set
  std::string place;             ///< `train.py:114`, `train.yaml`, `environment`; empty: unknown
  std::string edit;              ///< `DataLoader(..., num_workers=6)`, `--workers 6`; may be empty
  /// True if the recommended value is the end of its range, and values beyond it are possible but
  /// untried.
  bool ends_range = false;
};
template <>
const JsonRecord<SettingChange>& json_record<SettingChange>();

/// Returns the settings that differ from the baseline's, in the study's order. `seen` are the
/// hook's events. They name places in the source.
[[nodiscard]] std::vector<SettingChange> setting_changes(const StudySpec& study,
                                                         const Configuration& advised,
                                                         const HookLog& seen);

/// Reads the hook's events from the latest trial with events, among the trials that decide the
/// ranking.
[[nodiscard]] Result<HookLog> read_hook_log(const StoredStudy& study);

/// Returns one line for each change: `change  num_workers  0 -> 6  train.py:114  DataLoader(...,
/// num_workers=6)`. A line has at most `width` columns (0: no limit). Empty if nothing changes.
[[nodiscard]] std::string change_lines(const std::vector<SettingChange>& changes,
                                       std::size_t width);
/// Returns `range   batch_size 256 is the end of its range: nothing beyond was tried`; empty if no
/// change reaches the end of its range.
[[nodiscard]] std::string range_line(const std::vector<SettingChange>& changes);

}  // namespace steptune
