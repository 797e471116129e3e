// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "search/searchers/basic_searchers.hpp"
#include "search/searchers/sobol_points.hpp"
#include "search/searchers/visited.hpp"

namespace steptune {
namespace {

/// Largest number of points that are drawn for one suggestion, and that are kept for later because
/// they are running or have an infinite price.
constexpr std::size_t k_most_points = 4096;

/// The position in the sequence depends on observed and running trials, not on the number of
/// requests. So a resumed study continues at the same place.
class SobolSearcher final : public Searcher {
 public:
  SobolSearcher(const SearchSpace& space, std::uint64_t seed)
      : space_(space), seed_(seed), visited_(space), points_(space.parameters().size(), seed) {}

  void observe(const Observation& observation) override { visited_.add(observation.configuration); }

  [[nodiscard]] bool learns() const override { return false; }

  Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    const Visited visited = with_running(visited_, request.running);
    while (!pending_.empty() && visited_.contains(pending_.front()))
      pending_.pop_front();
    const auto is_open = [&](const Point& point) {
      return !visited.contains(point) && has_finite_price(request, space_, point);
    };
    for (const Point& point : pending_) {
      if (is_open(point)) return suggestion(space_.decode(point), "sobol");
    }
    for (std::size_t i = 0; i < k_most_points && pending_.size() < k_most_points; ++i) {
      auto point = space_.point_at_quantiles(points_.next());
      if (!point || visited_.contains(*point)) continue;
      pending_.push_back(*std::move(point));
      if (is_open(pending_.back())) return suggestion(space_.decode(pending_.back()), "sobol");
    }
    Rng rng(seed_, "sobol rest", static_cast<std::uint64_t>(request.trial));
    auto drawn = draw_by_price(space_, visited, request, rng);
    if (drawn) return suggestion(*std::move(drawn), "random");
    why_done_ = std::move(drawn.error());
    return std::optional<Suggestion>{};
  }

  [[nodiscard]] std::string why_done() const override { return why_done_; }

 private:
  static std::optional<Suggestion> suggestion(Configuration configuration, std::string origin) {
    return Suggestion{std::move(configuration), std::move(origin), std::nullopt};
  }

  const SearchSpace& space_;
  std::uint64_t seed_;
  Visited visited_;
  SobolPoints points_;
  std::deque<Point> pending_;  ///< points drawn from the sequence but not observed yet
  std::string why_done_ = k_all_tried;
};

}  // namespace

std::unique_ptr<Searcher> make_sobol_searcher(const SearchSpace& space,
                                              const SearcherOptions& options) {
  return std::make_unique<SobolSearcher>(space, options.seed);
}

}  // namespace steptune
