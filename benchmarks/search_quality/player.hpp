// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/search_quality/problem.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "search/observation.hpp"
#include "search/searcher.hpp"

namespace steptune::search_quality {

/// Whatever proposes configurations: a searcher of ours or a peer.
class Proposer {
 public:
  virtual ~Proposer() = default;
  /// Nothing when it has no more to propose.
  [[nodiscard]] virtual Result<std::optional<Configuration>> propose(std::int64_t trial) = 0;
  [[nodiscard]] virtual Result<void> learn(const Observation& observation) = 0;
  /// Who advises on trials under way; null if nobody does.
  [[nodiscard]] virtual Searcher* searcher() { return nullptr; }
  /// Milliseconds that the latest `propose` and the `learn` before it took, where the proposer
  /// knows better than a clock around the calls.
  [[nodiscard]] virtual std::optional<double> thought_ms() const { return std::nullopt; }
};

struct Evaluation {
  Configuration configuration;
  std::optional<std::vector<double>> values;  ///< nothing: failed
  double fidelity = 1.0;  ///< at which the values were measured; below 1 if stopped early
  std::vector<Milestone> milestones{};  ///< that it passed before
  double cost = 1.0;                    ///< in full runs
  double suggest_ms = 0.0;              ///< learning from the one before and proposing this one
};

struct Trajectory {
  std::uint64_t seed = 0;
  std::vector<Evaluation> evaluations;  ///< in order
};

/// A searcher of ours by name, on one thread, that knows the trials of an `earlier` study.
/// `initial_points`: see `SearcherOptions`.
[[nodiscard]] Result<std::unique_ptr<Proposer>> own_proposer(
    const std::string& searcher, const Problem& problem, std::uint64_t seed,
    std::optional<int> initial_points = std::nullopt, std::span<const Observation> earlier = {});

/// One trial after the other at full fidelity; ends early at the problem's `enough_regret`.
[[nodiscard]] Result<Trajectory> play(const Problem& problem, Proposer& proposer,
                                      std::uint64_t seed, int trials, const Clock& clock);

/// One trial after the other under successive halving (eta 3) over the problem's fidelities, on one
/// worker; a trial costs the fidelity that it reached. Configurations that are absent fail at once
/// and cost nothing. Ends early once a full-fidelity value lies within `goal` of the optimum.
[[nodiscard]] Result<Trajectory> play_asha(const Problem& problem, Proposer& proposer,
                                           std::uint64_t seed, int trials, double goal,
                                           const Clock& clock);

}  // namespace steptune::search_quality
