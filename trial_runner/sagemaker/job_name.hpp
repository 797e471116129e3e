// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trial_runner/held_machines.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Returns the prefix of all job names of a study. It consists of the allowed characters of the
/// study's name, a hash of name and `salt`, and '-'. The salt, such as database and creation time,
/// distinguishes studies of the same name in one account.
[[nodiscard]] std::string job_name_prefix(const std::string& study, const std::string& salt);

/// Returns `<prefix>t12-a1`, or `<prefix>t12-a1-r2` for the second job of the same attempt, if the
/// first job found no capacity. At most 63 characters of `[a-zA-Z0-9-]`. The same trial, attempt
/// and launch always get the same name, so a repeated CreateTrainingJob makes no second job.
[[nodiscard]] std::string job_name(const std::string& prefix, TrialKey key, int launch = 1);

/// Parses a name made by `job_name`; nullopt for other names.
[[nodiscard]] std::optional<JobOwner> job_owner(const std::string& name);

}  // namespace steptune
