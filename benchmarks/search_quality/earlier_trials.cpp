// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/earlier_trials.hpp"

#include <set>

#include "common/rng.hpp"

namespace steptune::search_quality {

std::vector<Observation> earlier_trials(const Problem& problem, std::uint64_t seed,
                                        const EarlierOptions& options) {
  Rng rng(seed, "search_quality/earlier", 0);
  std::vector<Observation> trials;
  std::set<Configuration> taken;
  // Small spaces may have fewer configurations than requested.
  for (int draw = 0; draw < 50 * options.trials; ++draw) {
    if (static_cast<int>(trials.size()) == options.trials) break;
    auto configuration = problem.space->sample(rng);
    if (!configuration || !taken.insert(*configuration).second) continue;
    Observation observation;
    observation.trial = static_cast<std::int64_t>(trials.size()) + 1;
    auto values = problem.evaluate(*configuration, 0);
    observation.configuration = *std::move(configuration);
    if (values) {
      observation.values = *std::move(values);
      observation.standard_errors.assign(observation.values.size(), 0.0);
    } else {
      observation.kind = ObservationKind::failed;
    }
    trials.push_back(std::move(observation));
  }
  if (options.misleading) {
    for (std::size_t i = trials.size(); i > 1; --i)
      std::swap(trials[i - 1].configuration, trials[rng.below(i)].configuration);
  }
  return trials;
}

}  // namespace steptune::search_quality
