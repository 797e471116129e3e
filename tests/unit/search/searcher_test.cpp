// SPDX-License-Identifier: Apache-2.0
#include "search/searcher.hpp"

#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "common/numbers.hpp"
#include "search/searchers/sobol_points.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/search/random_spaces.hpp"

namespace steptune::testing {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Searcher> searcher_of(const std::string& name, const SearchSpace& space,
                                      std::uint64_t seed = 1) {
  SearcherOptions options;
  options.seed = seed;
  auto searcher = make_searcher(name, space, options);
  EXPECT_TRUE(searcher) << searcher.error().text();
  return *std::move(searcher);
}

Observation finished(std::int64_t trial, const Configuration& configuration) {
  Observation observation;
  observation.trial = trial;
  observation.configuration = configuration;
  observation.values = {1.0 + static_cast<double>(trial % 7)};
  observation.standard_errors = {0.0};
  if (trial % 5 == 4) {
    observation.kind = ObservationKind::failed;
    observation.values.clear();
    observation.standard_errors.clear();
  }
  return observation;
}

/// Runs a search with two parallel trials until `count` or exhaustion.
std::vector<Configuration> suggestions(Searcher& searcher, int count) {
  std::vector<Configuration> all;
  std::vector<Configuration> running;
  for (int trial = 0; trial < count; ++trial) {
    auto suggestion = searcher.suggest({trial, running, {}});
    EXPECT_TRUE(suggestion) << suggestion.error().text();
    if (!suggestion || !*suggestion) break;
    all.push_back((*suggestion)->configuration);
    running.push_back(all.back());
    if (running.size() == 2) {
      searcher.observe(finished(trial, running.front()));
      running.erase(running.begin());
    }
  }
  return all;
}

class EverySearcher : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Basic, EverySearcher, ::testing::Values("random", "sobol", "grid"),
                         [](const auto& instance) { return instance.param; });

TEST_P(EverySearcher, SuggestsFeasibleNewAndReproducibleOnRandomSpaces) {
  constexpr std::uint64_t k_spaces = k_sanitized ? 15 : 60;
  std::uint64_t too_large = 0;
  for (std::uint64_t seed = 0; seed < k_spaces; ++seed) {
    const SearchSpace space = random_space(seed);
    if (GetParam() == "grid" && !make_searcher("grid", space, {})) {
      ++too_large;
      continue;
    }
    const auto first = suggestions(*searcher_of(GetParam(), space, seed), 40);
    EXPECT_FALSE(first.empty());
    for (const Configuration& configuration : first) {
      const auto checked = space.check(configuration);
      EXPECT_TRUE(checked) << "seed " << seed << ": " << configuration.text() << ": "
                           << checked.error().text();
    }
    EXPECT_EQ(std::set<Configuration>(first.begin(), first.end()).size(), first.size())
        << "a repetition, seed " << seed;
    EXPECT_EQ(suggestions(*searcher_of(GetParam(), space, seed), 40), first) << "seed " << seed;
  }
  EXPECT_LT(too_large, k_spaces / 2);
}

TEST_P(EverySearcher, FindsEveryConfigurationAndThenNothing) {
  const SearchSpace space = loader_space();
  const std::size_t size = space.enumerate(10'000)->size();
  const auto searcher = searcher_of(GetParam(), space);
  const auto all = suggestions(*searcher, 10'000);
  EXPECT_EQ(std::set<Configuration>(all.begin(), all.end()).size(), size);
  EXPECT_EQ(all.size(), size);
}

TEST_P(EverySearcher, DifferentSeedsGiveDifferentSuggestions) {
  const SearchSpace space = loader_space();
  EXPECT_NE(suggestions(*searcher_of(GetParam(), space, 1), 10),
            suggestions(*searcher_of(GetParam(), space, 2), 10));
}

TEST_P(EverySearcher, ContinuesAfterAResumeAsItWouldHaveGoneOn) {
  const SearchSpace space = loader_space();
  const auto whole_run = searcher_of(GetParam(), space);
  std::vector<Observation> observations;
  for (int trial = 0; trial < 12; ++trial) {
    // A second request changes nothing.
    (void)whole_run->suggest({trial, {}, {}});
    const auto suggestion = whole_run->suggest({trial, {}, {}});
    observations.push_back(finished(trial, (*suggestion)->configuration));
    whole_run->observe(observations.back());
  }
  const auto resumed = searcher_of(GetParam(), space);
  for (const Observation& observation : observations)
    resumed->observe(observation);
  EXPECT_EQ((*resumed->suggest({12, {}, {}}))->configuration,
            (*whole_run->suggest({12, {}, {}}))->configuration);
}

TEST_P(EverySearcher, IgnoresObservationsFromOutsideTheSpace) {
  const SearchSpace space = space_of({integer("a", 1, 3)});
  const auto searcher = searcher_of(GetParam(), space);
  searcher->observe(finished(0, Configuration({{"a", whole(9)}})));
  searcher->observe(finished(1, Configuration({{"b", whole(1)}})));
  searcher->observe(finished(2, Configuration({{"a", Value{2.0}}})));
  EXPECT_EQ(suggestions(*searcher, 10).size(), 2u) << "2.0 is the 2 of the space";
}

TEST(SearchersWithoutAModel, TryConfigurationsOfInfinitePriceLast) {
  Parameter workers;
  workers.name = "workers";
  workers.low = 1;
  workers.high = 8;
  const SearchSpace space = *SearchSpace::create({workers}, {}, {});
  for (const char* name : {"random", "sobol"}) {
    const auto searcher = searcher_of(name, space);
    SuggestRequest request;
    request.price = [](const Configuration& configuration) {
      return to_number(*configuration.find("workers")) > 4.0 ? k_infinity : 1.0;
    };
    for (request.trial = 1; request.trial <= 8; ++request.trial) {
      const auto suggestion = searcher->suggest(request);
      ASSERT_TRUE(suggestion && *suggestion) << name;
      const Configuration& configuration = (*suggestion)->configuration;
      EXPECT_EQ(to_number(*configuration.find("workers")) > 4.0, request.trial > 4)
          << name << ": " << configuration.text();
      searcher->observe(finished(request.trial, configuration));
    }
    const auto none = searcher->suggest(request);
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none) << name;
  }
}

TEST(SobolSearcher, CoversTheSpaceMoreEvenlyThanChance) {
  SobolPoints points(2, 5);
  std::set<std::pair<int, int>> cells;
  for (int i = 0; i < 64; ++i) {
    const auto point = points.next();
    ASSERT_TRUE(point[0] >= 0 && point[0] < 1 && point[1] >= 0 && point[1] < 1);
    cells.emplace(static_cast<int>(point[0] * 8), static_cast<int>(point[1] * 8));
  }
  EXPECT_EQ(cells.size(), 64u) << "a (0, m, 2)-net puts one point into each cell";
}

TEST(GridSearcher, GivesContinuousParametersFiveLevels) {
  const SearchSpace space = space_of({floating("lr", 1e-4, 1.0, Scale::log), boolean("amp")});
  const auto all = suggestions(*searcher_of("grid", space), 100);
  EXPECT_EQ(all.size(), 10u);
  std::set<std::string> rates;
  for (const Configuration& configuration : all)
    rates.insert(to_text(*configuration.find("lr")));
  EXPECT_EQ(rates, (std::set<std::string>{"0.0001", "0.001", "0.01", "0.1", "1"}));
  EXPECT_EQ(searcher_of("grid", space)->why_done(),
            "every configuration of the grid has been tried")
      << "the space has configurations outside the grid";
}

TEST(GridSearcher, RefusesGridsBeyondItsLimit) {
  const SearchSpace space = space_of({integer("a", 1, 2000), integer("b", 1, 2000)});
  const auto searcher = make_searcher("grid", space, {});
  ASSERT_FALSE(searcher);
  EXPECT_THAT(searcher.error().text(), HasSubstr("more than 1000000"));
}

TEST(RandomSearcher, FindsConfigurationsThatFewDrawsHit) {
  const SearchSpace space = space_of({floating("a", 0, 1), integer("b", 1, 1)}, {"a <= 0.001"});
  EXPECT_EQ(suggestions(*searcher_of("random", space), 20).size(), 20u);
}

TEST(RandomSearcher, EndsIfItFindsNothingNew) {
  const SearchSpace space = space_of({integer("a", 1, 1), when(floating("b", 0, 1), "a > 1")});
  for (const char* name : {"random", "sobol"}) {
    const auto searcher = searcher_of(name, space);
    searcher->observe(finished(0, Configuration({{"a", whole(1)}})));
    const auto suggestion = searcher->suggest({1, {}, {}});
    ASSERT_TRUE(suggestion) << "a tried configuration may still be recommended";
    EXPECT_FALSE(*suggestion);
    EXPECT_THAT(searcher->why_done(), HasSubstr("50000 random draws"));
  }
}

TEST(MakeSearcher, NamesTheNearestName) {
  const SearchSpace space = loader_space();
  const auto searcher = make_searcher("sobel", space, {});
  ASSERT_FALSE(searcher);
  EXPECT_THAT(searcher.error().text(), HasSubstr("did you mean \"sobol\""));
}

}  // namespace
}  // namespace steptune::testing
