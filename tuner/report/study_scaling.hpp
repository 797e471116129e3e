// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/analysis/scaling.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

struct ScalingOptions {
  std::string over;  ///< a parameter; empty: what the study counts machines with
  double min_efficiency = 0.7;
  std::optional<double> deadline_s;  ///< nothing: `planned_run.deadline`
};

/// The scaling curve of a study.
struct StudyScaling {
  Scaling scaling;
  bool planned_run = false;  ///< times and costs are the planned run's, not per million samples
  bool has_price = false;    ///< cost is USD; else machine-hours
  std::string machines;      ///< the kind that the curve is of; empty where there is but one
  std::vector<std::string> remarks;  ///< what was left out, and what the curve cannot tell
};

/// The parameter that counts machines, GPUs or processes: the one that `nodes`, `instance_count`
/// and their like of `launch` and `runner` name, else one that is called so. Nothing where none is.
[[nodiscard]] std::optional<std::string> counting_parameter(const StudySpec& study);

/// Errors of kind `usage`: `over` is no parameter with numbers, none can be found, or a deadline
/// was asked for without a planned run. `not_found`: no trial was measured.
[[nodiscard]] Result<StudyScaling> read_scaling(const StoredStudy& study,
                                                const ScalingOptions& options);

}  // namespace steptune
