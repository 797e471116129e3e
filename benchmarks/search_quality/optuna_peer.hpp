// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/search_quality/player.hpp"

namespace steptune::search_quality {

/// Names of Optuna's samplers to compare with: `optuna-tpe`, `optuna-tpe-multivariate`, and, from
/// Optuna 3.6 on, `optuna-gp` and `optuna-gp-log`. `optuna-gp-log` gets the logarithms of values,
/// which must all have one sign.
[[nodiscard]] const std::vector<std::string>& optuna_peer_names();

/// Starts a process that runs `script` (Optuna) under `python`. Optuna gets ordered parameters as
/// indices of their levels, and floating-point parameters as ranges. A failed trial reports the
/// worst value so far. The space must have neither conditions nor constraints. The process ends
/// with the proposer.
[[nodiscard]] Result<std::unique_ptr<Proposer>> optuna_proposer(
    const std::string& name, const Problem& problem, std::uint64_t seed, const std::string& python,
    const std::filesystem::path& script);

}  // namespace steptune::search_quality
