// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Behaviour of a replayed trial, before noise.
struct ReplayBehaviour {
  double seconds_per_sample = 0.0;  ///< in steady state; positive
  double samples_per_step = 1.0;
  std::map<std::string, double> metrics;  ///< part of every report
  std::map<std::string, double> parts;    ///< seconds per sample for each part of a step
};

/// Function that returns a trial's behaviour for its configuration, or the reason why such a trial
/// fails. Equal configurations give equal results.
using ReplayModel = std::function<tl::expected<ReplayBehaviour, std::string>(const TrialSpec&)>;

/// Creates a synthetic model. A trial fails if `seconds_per_sample` returns nullopt or no positive
/// number. A step has the trial's `samples_per_step`, by default one sample.
[[nodiscard]] ReplayModel synthetic_replay_model(
    std::function<std::optional<double>(const Configuration&)> seconds_per_sample);

/// Creates a model from a recorded table. `json_file` describes the table; its CSV file is in the
/// same folder. `time_column` names the column that becomes seconds per sample. Default: the
/// objective if it is a time; otherwise the first other column that is a time. Trials report all
/// measured columns as metrics. If the objective is the time, they also report its parts, named
/// without unit: `data` for `data_s`. A step has the trial's `samples_per_step`; by default it
/// takes 0.1 s at the table's median configuration. A trial fails if its configuration has no row,
/// or if the row contains no positive time.
[[nodiscard]] Result<ReplayModel> table_replay_model(const std::filesystem::path& json_file,
                                                     const std::optional<std::string>& time_column);

}  // namespace steptune
