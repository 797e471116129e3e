// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/basic_searchers.hpp"
#include "search/searchers/visited.hpp"

namespace steptune {
namespace {

class RandomSearcher final : public Searcher {
 public:
  RandomSearcher(const SearchSpace& space, std::uint64_t seed)
      : space_(space), seed_(seed), visited_(space) {}

  void observe(const Observation& observation) override { visited_.add(observation.configuration); }

  [[nodiscard]] bool learns() const override { return false; }

  Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    Rng rng(seed_, "random", static_cast<std::uint64_t>(request.trial));
    auto drawn = draw_by_price(space_, with_running(visited_, request.running), request, rng);
    if (drawn) return Suggestion{*std::move(drawn), "random", std::nullopt};
    why_done_ = std::move(drawn.error());
    return std::optional<Suggestion>{};
  }

  [[nodiscard]] std::string why_done() const override { return why_done_; }

 private:
  const SearchSpace& space_;
  std::uint64_t seed_;
  Visited visited_;
  std::string why_done_ = k_all_tried;
};

}  // namespace

std::unique_ptr<Searcher> make_random_searcher(const SearchSpace& space,
                                               const SearcherOptions& options) {
  return std::make_unique<RandomSearcher>(space, options.seed);
}

}  // namespace steptune
