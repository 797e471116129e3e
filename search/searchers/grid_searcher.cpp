// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "search/searchers/basic_searchers.hpp"
#include "search/searchers/visited.hpp"

namespace steptune {
namespace {

/// Returns the points of the grid; nullopt if there are more than `k_most_enumerated`.
std::optional<std::vector<Point>> grid_of(const SearchSpace& space) {
  const auto& parameters = space.parameters();
  std::vector<std::uint64_t> levels;
  for (const Parameter& parameter : parameters) {
    levels.push_back(parameter.level_count().value_or(k_grid_levels));
  }
  std::vector<Point> grid;
  if (const auto rows = space.enumerate_points(k_most_enumerated)) {
    for (auto row = rows->begin(); row != rows->end();) {
      const auto end = row + static_cast<std::ptrdiff_t>(parameters.size());
      grid.emplace_back(row, end);
      row = end;
    }
    return grid;
  }
  std::uint64_t product = 1;
  for (const std::uint64_t count : levels) {
    if (__builtin_mul_overflow(product, count, &product) || product > k_most_enumerated) {
      return std::nullopt;
    }
  }
  for (std::uint64_t index = 0; index < product; ++index) {
    Point point(parameters.size());
    std::uint64_t rest = index;
    for (std::size_t i = parameters.size(); i-- > 0;) {
      const std::uint64_t level = rest % levels[i];
      rest /= levels[i];
      point[i] = parameters[i].level_count() ? parameters[i].position_of(parameters[i].level(level))
                                             : static_cast<double>(level) / (k_grid_levels - 1);
    }
    if (space.snap(point)) grid.push_back(std::move(point));
  }
  // Different levels of inactive parameters give equal points: keep one.
  std::ranges::sort(grid);
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

class GridSearcher final : public Searcher {
 public:
  GridSearcher(const SearchSpace& space, std::vector<Point> grid)
      : space_(space), grid_(std::move(grid)), visited_(space) {}

  void observe(const Observation& observation) override {
    visited_.add(observation.configuration);
    while (next_ < grid_.size() && visited_.contains(grid_[next_]))
      ++next_;
  }

  [[nodiscard]] bool learns() const override { return false; }

  Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    const Visited visited = with_running(visited_, request.running);
    for (std::size_t i = next_; i < grid_.size(); ++i) {
      if (visited.contains(grid_[i])) continue;
      return Suggestion{space_.decode(grid_[i]), "grid", std::nullopt};
    }
    return std::optional<Suggestion>{};
  }

  [[nodiscard]] std::string why_done() const override {
    return "every configuration of the grid has been tried";
  }

 private:
  const SearchSpace& space_;
  std::vector<Point> grid_;
  Visited visited_;
  std::size_t next_ = 0;  ///< all earlier points have been observed
};

}  // namespace

Result<std::unique_ptr<Searcher>> make_grid_searcher(const SearchSpace& space,
                                                     const SearcherOptions& options) {
  auto grid = grid_of(space);
  if (!grid) {
    return fail(ErrorKind::usage,
                fmt::format("the grid has more than {} configurations", k_most_enumerated), {},
                "give parameters a step or fewer values, or use the searcher sobol");
  }
  Rng rng(options.seed, "grid order");
  for (std::size_t i = grid->size(); i > 1; --i)
    std::swap((*grid)[i - 1], (*grid)[rng.below(i)]);
  return std::make_unique<GridSearcher>(space, *std::move(grid));
}

}  // namespace steptune
