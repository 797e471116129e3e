// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/observation.hpp"
#include "search/searcher.hpp"
#include "search/space/search_space.hpp"

namespace steptune::search_quality {

/// Task for a searcher: a space and the values of each configuration. All values are to be
/// minimised; maximised columns are negated.
struct Problem {
  std::string name;
  std::string kind;  ///< `table`, `function` or `step_times`
  std::shared_ptr<const SearchSpace> space;
  std::vector<ObjectiveTraits> objectives;  ///< one or two
  std::vector<std::string> objective_names;
  std::vector<bool> maximised;

  /// Resource of each fidelity, as a share of the last fidelity's resource. Has one entry unless
  /// the user requested a fidelity column.
  std::vector<double> fidelities{1.0};
  /// Returns the values at a fidelity; nullopt if the configuration fails.
  std::function<std::optional<std::vector<double>>(const Configuration&, std::size_t fidelity)>
      evaluate;
  /// Changes a trial's observation for the searcher, in the run of `seed`: adds noise, peak memory
  /// or the kind of failure. If empty, the searcher gets the values of `evaluate`.
  std::function<void(std::uint64_t seed, Observation& observation)> tell;

  /// One objective: smallest value at full fidelity.
  double optimum = 0.0;
  /// One objective: if true, `regret` is relative to the optimum. If false, the optimum may be 0.
  /// `regret` is then relative to the gap between the optimum and `typical`, the median of random
  /// configurations.
  bool relative_to_optimum = true;
  double typical = 0.0;

  /// One objective: a run may end once its regret is at most this.
  std::optional<double> enough_regret;

  /// Two objectives: reference point (in logarithms if `log_volume`), and largest hypervolume.
  std::vector<double> reference;
  bool log_volume = false;
  double max_volume = 0.0;

  /// Returns the relative distance of `value` from the optimum: 0 at the optimum, 0.05 for five per
  /// cent.
  [[nodiscard]] double regret(double value) const;
  /// Returns the hypervolume of `points` (values as evaluated) as a share of the largest.
  [[nodiscard]] double volume_share(const std::vector<std::vector<double>>& points) const;
};

/// Returns the area that `points` dominate below `reference`, for two objectives to be minimised.
[[nodiscard]] double hypervolume(std::vector<std::vector<double>> points,
                                 const std::vector<double>& reference);

}  // namespace steptune::search_quality
