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

/// How a trial behaves when it is replayed, before noise.
struct ReplayBehaviour {
  double seconds_per_sample = 0.0;  ///< in steady state; positive
  double samples_per_step = 1.0;
  std::map<std::string, double> metrics;  ///< told with every report
  std::map<std::string, double> parts;    ///< seconds per sample by part of a step
};

/// Tells a trial's behaviour from its configuration, or why a trial with it fails. Same
/// configuration, same answer.
using ReplayModel = std::function<tl::expected<ReplayBehaviour, std::string>(const TrialSpec&)>;

/// A synthetic model. Nothing from `seconds_per_sample`, or a number that is not positive, makes
/// the trial fail. Steps are as long as the trial's `samples_per_step` says, else one sample.
[[nodiscard]] ReplayModel synthetic_replay_model(
    std::function<std::optional<double>(const Configuration&)> seconds_per_sample);

/// A recorded table, from its JSON file; the CSV file named there lies beside it. `time_column`
/// becomes seconds per sample; default: the objective if it is a time, else the first other column
/// that is one. All measured columns are told as metrics of their names. Where the objective is the
/// time, its parts are told, too, without the unit in their names: `data` of `data_s`. Steps are as
/// long as the trial's `samples_per_step` says, else 0.1 s at the table's median configuration.
/// Configurations without a row, or with an empty one, fail.
[[nodiscard]] Result<ReplayModel> table_replay_model(const std::filesystem::path& json_file,
                                                     const std::optional<std::string>& time_column);

}  // namespace steptune
