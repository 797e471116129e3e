// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/launch/outer_ranks.hpp"

#include <algorithm>
#include <array>

namespace steptune {
namespace {

/// Names of variables to remove. MASTER_ADDR and MASTER_PORT stay: users set them for programs
/// under mpirun.
constexpr std::array<std::string_view, 15> k_variables{
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
    "ROLE_RANK", "ROLE_WORLD_SIZE", "NODE_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
    // The prefixes below also match these names. They are listed because the script of a Slurm step
    // unsets variables by name. srun sets none of them.
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE"};
/// Prefixes of variables to remove. Variables with `OMPI_MCA_` stay: they are the user's settings.
constexpr std::array<std::string_view, 3> k_prefixes{"OMPI_COMM_WORLD_", "PMI_", "PMIX_"};

}  // namespace

std::span<const std::string_view> rank_variables() {
  return k_variables;
}

void forget_outer_ranks(std::map<std::string, std::string>& inherited) {
  std::erase_if(inherited, [](const auto& variable) {
    const std::string_view name = variable.first;
    return std::ranges::find(k_variables, name) != k_variables.end() ||
           std::ranges::any_of(k_prefixes,
                               [&](std::string_view prefix) { return name.starts_with(prefix); });
  });
}

}  // namespace steptune
