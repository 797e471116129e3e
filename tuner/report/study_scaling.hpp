// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/analysis/scaling.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {

struct ScalingOptions {
  std::string over;  ///< parameter; if empty, `search.over`, or the parameter that counts machines
  std::optional<double> min_efficiency;  ///< nullopt: `search.min_efficiency`
  std::optional<double> deadline_s;      ///< nullopt: `planned_run.deadline`
};

/// Scaling curve of a study.
struct StudyScaling {
  Scaling scaling;
  /// True if times and costs are for the whole planned run, false if they are for a million
  /// samples.
  bool planned_run = false;
  UnitName unit;           ///< unit of the study's samples
  bool has_price = false;  ///< true if cost is in USD, false for machine-hours
  std::string machines;    ///< kind of machines of the curve; empty if the study has only one kind
  /// Efficiency of each trial on these machines. It is the trial's speed per machine, divided by
  /// the speed per machine of the best trial at the first count. Empty if the curve mixes kinds of
  /// machines.
  std::map<std::int64_t, double> efficiency_by_trial;
  std::vector<std::string> remarks;  ///< trials left out, and limits of the curve
};

/// Returns the curve through all trials of a study. Returns nullopt if fewer than two counts were
/// measured or no parameter counts machines.
[[nodiscard]] std::optional<StudyScaling> scaling_of_trials(const StudySpec& spec,
                                                            const Standing& standing);

/// Returns the scaling curve of a stored study. Returns `usage` if `over` is no numeric parameter,
/// or if no parameter counts machines. Also returns `usage` if there is a deadline but no planned
/// run. Returns `not_found` if no trial was measured.
[[nodiscard]] Result<StudyScaling> read_scaling(const StoredStudy& study,
                                                const ScalingOptions& options);

}  // namespace steptune
