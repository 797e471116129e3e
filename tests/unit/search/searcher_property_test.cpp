// SPDX-License-Identifier: Apache-2.0
// Properties of the searchers without a model, over random spaces and fixed seeds.
#include <set>

#include <gmock/gmock.h>

#include "search/searchers/basic_searchers.hpp"
#include "search/searchers/sobol_points.hpp"
#include "tests/unit/search/random_spaces.hpp"

namespace steptune::testing {
namespace {

std::unique_ptr<Searcher> basic_searcher(const std::string& name, const SearchSpace& space,
                                         std::uint64_t seed) {
  SearcherOptions options;
  options.seed = seed;
  auto made = make_searcher(name, space, options);
  EXPECT_TRUE(made) << made.error().text();
  return *std::move(made);
}

Observation ended_as(const Configuration& configuration, ObservationKind kind) {
  Observation observation;
  observation.configuration = configuration;
  observation.kind = kind;
  if (kind == ObservationKind::complete || kind == ObservationKind::partial) {
    observation.values = {1.0};
    observation.standard_errors = {0.1};
  }
  return observation;
}

/// Returns every configuration that is suggested while no trial ends.
std::vector<std::string> suggested_in_parallel(Searcher& searcher, std::size_t most) {
  std::vector<Configuration> running;
  std::vector<std::string> texts;
  while (running.size() < most) {
    SuggestRequest request;
    request.trial = std::ssize(running) + 1;
    request.running = running;
    const auto suggestion = searcher.suggest(request);
    EXPECT_TRUE(suggestion) << suggestion.error().text();
    if (!suggestion || !*suggestion) break;
    running.push_back((*suggestion)->configuration);
    texts.push_back(running.back().text());
  }
  return texts;
}

class BasicSearcher : public ::testing::TestWithParam<const char*> {};

TEST_P(BasicSearcher, TrialsThatRunSideBySideAreAllDifferent) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    const SearchSpace space = random_space(seed);
    const auto searcher = basic_searcher(GetParam(), space, seed);
    const auto texts = suggested_in_parallel(*searcher, 12);
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size()) << seed;
  }
}

TEST_P(BasicSearcher, FailedConfigurationsAreNotSuggestedAgain) {
  const SearchSpace space = space_of({integer("a", 1, 3), integer("b", 1, 2)});
  for (const ObservationKind kind :
       {ObservationKind::failed, ObservationKind::out_of_memory, ObservationKind::complete}) {
    const auto searcher = basic_searcher(GetParam(), space, 1);
    Configuration tried;
    tried.set("a", std::int64_t{2});
    tried.set("b", std::int64_t{1});
    searcher->observe(ended_as(tried, kind));
    const auto texts = suggested_in_parallel(*searcher, 10);
    EXPECT_EQ(texts.size(), 5U);
    EXPECT_THAT(texts, ::testing::Not(::testing::Contains(tried.text())));
    EXPECT_FALSE(searcher->why_done().empty());
  }
}

TEST_P(BasicSearcher, SuggestionsHaveAnOriginAndNoExpectation) {
  const SearchSpace space = space_of({integer("a", 1, 100)});
  const auto searcher = basic_searcher(GetParam(), space, 3);
  const auto suggestion = searcher->suggest({1, {}, {}});
  ASSERT_TRUE(suggestion && *suggestion);
  EXPECT_EQ((*suggestion)->origin, GetParam());
  EXPECT_FALSE((*suggestion)->expected_improvement) << "there is no model";
  EXPECT_FALSE(searcher->learns()) << "suggestions may be made long before they are tried";
}

TEST_P(BasicSearcher, OutcomesOfTrialsChangeNoSuggestion) {
  const SearchSpace space = space_of({integer("a", 1, 50), boolean("b")});
  const auto fast = basic_searcher(GetParam(), space, 5);
  const auto slow = basic_searcher(GetParam(), space, 5);
  for (std::int64_t trial = 1; trial < 20; ++trial) {
    const auto one = fast->suggest({trial, {}, {}});
    const auto other = slow->suggest({trial, {}, {}});
    ASSERT_TRUE(one && *one && other && *other);
    ASSERT_EQ((*one)->configuration, (*other)->configuration) << trial;
    fast->observe(ended_as((*one)->configuration, ObservationKind::complete));
    slow->observe(ended_as((*other)->configuration, ObservationKind::failed));
  }
}

INSTANTIATE_TEST_SUITE_P(Names, BasicSearcher, ::testing::Values("random", "sobol", "grid"),
                         [](const auto& name) { return std::string(name.param); });

TEST(GridSearcher, SuggestsEachConfigurationOfTheSpaceOnce) {
  const SearchSpace space = space_of(
      {integer("a", 0, 3), boolean("b"), stepped(floating("c", 0, 1), 0.5)}, {"a + c <= 3"});
  std::set<std::string> expected;
  for (std::int64_t a = 0; a <= 3; ++a) {
    for (const bool b : {false, true}) {
      for (const double c : {0.0, 0.5, 1.0}) {
        Configuration configuration;
        configuration.set("a", a);
        configuration.set("b", b);
        configuration.set("c", c);
        if (space.contains(configuration)) expected.insert(configuration.text());
      }
    }
  }
  EXPECT_EQ(expected.size(), 20U);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto texts = suggested_in_parallel(*basic_searcher("grid", space, seed), 100);
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()), expected) << seed;
    EXPECT_EQ(texts.size(), expected.size()) << seed;
  }
}

TEST(SobolPoints, FillEachIntervalOfEachDimensionOnce) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const std::size_t dimensions : {1U, 3U, 8U}) {
      SobolPoints points(dimensions, seed);
      std::vector<std::set<int>> cells(dimensions);
      for (int i = 0; i < 64; ++i) {
        const auto point = points.next();
        ASSERT_EQ(point.size(), dimensions);
        for (std::size_t d = 0; d < dimensions; ++d) {
          EXPECT_GE(point[d], 0.0);
          EXPECT_LT(point[d], 1.0);
          cells[d].insert(static_cast<int>(64.0 * point[d]));
        }
      }
      for (const auto& each : cells)
        EXPECT_EQ(each.size(), 64U) << "64 points in 64 cells: " << seed;
    }
  }
}

}  // namespace
}  // namespace steptune::testing
