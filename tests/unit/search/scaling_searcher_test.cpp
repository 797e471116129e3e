// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "common/rng.hpp"
#include "search/scaling/scaling_law.hpp"
#include "search/searcher.hpp"
#include "tests/support/sanitized.hpp"

namespace steptune::testing {
namespace {

using ::testing::HasSubstr;

SearchSpace nodes_and_batch(int most, const std::vector<std::string>& constraints = {}) {
  Parameter nodes;
  nodes.name = "nodes";
  nodes.kind = ParameterKind::integer;
  nodes.low = 1;
  nodes.high = most;
  Parameter batch;
  batch.name = "batch";
  batch.kind = ParameterKind::ordinal;
  batch.choices = {Value{std::int64_t{32}}, Value{std::int64_t{64}}};
  auto space = SearchSpace::create({nodes, batch}, constraints, {});
  EXPECT_TRUE(space) << space.error().text();
  return *std::move(space);
}

Configuration configured(std::int64_t nodes, std::int64_t batch = 64) {
  Configuration configuration;
  configuration.set("nodes", Value{nodes});
  configuration.set("batch", Value{batch});
  return configuration;
}

std::unique_ptr<Searcher> scaling_searcher(const SearchSpace& space,
                                           std::optional<double> deadline_s = std::nullopt) {
  SearcherOptions options;
  options.scaling = ScalingSearch{"nodes", 0.7, 0, deadline_s};
  auto searcher = make_searcher("scaling", space, options);
  EXPECT_TRUE(searcher) << searcher.error().text();
  return *std::move(searcher);
}

double nodes_of(const Configuration& configuration) {
  return to_number(*configuration.find("nodes"));
}

Observation timed(const Configuration& configuration, double time_s, double relative_error) {
  Observation observation;
  observation.configuration = configuration;
  observation.values = {time_s};
  observation.standard_errors = {relative_error * time_s};
  return observation;
}

struct Found {
  std::vector<double> counts;  ///< in the order of the trials
  Estimate knee;
};

Estimate knee_by(const std::vector<ScalingPoint>& points, double most) {
  std::vector<double> counts;
  for (int i = 1; i <= static_cast<int>(most); ++i)
    counts.push_back(i);
  return estimate_by_plausible_laws(fit_scaling_laws(points, 3.0), [&](const ScalingCurve& curve) {
    return knee_of(curve, counts, 0.7);
  });
}

/// Runs a search on times that follow the curve, with errors.
Found search(const ScalingCurve& truth, int most, double error, std::uint64_t seed) {
  const SearchSpace space = nodes_and_batch(most);
  const auto searcher = scaling_searcher(space);
  Rng rng(seed, "scaling search");
  Found found;
  std::vector<ScalingPoint> points;
  const auto measure = [&](const Configuration& configuration) {
    const double count = nodes_of(configuration);
    const double time_s = truth.time_s(count) * std::exp(error * rng.normal());
    searcher->observe(timed(configuration, time_s, error));
    found.counts.push_back(count);
    points.push_back({count, time_s, error});
  };
  measure(configured(1));
  for (int trial = 2; trial <= most; ++trial) {
    const auto suggestion = searcher->suggest({trial, {}, {}});
    EXPECT_TRUE(suggestion) << suggestion.error().text();
    if (!suggestion || !*suggestion) break;
    measure((*suggestion)->configuration);
  }
  found.knee = knee_by(points, *std::ranges::max_element(found.counts));
  return found;
}

double true_knee(const ScalingCurve& truth, int most) {
  std::vector<double> counts;
  for (int i = 1; i <= most; ++i)
    counts.push_back(i);
  return knee_of(truth, counts, 0.7);
}

/// Returns curves whose knee is at 2 to 20 of 64 machines, and some without one.
std::vector<ScalingCurve> curves() {
  std::vector<ScalingCurve> curves;
  for (const double serial : {0.01, 0.03, 0.1}) {
    curves.push_back({ScalingLaw::amdahl, 100.0, serial, 0.0});
    curves.push_back({ScalingLaw::gustafson, 100.0, serial, 0.0});
    for (const double communication : {0.002, 0.01}) {
      curves.push_back({ScalingLaw::amdahl_linear, 100.0, serial, communication});
      curves.push_back({ScalingLaw::amdahl_log, 100.0, serial, communication});
    }
  }
  return curves;
}

TEST(ScalingSearcher, FindsTheKneeOf64CountsWithSixTrials) {
  constexpr std::uint64_t k_seeds = k_sanitized ? 1 : 5;
  constexpr double k_error = 0.01;
  double studies = 0.0;
  double trials = 0.0;
  double machines = 0.0;
  double covered = 0.0;
  double near = 0.0;
  for (const ScalingCurve& truth : curves()) {
    const double knee = true_knee(truth, 64);
    for (std::uint64_t seed = 1; seed <= k_seeds; ++seed) {
      const Found found = search(truth, 64, k_error, seed);
      studies += 1.0;
      trials += static_cast<double>(found.counts.size());
      machines += std::accumulate(found.counts.begin(), found.counts.end(), 0.0);
      covered += found.knee.low <= knee && knee <= found.knee.high ? 1.0 : 0.0;
      near += std::abs(found.knee.mean - knee) <= std::max(1.0, knee / 5.0) ? 1.0 : 0.0;
    }
  }
  EXPECT_LE(trials / studies, 6.0);
  // 1, 2, 4, ... 64 would occupy 127 machines.
  EXPECT_LE(machines / studies, 127.0 / 2.0);
  EXPECT_GE(covered / studies, 0.95);
  EXPECT_GE(near / studies, 0.95);
}

TEST(ScalingSearcher, TakesOtherSettingsFromTheBestTrialOfANearbyCount) {
  const SearchSpace space = nodes_and_batch(8);
  const auto searcher = scaling_searcher(space);
  searcher->observe(timed(configured(1, 64), 100.0, 0.01));
  searcher->observe(timed(configured(1, 32), 80.0, 0.01));
  const auto suggestion = searcher->suggest({3, {}, {}});
  ASSERT_TRUE(suggestion && *suggestion);
  EXPECT_EQ((*suggestion)->configuration, configured(2, 32));
  EXPECT_EQ((*suggestion)->origin, "scaling");
}

TEST(ScalingSearcher, UsesTrialsThatMissTheDeadline) {
  const SearchSpace space = nodes_and_batch(8);
  const auto searcher = scaling_searcher(space);
  Observation late = timed(configured(1, 32), 100.0, 0.01);
  late.kind = ObservationKind::infeasible;
  searcher->observe(late);
  const auto suggestion = searcher->suggest({2, {}, {}});
  ASSERT_TRUE(suggestion && *suggestion);
  EXPECT_EQ((*suggestion)->configuration, configured(2, 32));
}

TEST(ScalingSearcher, BeginsWithTheLeastCount) {
  const SearchSpace space = nodes_and_batch(8);
  const auto searcher = scaling_searcher(space);
  searcher->observe(timed(configured(4), 30.0, 0.01));
  const auto suggestion = searcher->suggest({2, {}, {}});
  ASSERT_TRUE(suggestion && *suggestion);
  EXPECT_EQ(nodes_of((*suggestion)->configuration), 1.0);
}

TEST(ScalingSearcher, SuggestsNoCountAboveOneThatFailed) {
  const SearchSpace space = nodes_and_batch(64);
  const auto searcher = scaling_searcher(space);
  std::vector<double> tried;
  for (std::int64_t trial = 1; trial <= 20; ++trial) {
    const auto suggestion = searcher->suggest({trial, {}, {}});
    ASSERT_TRUE(suggestion);
    if (!*suggestion) break;
    const double nodes = nodes_of((*suggestion)->configuration);
    tried.push_back(nodes);
    if (nodes <= 6.0) {
      searcher->observe(timed((*suggestion)->configuration, 100.0 / nodes, 0.01));
    } else {
      Observation failed;
      failed.configuration = (*suggestion)->configuration;
      failed.kind = ObservationKind::failed;
      searcher->observe(failed);
    }
  }
  EXPECT_THAT(tried, ::testing::ElementsAre(1.0, 2.0, 4.0, 8.0, 6.0, 7.0))
      << "counts between the largest that ran and the smallest that failed";
  EXPECT_THAT(searcher->why_done(), HasSubstr("nodes=7 failed, and all smaller counts pay off"));
}

/// A tenth of the work is serial: one machine takes 100 s, and no number of machines takes less
/// than 10 s.
const ScalingCurve k_tenth_serial{ScalingLaw::amdahl, 100.0, 0.1, 0.0};

/// Returns the counts up to 64 that are tried until the searcher ends.
std::vector<double> tried_counts(Searcher& searcher) {
  std::vector<double> tried;
  for (std::int64_t trial = 1; trial <= 64; ++trial) {
    const auto suggestion = searcher.suggest({trial, {}, {}});
    EXPECT_TRUE(suggestion);
    if (!suggestion || !*suggestion) break;
    const double nodes = nodes_of((*suggestion)->configuration);
    tried.push_back(nodes);
    searcher.observe(timed((*suggestion)->configuration, k_tenth_serial.time_s(nodes), 0.01));
  }
  return tried;
}

TEST(ScalingSearcher, FindsTheLeastCountForADeadline) {
  // The knee is at 2 machines; 8 take 21.25 s and 9 take 20 s.
  const SearchSpace space = nodes_and_batch(64);
  const auto of_knee = tried_counts(*scaling_searcher(space));
  EXPECT_LT(std::ranges::max(of_knee), 9.0);
  const auto searcher = scaling_searcher(space, 21.0);
  const auto tried = tried_counts(*searcher);
  EXPECT_EQ(std::ranges::max(tried), 9.0) << "larger counts do not pay off";
  EXPECT_LE(tried.size(), 9U);
  EXPECT_THAT(searcher->why_done(),
              HasSubstr("; the smallest measured count that meets the deadline: nodes=9"));
}

TEST(ScalingSearcher, SearchesBetweenMissedAndKeptDeadlines) {
  const SearchSpace space = nodes_and_batch(64);
  const auto searcher = scaling_searcher(space, 21.0);
  for (const int nodes : {1, 2, 4, 16})
    searcher->observe(timed(configured(nodes), k_tenth_serial.time_s(nodes), 0.01));
  const auto suggestion = searcher->suggest({5, {}, {}});
  ASSERT_TRUE(suggestion && *suggestion);
  EXPECT_EQ(nodes_of((*suggestion)->configuration), 9.0);
}

TEST(ScalingSearcher, ADeadlineThatNoCountKeepsIsGivenUp) {
  const SearchSpace space = nodes_and_batch(64);
  const auto searcher = scaling_searcher(space, 5.0);
  const auto tried = tried_counts(*searcher);
  EXPECT_LE(std::ranges::max(tried), 16.0);
  EXPECT_LE(tried.size(), 9U);
  EXPECT_THAT(searcher->why_done(), HasSubstr("; none that was measured meets the deadline"));
}

TEST(ScalingSearcher, SkipsForbiddenCountsAndAwaitsRunningOnes) {
  const SearchSpace space = nodes_and_batch(8, {"nodes != 2"});
  const auto searcher = scaling_searcher(space);
  searcher->observe(timed(configured(1), 100.0, 0.01));
  const auto suggestion = searcher->suggest({2, {}, {}});
  ASSERT_TRUE(suggestion && *suggestion);
  EXPECT_EQ(nodes_of((*suggestion)->configuration), 3.0);
  const std::vector<Configuration> running{configured(3)};
  const auto beside = searcher->suggest({3, running, {}});
  ASSERT_TRUE(beside);
  EXPECT_FALSE(*beside) << "the next count depends on the time of three";
}

TEST(ScalingSearcher, SaysWhyItIsDone) {
  const SearchSpace space = nodes_and_batch(3);
  const auto searcher = scaling_searcher(space);
  for (int nodes = 1; nodes <= 3; ++nodes)
    searcher->observe(timed(configured(nodes), 100.0 / nodes, 0.01));
  const auto none = searcher->suggest({4, {}, {}});
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_THAT(searcher->why_done(), HasSubstr("every count of nodes"));

  const SearchSpace large = nodes_and_batch(64);
  const auto other = scaling_searcher(large);
  for (const int nodes : {1, 2, 4})
    other->observe(timed(configured(nodes), 100.0 / (1.0 + 0.001 * (nodes - 1)), 0.001));
  const auto known = other->suggest({4, {}, {}});
  ASSERT_TRUE(known);
  EXPECT_FALSE(*known);
  EXPECT_EQ(other->why_done(), "the knee is known: nodes=1");
}

TEST(ScalingSearcher, RefusesAParameterThatCannotCountMachines) {
  const SearchSpace space = nodes_and_batch(8);
  EXPECT_FALSE(make_searcher("scaling", space, {}));
  SearcherOptions options;
  options.scaling = ScalingSearch{"gpus", 0.7, 0};
  EXPECT_THAT(make_searcher("scaling", space, options).error().message,
              HasSubstr("no parameter \"gpus\""));
  Parameter workers;
  workers.name = "workers";
  workers.kind = ParameterKind::integer;
  workers.low = 0;
  workers.high = 4;
  const auto loaders = SearchSpace::create({workers}, {}, {});
  ASSERT_TRUE(loaders);
  options.scaling->over = "workers";
  EXPECT_THAT(make_searcher("scaling", *loaders, options).error().message,
              HasSubstr("not counts of machines"));
}

}  // namespace
}  // namespace steptune::testing
