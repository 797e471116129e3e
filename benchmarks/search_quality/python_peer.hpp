// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/search_quality/player.hpp"

namespace steptune::search_quality {

/// Searcher of another project, which runs in Python.
struct Peer {
  std::string name;         ///< the library, with a suffix if it has several searchers
  std::string environment;  ///< family of scripts/frameworks that installs the library
  /// True if the peer also searches with two objectives, and learns from trials stopped early.
  bool general = false;
};

/// Peers to compare with. `optuna-gp-log` gets the logarithms of values, which must all have one
/// sign.
[[nodiscard]] const std::vector<Peer>& python_peers();

/// Returns the peer of this name; null if there is none.
[[nodiscard]] const Peer* find_python_peer(std::string_view name);

/// Starts a process that runs `script` under `python` for a run of `trials` evaluations. The peer
/// gets ordered parameters as indices of their levels, and floating-point parameters as ranges. A
/// failed trial reports the worst value so far. The space must have neither conditions nor
/// constraints. The process ends with the proposer.
[[nodiscard]] Result<std::unique_ptr<Proposer>> peer_proposer(const Peer& peer,
                                                              const Problem& problem,
                                                              std::uint64_t seed, int trials,
                                                              const std::filesystem::path& python,
                                                              const std::filesystem::path& script);

}  // namespace steptune::search_quality
