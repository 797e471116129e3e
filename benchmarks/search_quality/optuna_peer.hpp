// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/search_quality/player.hpp"

namespace steptune::search_quality {

/// Samplers of Optuna that can be compared with: `optuna-tpe`, `optuna-tpe-multivariate`, and, from
/// Optuna 3.6 on, `optuna-gp`, `optuna-gp-log` (told the logarithms of values, all of one sign).
[[nodiscard]] const std::vector<std::string>& optuna_peer_names();

/// Optuna in a process of its own, which runs `script` under `python`. Failures are told as the
/// worst value seen so far. Ordered parameters are told as level indices, floating ones as ranges.
/// The space must have neither conditions nor constraints. The process ends with the proposer.
[[nodiscard]] Result<std::unique_ptr<Proposer>> optuna_proposer(
    const std::string& name, const Problem& problem, std::uint64_t seed, const std::string& python,
    const std::filesystem::path& script);

}  // namespace steptune::search_quality
