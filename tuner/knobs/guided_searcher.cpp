// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "tuner/knobs/first_guesses.hpp"

namespace steptune {
namespace {

class GuidedSearcher final : public Searcher {
 public:
  GuidedSearcher(std::unique_ptr<Searcher> inner, FirstGuesses guesses)
      : inner_(std::move(inner)), guesses_(std::move(guesses)) {}

  void observe(const Observation& observation) override {
    if (observations_.size() < k_guessed_trials) observations_.push_back(observation);
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
    // What was measured of such a program tells more than what is usual.
    if (!knows_earlier_) {
      if (auto guess = guesses_.next(observations_, request.running)) {
        return std::optional(Suggestion{*std::move(guess), "expert", std::nullopt});
      }
    }
    return inner_->suggest(request);
  }
  [[nodiscard]] std::optional<StopDecision> should_stop(const TrialProgress& progress) override {
    return inner_->should_stop(progress);
  }
  [[nodiscard]] std::string why_done() const override { return inner_->why_done(); }
  [[nodiscard]] bool learns() const override {
    return observations_.size() < k_guessed_trials || inner_->learns();
  }

 private:
  std::unique_ptr<Searcher> inner_;
  FirstGuesses guesses_;
  std::vector<Observation> observations_;  ///< the first of them
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
