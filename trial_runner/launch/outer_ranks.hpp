// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace steptune {

/// Returns variables with a process's rank or the number of ranks. The tuner's own environment may
/// have them, from a launch in which it runs or from the user's shell. They would mislead processes
/// of launchers with other variables, such as mpirun.
[[nodiscard]] std::span<const std::string_view> rank_variables();

/// Removes these variables and MPI's own from what a launcher inherits.
void forget_outer_ranks(std::map<std::string, std::string>& inherited);

}  // namespace steptune
