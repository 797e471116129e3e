// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace steptune {

/// Returns the names of variables that contain a process's rank or the number of ranks. The tuner's
/// own environment may have them, if a launcher started the tuner or the user's shell sets them.
/// They would mislead processes whose launcher sets other variables, such as mpirun.
[[nodiscard]] std::span<const std::string_view> rank_variables();

/// Removes these variables, and those of MPI, from the environment that a launcher inherits.
void forget_outer_ranks(std::map<std::string, std::string>& inherited);

}  // namespace steptune
