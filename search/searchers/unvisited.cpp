// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/unvisited.hpp"

#include <vector>

#include <fmt/format.h>

namespace steptune {
namespace {

constexpr int k_quick_draws = 200;
constexpr int k_patient_draws = 50'000;
constexpr std::uint64_t k_enumeration_limit = 1'000'000;

std::optional<Configuration> draw(const SearchSpace& space, const Visited& visited, Rng& rng,
                                  int draws) {
  std::vector<double> quantiles(space.parameters().size());
  for (int i = 0; i < draws; ++i) {
    for (double& quantile : quantiles)
      quantile = rng.uniform();
    const auto point = space.point_at_quantiles(quantiles);
    if (point && !visited.contains(*point)) return space.decode(*point);
  }
  return std::nullopt;
}

}  // namespace

Visited with_running(const Visited& visited, std::span<const Configuration> running) {
  Visited both = visited;
  for (const Configuration& configuration : running)
    both.add(configuration);
  return both;
}

Result<std::optional<Configuration>> draw_unvisited(const SearchSpace& space,
                                                    const Visited& visited, Rng& rng) {
  if (auto drawn = draw(space, visited, rng, k_quick_draws)) return drawn;
  const auto rows = space.enumerate_points(k_enumeration_limit);
  if (!rows) {
    if (auto drawn = draw(space, visited, rng, k_patient_draws)) return drawn;
    return fail(
        ErrorKind::usage,
        fmt::format("no untried configuration that satisfies the constraints turned up in {} "
                    "random draws",
                    k_patient_draws),
        "/constraints", "narrow the parameters' ranges to where the constraints hold");
  }
  const std::size_t width = space.parameters().size();
  std::vector<std::size_t> left;
  for (std::size_t at = 0; at < rows->size(); at += width) {
    if (!visited.contains(std::span<const double>(*rows).subspan(at, width))) left.push_back(at);
  }
  if (left.empty()) return std::optional<Configuration>{};
  const auto row = std::span<const double>(*rows).subspan(left[rng.below(left.size())], width);
  return space.decode(Point(row.begin(), row.end()));
}

}  // namespace steptune
