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
  std::string
      over;  ///< a parameter; empty: `search.over`, else what the study counts machines with
  std::optional<double> min_efficiency;  ///< nothing: `search.min_efficiency`
  std::optional<double> deadline_s;      ///< nothing: `planned_run.deadline`
};

/// The scaling curve of a study.
struct StudyScaling {
  Scaling scaling;
  bool planned_run = false;  ///< times and costs are the planned run's, not per million samples
  UnitName unit;             ///< of the study's samples
  bool has_price = false;    ///< cost is USD; else machine-hours
  std::string machines;      ///< the kind that the curve is of; empty where there is but one
  /// Speed over count of each trial on that kind, over that of the first count's best. Empty where
  /// the machines are of several kinds together.
  std::map<std::int64_t, double> efficiency_by_trial;
  std::vector<std::string> remarks;  ///< what was left out, and what the curve cannot tell
};

/// The curve through all trials of a study; nothing where fewer than two counts were measured, or
/// no parameter counts machines.
[[nodiscard]] std::optional<StudyScaling> scaling_of_trials(const StudySpec& spec,
                                                            const Standing& standing);

/// Errors of kind `usage`: `over` is no parameter with numbers, none can be found, or a deadline
/// was asked for without a planned run. `not_found`: no trial was measured.
[[nodiscard]] Result<StudyScaling> read_scaling(const StoredStudy& study,
                                                const ScalingOptions& options);

}  // namespace steptune
