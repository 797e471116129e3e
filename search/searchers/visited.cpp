// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/visited.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace steptune {
namespace {

using Admissible = std::function<bool(std::span<const double>)>;

std::optional<Configuration> draw(const SearchSpace& space, const Admissible& admissible, Rng& rng,
                                  int draws) {
  for (int i = 0; i < draws; ++i) {
    const auto point = space.draw(rng);
    if (point && admissible(*point)) return space.decode(*point);
  }
  return std::nullopt;
}

}  // namespace

void Visited::add(const Configuration& configuration) {
  if (space_->contains(configuration)) points_.insert(space_->encode(configuration));
}

Visited with_running(const Visited& visited, std::span<const Configuration> running) {
  Visited both = visited;
  for (const Configuration& configuration : running)
    both.add(configuration);
  return both;
}

tl::expected<Configuration, std::string> draw_unvisited(const SearchSpace& space,
                                                        const Admissible& admissible, Rng& rng) {
  // Most spaces need few draws, which take less time than enumeration.
  if (auto drawn = draw(space, admissible, rng, 200)) return *std::move(drawn);
  const auto rows = space.enumerate_points(k_most_enumerated);
  if (!rows) {
    if (auto drawn = draw(space, admissible, rng, k_most_draws)) return *std::move(drawn);
    return tl::unexpected(fmt::format(
        "no untried configuration that satisfies the constraints was found in {} random draws; "
        "narrow the parameters' ranges to where the constraints can be satisfied",
        k_most_draws));
  }
  const std::size_t width = space.parameters().size();
  std::vector<std::size_t> left;
  for (std::size_t at = 0; at < rows->size(); at += width) {
    if (admissible(std::span<const double>(*rows).subspan(at, width))) left.push_back(at);
  }
  if (left.empty()) return tl::unexpected(std::string(k_all_tried));
  const auto row = std::span<const double>(*rows).subspan(left[rng.below(left.size())], width);
  return space.decode(Point(row.begin(), row.end()));
}

bool has_finite_price(const SuggestRequest& request, const SearchSpace& space,
                      std::span<const double> point) {
  if (!request.price) return true;
  return request.price(space.decode(Point(point.begin(), point.end()))) != k_infinity;
}

tl::expected<Configuration, std::string> draw_by_price(const SearchSpace& space,
                                                       const Visited& visited,
                                                       const SuggestRequest& request, Rng& rng) {
  const auto is_new = [&](std::span<const double> point) { return !visited.contains(point); };
  if (request.price) {
    auto drawn = draw_unvisited(
        space,
        [&](std::span<const double> point) {
          return is_new(point) && has_finite_price(request, space, point);
        },
        rng);
    if (drawn) return drawn;
  }
  return draw_unvisited(space, is_new, rng);
}

}  // namespace steptune
