// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trial_runner/held_machines.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// The beginning of the names of all jobs of a study, ending with '-': the study's name reduced to
/// the characters that the service allows, and a hash of name and `salt` (which tells apart equally
/// named studies of one account, e.g. by database and creation time).
[[nodiscard]] std::string job_name_prefix(const std::string& study, const std::string& salt);

/// `<prefix>t12-a1`, or `<prefix>t12-a1-r2` for the second job of the same attempt (the first found
/// no capacity, or the service failed); at most 63 characters of `[a-zA-Z0-9-]`. The same trial,
/// attempt and launch always get the same name, which makes Create idempotent.
[[nodiscard]] std::string job_name(const std::string& prefix, TrialKey key, int launch = 1);

/// `job_name` read backwards; nothing for names that it does not make: strangers' jobs.
[[nodiscard]] std::optional<JobOwner> job_owner(const std::string& name);

}  // namespace steptune
