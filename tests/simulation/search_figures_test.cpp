// SPDX-License-Identifier: Apache-2.0
// Compares the Bayesian searcher with the figures of an earlier version. Finds changes of the code
// that make the search worse, although every suggestion is valid.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "benchmarks/search_quality/function_problem.hpp"
#include "benchmarks/search_quality/stored_figures.hpp"

namespace steptune::search_quality {
namespace {

// Compares eight seeds with twenty stored seeds. A difference with p < 0.001 is hardly chance, and
// a relevant loss of quality.
constexpr int k_seeds = 8;
constexpr double k_significant = 0.001;

class SearchFigures : public ::testing::TestWithParam<StoredFigures> {};

std::vector<StoredFigures> stored() {
  auto figures = read_figures(STEPTUNE_SOURCE_DIR "/benchmarks/search_quality/figures.json");
  if (!figures) throw std::runtime_error(figures.error().text());
  return *std::move(figures);
}

TEST_P(SearchFigures, AreNoWorseThanThoseOfAnEarlierVersion) {
  const StoredFigures& before = GetParam();
  const auto problem = function_problem(before.problem);
  ASSERT_TRUE(problem) << problem.error().text();
  Campaign campaign{before.searcher, {}};
  const VirtualClock clock;
  for (int seed = 0; seed < k_seeds; ++seed) {
    auto proposer = own_proposer(before.searcher, *problem, static_cast<std::uint64_t>(seed));
    ASSERT_TRUE(proposer) << proposer.error().text();
    auto trajectory =
        play(*problem, **proposer, static_cast<std::uint64_t>(seed), before.trials, clock);
    ASSERT_TRUE(trajectory) << trajectory.error().text();
    campaign.trajectories.push_back(*std::move(trajectory));
  }
  EXPECT_GT(p_value(before.results, results_of(*problem, campaign)), k_significant);
}

INSTANTIATE_TEST_SUITE_P(Stored, SearchFigures, ::testing::ValuesIn(stored()),
                         [](const auto& stored_case) { return stored_case.param.problem; });

}  // namespace
}  // namespace steptune::search_quality
