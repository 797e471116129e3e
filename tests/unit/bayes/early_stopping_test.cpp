// SPDX-License-Identifier: Apache-2.0
// Tests how the Bayesian searcher handles running and stopped trials.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "search/searchers/bayes/bayes_searcher.hpp"
#include "tests/unit/bayes/spaces.hpp"

namespace steptune::bayes {
namespace {

using testing_spaces::create;
using testing_spaces::integer;

const double k_fidelities[] = {0.0625, 0.125, 0.25, 0.5, 1.0};

SearchSpace space() {
  return create({integer("a", 0, 9), integer("b", 0, 9)});
}

Configuration at(int a, int b) {
  Configuration configuration;
  configuration.set("a", std::int64_t{a});
  configuration.set("b", std::int64_t{b});
  return configuration;
}

/// A loss that falls with the fidelity, to 1 at best.
double loss(int a, int b, double fidelity) {
  return 1.0 + 0.05 * std::abs(a - 7) + 0.03 * std::abs(b - 2) - 0.2 * std::log(fidelity);
}

/// Value of a configuration at a fidelity.
using Curve = std::function<double(int a, int b, double fidelity)>;

std::vector<Milestone> milestones_until(int a, int b, double until, const Curve& curve = loss) {
  std::vector<Milestone> milestones;
  for (const double fidelity : k_fidelities) {
    if (fidelity <= until) milestones.push_back({fidelity, {curve(a, b, fidelity)}, {0.0}});
  }
  return milestones;
}

Observation observation(std::int64_t trial, int a, int b, double fidelity,
                        const Curve& curve = loss) {
  Observation result;
  result.trial = trial;
  result.configuration = at(a, b);
  result.kind = fidelity < 1.0 ? ObservationKind::partial : ObservationKind::complete;
  result.milestones = milestones_until(a, b, fidelity, curve);
  result.values = result.milestones.back().values;
  result.standard_errors = {0.0};
  result.milestones.pop_back();
  result.fidelity = fidelity;
  return result;
}

SearcherOptions options() {
  SearcherOptions result;
  result.objectives = {ObjectiveTraits{true}};
  return result;
}

std::optional<StopDecision> decision_on(Searcher& searcher, int a, int b, double fidelity,
                                        const Curve& curve = loss) {
  const Configuration configuration = at(a, b);
  const auto milestones = milestones_until(a, b, fidelity, curve);
  return searcher.should_stop(configuration, milestones);
}

void teach(Searcher& searcher) {
  int trial = 0;
  for (const int a : {0, 3, 6, 9}) {
    searcher.observe(observation(++trial, a, 9 - a, 0.125));
    searcher.observe(observation(++trial, a, a / 2, 0.25));
  }
  searcher.observe(observation(++trial, 6, 1, 1.0));
  searcher.observe(observation(++trial, 5, 4, 1.0));
}

TEST(BayesEarlyStopping, HoldsBackTrialsThatCannotBeComparedYet) {
  const SearchSpace searched = space();
  BayesSearcher searcher(searched, options());
  const auto early = decision_on(searcher, 1, 1, 0.0625);
  ASSERT_TRUE(early);
  EXPECT_FALSE(early->stop);
  const auto held = decision_on(searcher, 1, 1, 0.125);
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->stop);
  EXPECT_FALSE(held->reason.empty());

  searcher.observe(observation(1, 5, 5, 1.0));
  EXPECT_FALSE(decision_on(searcher, 1, 1, 0.125)) << "a baseline is there, but no model";
}

TEST(BayesEarlyStopping, DistinguishesHopelessFromPromisingTrials) {
  const SearchSpace searched = space();
  BayesSearcher searcher(searched, options());
  teach(searcher);
  const auto hopeless = decision_on(searcher, 0, 8, 0.25);
  ASSERT_TRUE(hopeless);
  EXPECT_TRUE(hopeless->stop);
  EXPECT_FALSE(hopeless->reason.empty());
  const auto promising = decision_on(searcher, 7, 2, 0.5);
  ASSERT_TRUE(promising);
  EXPECT_FALSE(promising->stop);
}

TEST(BayesEarlyStopping, HasPatienceWithTheBestTrialFromItsFirstValueOn) {
  const SearchSpace searched = space();
  BayesSearcher searcher(searched, options());
  teach(searcher);
  for (const double fidelity : {0.0625, 0.125, 0.25, 0.5}) {
    const auto early = decision_on(searcher, 7, 2, fidelity);
    ASSERT_TRUE(early);
    EXPECT_FALSE(early->stop) << "at " << fidelity << ": " << early->reason;
  }
}

TEST(BayesEarlyStopping, LearnsWhichConfigurationsStartBadlyAndEndWell) {
  const SearchSpace searched = space();
  BayesSearcher searcher(searched, options());
  // A larger `a` is worse at first and better in the end; `b` has no effect.
  const auto crossing = [](int a, int, double fidelity) {
    return 2.0 - 0.1 * a + (0.1 + 0.1 * a) * -std::log2(fidelity);
  };
  int trial = 0;
  searcher.observe(observation(++trial, 0, 0, 0.125, crossing));
  searcher.observe(observation(++trial, 2, 5, 0.25, crossing));
  for (const int a : {0, 3, 5, 7})
    searcher.observe(observation(++trial, a, 9 - a, 1.0, crossing));
  ASSERT_GT(crossing(9, 0, 0.125), crossing(0, 0, 0.125));
  for (const double fidelity : {0.125, 0.25, 0.5}) {
    const auto best = decision_on(searcher, 9, 4, fidelity, crossing);
    ASSERT_TRUE(best);
    EXPECT_FALSE(best->stop) << "at " << fidelity << ": " << best->reason;
    const auto worst = decision_on(searcher, 0, 4, fidelity, crossing);
    ASSERT_TRUE(worst);
    EXPECT_TRUE(worst->stop) << "at " << fidelity;
  }
}

TEST(BayesEarlyStopping, LeavesNonPositiveValuesToTheScheduler) {
  const SearchSpace searched = space();
  BayesSearcher searcher(searched, options());
  const auto steep = [](int a, int b, double fidelity) {
    return std::exp(9.0 * loss(a, b, fidelity));
  };
  int trial = 0;
  for (const int a : {0, 3, 6, 9}) {
    searcher.observe(observation(++trial, a, 9 - a, 0.125, steep));
    searcher.observe(observation(++trial, a, a / 2, 1.0, steep));
  }
  const Milestone ordinary[] = {{0.25, {steep(7, 2, 0.25)}, {0.0}}};
  EXPECT_TRUE(searcher.should_stop(at(7, 2), ordinary));
  const Milestone negative[] = {{0.25, {-1.0}, {0.0}}};
  EXPECT_FALSE(searcher.should_stop(at(7, 2), negative));
}

TEST(BayesEarlyStopping, DoesNotDependOnEarlierQuestions) {
  const SearchSpace searched = space();
  BayesSearcher fresh(searched, options());
  BayesSearcher asked(searched, options());
  teach(fresh);
  int trial = 0;
  const auto ask = [&] {
    SuggestRequest request;
    request.trial = ++trial;
    ASSERT_TRUE(asked.suggest(request));
    (void)decision_on(asked, 1, 8, 0.25);
  };
  class Asking final : public Searcher {
   public:
    Asking(Searcher& searcher, std::function<void()> ask)
        : searcher_(searcher), ask_(std::move(ask)) {}
    void observe(const Observation& observation) override {
      searcher_.observe(observation);
      ask_();
    }
    Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
      return searcher_.suggest(request);
    }

   private:
    Searcher& searcher_;
    std::function<void()> ask_;
  } asking(asked, ask);
  teach(asking);
  for (const int a : {0, 4, 7, 8}) {
    const auto one = decision_on(fresh, a, 8, 0.25);
    const auto other = decision_on(asked, a, 8, 0.25);
    ASSERT_TRUE(one);
    ASSERT_TRUE(other);
    EXPECT_EQ(one->stop, other->stop);
    EXPECT_EQ(one->reason, other->reason);
  }
}

TEST(BayesEarlyStopping, RepeatsAStoppedTrialThatTurnsOutToBeTheBest) {
  const SearchSpace searched = create({integer("a", 0, 9), integer("b", 2, 2)});
  BayesSearcher searcher(searched, options());
  int trial = 0;
  for (const int a : {7, 0, 2, 4, 9, 1, 3, 5})
    searcher.observe(observation(++trial, a, 2, a == 7 ? 0.25 : 1.0));
  searcher.observe(observation(++trial, 6, 2, 1.0));
  searcher.observe(observation(++trial, 8, 2, 1.0));
  SuggestRequest request;
  request.trial = ++trial;
  const auto again = searcher.suggest(request);
  ASSERT_TRUE(again);
  ASSERT_TRUE(*again) << "only the trial that was stopped early is left to repeat";
  EXPECT_EQ((*again)->configuration, at(7, 2));
  for (const double fidelity : {0.0625, 0.125, 0.25}) {
    const auto known = decision_on(searcher, 7, 2, fidelity);
    ASSERT_TRUE(known);
    EXPECT_FALSE(known->stop) << "the same was known when the trial was suggested";
  }
}

TEST(BayesEarlyStopping, RepeatsNoTrialThatWentToItsEndOrFailedSince) {
  const SearchSpace searched = create({integer("a", 0, 9), integer("b", 2, 2)});
  for (const bool fails : {false, true}) {
    BayesSearcher searcher(searched, options());
    int trial = 0;
    for (const int a : {7, 0, 2, 4, 9, 1, 3, 5, 6, 8})
      searcher.observe(observation(++trial, a, 2, a == 7 ? 0.25 : 1.0));
    Observation end = observation(++trial, 7, 2, 1.0);
    if (fails) {
      end.kind = ObservationKind::failed;
      end.values.clear();
    }
    searcher.observe(end);
    SuggestRequest request;
    request.trial = ++trial;
    const auto next = searcher.suggest(request);
    ASSERT_TRUE(next);
    EXPECT_FALSE(*next) << "nothing is left to be tried";
  }
}

TEST(BayesEarlyStopping, RepeatsNoStoppedTrialThatPromisesNothing) {
  // A configuration a hundred times slower is stopped equally early each time.
  const Curve rate = [](int a, int, double) { return a == 0 ? 100.0 : 1.0 + 0.05 * a; };
  for (const bool all_tried : {true, false}) {
    const SearchSpace searched = create({integer("a", 0, all_tried ? 9 : 10), integer("b", 2, 2)});
    BayesSearcher searcher(searched, options());
    int trial = 0;
    for (const int a : {7, 0, 2, 4, 9, 1, 3, 5, 6, 8})
      searcher.observe(observation(++trial, a, 2, a == 0 ? 0.0625 : 1.0, rate));
    SuggestRequest request;
    request.trial = ++trial;
    const auto next = searcher.suggest(request);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->has_value(), !all_tried);
    if (*next) {
      EXPECT_EQ((*next)->configuration, at(10, 2));
    }
  }
}

TEST(BayesEarlyStopping, SaysNothingOfTwoObjectives) {
  const SearchSpace searched = space();
  SearcherOptions two = options();
  two.objectives.push_back(ObjectiveTraits{true});
  BayesSearcher searcher(searched, two);
  EXPECT_FALSE(decision_on(searcher, 1, 1, 0.25));
}

}  // namespace
}  // namespace steptune::bayes
