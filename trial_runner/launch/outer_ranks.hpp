// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace steptune {

/// Variables that tell a process its rank, and how many there are. Where the tuner's own
/// environment has them, of a launch that it runs in or from a person's shell, they would mislead
/// the processes of a launcher that tells ranks by other names, such as mpirun.
[[nodiscard]] std::span<const std::string_view> rank_variables();

/// Removes them, and what MPI tells its processes, from what a launcher inherits.
void forget_outer_ranks(std::map<std::string, std::string>& inherited);

}  // namespace steptune
