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

/// Source of configurations: one of our searchers or a peer.
class Proposer {
 public:
  virtual ~Proposer() = default;
  /// Returns the next configuration; nullopt if there are no more.
  [[nodiscard]] virtual Result<std::optional<Configuration>> propose(std::int64_t trial) = 0;
  [[nodiscard]] virtual Result<void> learn(const Observation& observation) = 0;
  /// Returns the searcher that advises on running trials; null if there is none.
  [[nodiscard]] virtual Searcher* searcher() { return nullptr; }
  /// Returns the CPU milliseconds of the latest `propose` and the `learn` before it. Returns
  /// nullopt if the caller can measure them with a clock around the calls.
  [[nodiscard]] virtual std::optional<double> thought_ms() const { return std::nullopt; }
};

struct Evaluation {
  Configuration configuration;
  std::optional<std::vector<double>> values;  ///< nullopt if the trial failed
  /// Fidelity at which the values were measured; below 1 if the trial was stopped early.
  double fidelity = 1.0;
  std::vector<Milestone> milestones{};  ///< milestones that the trial passed before its end
  double cost = 1.0;                    ///< cost of the trial, as a multiple of a full run
  /// CPU milliseconds for learning from the previous trial and proposing this one.
  double suggest_ms = 0.0;
};

struct Trajectory {
  std::uint64_t seed = 0;
  std::vector<Evaluation> evaluations;  ///< in order
};

/// Makes a proposer from a searcher of this project, with one thread. The searcher learns from the
/// trials of an earlier study (`earlier`). `initial_points`: as in `SearcherOptions`.
[[nodiscard]] Result<std::unique_ptr<Proposer>> own_proposer(
    const std::string& searcher, const Problem& problem, std::uint64_t seed,
    std::optional<int> initial_points = std::nullopt, std::span<const Observation> earlier = {});

/// Plays trials one after another at full fidelity. Ends early at the problem's `enough_regret`.
[[nodiscard]] Result<Trajectory> play(const Problem& problem, Proposer& proposer,
                                      std::uint64_t seed, int trials, const Clock& clock);

/// Plays trials one after another under successive halving (eta 3) over the problem's fidelities.
/// The cost of a trial is the fidelity that it reached. A configuration without a value fails at
/// once and costs nothing. Ends early once the regret of a value at full fidelity is at most
/// `goal`.
[[nodiscard]] Result<Trajectory> play_asha(const Problem& problem, Proposer& proposer,
                                           std::uint64_t seed, int trials, double goal,
                                           const Clock& clock);

}  // namespace steptune::search_quality
