// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/searchers/bayes/bayes_searcher.hpp"
#include "tests/unit/bayes/spaces.hpp"

namespace steptune::bayes {
namespace {

// Histories that another program may write. For each history, the searcher must suggest a valid
// configuration that was never tried to its end.

enum class Shape {
  ordinary,
  constant,
  huge,
  tiny,
  all_failed,
  one_feasible,
  cliff,
  guarded,
  count
};

std::vector<SearchSpace> spaces() {
  using testing_spaces::choice;
  using testing_spaces::create;
  using testing_spaces::integer;
  using testing_spaces::real;
  std::vector<SearchSpace> result;
  result.push_back(testing_spaces::mixed_space());
  result.push_back(testing_spaces::batch_space());
  result.push_back(create({real("x", 0.0, 1.0), real("lr", 1e-6, 1.0, Scale::log)}));
  result.push_back(create({integer("only", 3, 3), choice("kind", {"a", "b", "c"}),
                           integer("n", 0, 99), integer("m", 0, 99), integer("k", 0, 99)}));
  return result;
}

Observation generate(Rng& rng, Shape shape, const SearchSpace& space,
                     const std::vector<Observation>& history, std::size_t objectives) {
  Observation observation;
  observation.trial = static_cast<std::int64_t>(history.size()) + 1;
  const bool repeat = !history.empty() && rng.below(5) == 0;
  observation.configuration =
      repeat ? history[rng.below(history.size())].configuration : *space.sample(rng);
  double value = 1.0 + rng.uniform();
  if (shape == Shape::constant) value = 3.0;
  if (shape == Shape::huge) value *= 1e12;
  if (shape == Shape::tiny) value *= 1e-300;
  if (shape == Shape::cliff) value = rng.below(2) == 0 ? 1.0 : 1e9;
  if (shape == Shape::ordinary && rng.below(4) == 0) value = -value;
  observation.values.assign(objectives, value);
  observation.standard_errors.assign(objectives, rng.below(2) == 0 ? 0.0 : 0.1 * std::abs(value));
  if (rng.below(6) == 0) {
    observation.kind = ObservationKind::partial;
    observation.fidelity = 0.01 + 0.9 * rng.uniform();
  }
  for (double fidelity = 0.01; rng.below(3) > 0 && fidelity < observation.fidelity;
       fidelity *= 2.0) {
    observation.milestones.push_back({fidelity,
                                      std::vector(objectives, value * (0.5 + rng.uniform())),
                                      observation.standard_errors});
  }
  if (rng.below(2) == 0) observation.peak_memory_bytes = std::pow(10.0, 12.0 * rng.uniform());
  const bool fails = shape == Shape::all_failed || rng.below(8) == 0 ||
                     (shape == Shape::one_feasible && !history.empty());
  if (shape == Shape::guarded) observation.kind = ObservationKind::infeasible;
  if (fails) {
    observation.kind = rng.below(2) == 0 ? ObservationKind::failed : ObservationKind::out_of_memory;
    observation.values.clear();
    observation.standard_errors.clear();
  }
  return observation;
}

/// Checks that the searcher's answer on a running trial is finite and, if it is a stop, has a
/// reason.
void ask_whether_to_stop(Searcher& searcher, Rng& rng, const SearchSpace& space,
                         const std::vector<Observation>& history, std::size_t objectives) {
  const bool repeat = !history.empty() && rng.below(2) == 0;
  const Configuration configuration =
      repeat ? history[rng.below(history.size())].configuration : *space.sample(rng);
  std::vector<Milestone> milestones;
  for (double fidelity = 0.01; fidelity < 1.0 && rng.below(4) > 0; fidelity *= 2.0) {
    const double value = (rng.uniform() - 0.2) * std::pow(10.0, 12.0 * rng.uniform());
    milestones.push_back({fidelity, std::vector(objectives, value), {}});
  }
  const auto decision = searcher.should_stop(configuration, milestones);
  if (!decision || !decision->stop) return;
  EXPECT_FALSE(decision->reason.empty());
  EXPECT_EQ(decision->reason.find("nan"), std::string::npos) << decision->reason;
  EXPECT_EQ(decision->reason.find("inf"), std::string::npos) << decision->reason;
}

/// Draws a history of fewer than `longest` trials by its number, and checks the searcher's answers.
void survive(const std::vector<SearchSpace>& all, std::uint64_t number, std::uint64_t longest) {
  Rng rng(99, "histories", number);
  const SearchSpace& space = all[rng.below(all.size())];
  const auto shape = static_cast<Shape>(rng.below(static_cast<std::uint64_t>(Shape::count)));
  const std::size_t objectives = 1 + rng.below(2);
  SearcherOptions options;
  options.seed = number;
  options.objectives.assign(objectives, ObjectiveTraits{rng.below(2) == 0});
  BayesSearcher searcher(space, options);
  std::vector<Observation> history;
  const std::size_t earlier = rng.below(3) == 0 ? rng.below(longest) : 0;
  for (std::size_t i = 0; i < earlier; ++i) {
    history.push_back(generate(rng, shape, space, history, objectives));
    searcher.observe_earlier(rng.below(2), history.back());
  }
  history.clear();
  const std::size_t length = rng.below(longest);
  for (std::size_t i = 0; i < length; ++i) {
    history.push_back(generate(rng, shape, space, history, objectives));
    searcher.observe(history.back());
  }
  ask_whether_to_stop(searcher, rng, space, history, objectives);
  std::vector<Configuration> running;
  for (int i = 0; i < 2; ++i) {
    SuggestRequest request;
    request.trial = static_cast<std::int64_t>(length) + 1 + i;
    request.running = running;
    const auto suggestion = searcher.suggest(request);
    ASSERT_TRUE(suggestion) << number;
    if (!*suggestion) {
      // Only batch_space, with 80 configurations, can be exhausted.
      EXPECT_LE(space.product_size().value_or(1000), 80U) << number;
      break;
    }
    const Configuration& configuration = (*suggestion)->configuration;
    ASSERT_TRUE(space.check(configuration)) << number << ": " << configuration.text();
    for (const Observation& observation : history) {
      // Only a configuration that was stopped every time may be tried again.
      ASSERT_TRUE(observation.configuration != configuration ||
                  observation.kind == ObservationKind::partial)
          << number << ": " << configuration.text();
    }
    ASSERT_EQ(std::count(running.begin(), running.end(), configuration), 0) << number;
    if ((*suggestion)->expected_improvement) {
      const double share = *(*suggestion)->expected_improvement;
      ASSERT_TRUE(std::isfinite(share) && share >= 0.0) << number << ": " << share;
    }
    running.push_back(configuration);
  }
}

TEST(Histories, TheSearcherAnswersForAnyHistory) {
  const std::vector<SearchSpace> all = spaces();
  for (std::uint64_t number = 0; number < 200 && !HasFatalFailure(); ++number)
    survive(all, number, 40);
}

TEST(Histories, TheSearcherAnswersForManyShortHistories) {
  // STEPTUNE_HISTORIES=100000 before a release; the default is smaller.
  const char* wanted = std::getenv("STEPTUNE_HISTORIES");
  const std::uint64_t count = wanted == nullptr ? 1000 : std::strtoull(wanted, nullptr, 10);
  const std::vector<SearchSpace> all = spaces();
  for (std::uint64_t number = 1000; number < 1000 + count && !HasFatalFailure(); ++number)
    survive(all, number, 14);
}

}  // namespace
}  // namespace steptune::bayes
