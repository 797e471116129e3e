// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trial_runner/runner.hpp"

namespace steptune {

/// The beginning of the names of all jobs of a study, ending with '-': the study's name reduced to
/// the characters that the service allows, and a hash of name and `salt` (which tells apart equally
/// named studies of one account, e.g. by database and creation time).
[[nodiscard]] std::string job_name_prefix(const std::string& study, const std::string& salt);

/// `<prefix>t12-a1`, at most 63 characters of `[a-zA-Z0-9-]`: the same trial and attempt always get
/// the same name, which makes Create idempotent.
[[nodiscard]] std::string job_name(const std::string& prefix, TrialKey key);

/// The trial and attempt of a name made by `job_name` with this prefix; nothing for other names.
[[nodiscard]] std::optional<TrialKey> trial_of_job(std::string_view name, std::string_view prefix);

}  // namespace steptune
