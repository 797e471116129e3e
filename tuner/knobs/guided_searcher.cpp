// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "common/numbers.hpp"
#include "tuner/knobs/first_guesses.hpp"

namespace steptune {
namespace {

class GuidedSearcher final : public Searcher {
 public:
  GuidedSearcher(std::unique_ptr<Searcher> inner, FirstGuesses guesses)
      : inner_(std::move(inner)), guesses_(std::move(guesses)) {}

  void observe(const Observation& observation) override {
    observations_.push_back(observation);
    inner_->observe(observation);
  }
  void observe_earlier(std::size_t study, const Observation& observation) override {
    knows_earlier_ = true;
    inner_->observe_earlier(study, observation);
  }
  [[nodiscard]] std::vector<std::string> take_warnings() override {
    return inner_->take_warnings();
  }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    if (auto guess = next_guess(request.running)) {
      return std::optional(Suggestion{*std::move(guess), "expert", std::nullopt});
    }
    const auto reach = guesses_.reach(observations_);
    if (!reach) return inner_->suggest(request);
    SuggestRequest within = request;
    within.price = [&](const Configuration& configuration) {
      if (!reach->contains(configuration)) return k_infinity;
      return request.price ? request.price(configuration) : 1.0;
    };
    return inner_->suggest(within);
  }
  [[nodiscard]] std::optional<StopDecision> should_stop(
      const Configuration& configuration, std::span<const Milestone> milestones) override {
    return inner_->should_stop(configuration, milestones);
  }
  [[nodiscard]] std::string why_done() const override { return inner_->why_done(); }
  [[nodiscard]] bool learns() const override {
    return next_guess({}).has_value() || inner_->learns();
  }

 private:
  [[nodiscard]] std::optional<Configuration> next_guess(
      std::span<const Configuration> running) const {
    // Trials of an earlier study show where to search, so an expert's usual first choices are not
    // needed.
    return knows_earlier_ ? std::nullopt : guesses_.next(observations_, running);
  }

  std::unique_ptr<Searcher> inner_;
  FirstGuesses guesses_;
  std::vector<Observation> observations_;
  bool knows_earlier_ = false;
};

}  // namespace

std::unique_ptr<Searcher> with_first_guesses(std::unique_ptr<Searcher> inner,
                                             const SearchSpace& space,
                                             const Configuration& baseline,
                                             const GuessMachine& machine,
                                             const std::vector<ObjectiveTraits>& objectives,
                                             const KnobRoles& declared) {
  FirstGuesses guesses(space, baseline, machine, declared);
  if (objectives.empty() || !objectives[0].positive || !guesses.knows_anything()) return inner;
  return std::make_unique<GuidedSearcher>(std::move(inner), std::move(guesses));
}

}  // namespace steptune
