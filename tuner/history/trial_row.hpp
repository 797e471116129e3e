// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/history/store.hpp"

namespace steptune {

/// Columns of `trials` in the order of `read_trial` and `bind_trial`.
inline constexpr const char* k_trial_columns =
    "number, purpose, confirm_pair, origin, configuration, status, attempt, token, "
    "started_wall_s, ended_wall_s, spent_s, spent_usd, objective_count, objective_1, objective_2, "
    "standard_error_1, standard_error_2, measurement, peak_memory_bytes, other_load, steal, "
    "failure, placement, log_path";

/// Binds the trial's columns, in order, after the parameters that are already bound.
void bind_trial(Query& query, const TrialRecord& trial);
/// Returns the trial in the query's current row. Errors name the trial and the part that cannot be
/// read.
[[nodiscard]] Result<TrialRecord> read_trial(const Query& query, Milestones milestones,
                                             const std::string& where);

}  // namespace steptune
