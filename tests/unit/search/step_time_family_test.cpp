// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/step_time_family.hpp"

#include <cmath>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/search_quality/step_time_model.hpp"
#include "benchmarks/search_quality/step_time_problem.hpp"

namespace steptune::search_quality {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t k_members = 20;

Configuration with(Configuration configuration, const char* name, Value value) {
  configuration.set(name, std::move(value));
  return configuration;
}

/// Returns a small batch on one device, which fits into every member's memory.
Configuration modest(const SearchSpace& space) {
  Configuration configuration;
  for (const Parameter& parameter : space.parameters())
    configuration.set(parameter.name, parameter.level(0));
  return configuration;
}

Observation observe(const Problem& problem, const Configuration& configuration, std::uint64_t seed,
                    std::int64_t trial) {
  Observation observation;
  observation.trial = trial;
  observation.configuration = configuration;
  problem.tell(seed, observation);
  return observation;
}

TEST(StepTimeModel, IsDrawnFromItsSeedAndNumber) {
  const auto first = draw_step_time_model(7, 3);
  const auto again = draw_step_time_model(7, 3);
  EXPECT_EQ(first.decode_s, again.decode_s);
  EXPECT_EQ(first.noise, again.noise);
  EXPECT_EQ(first.parameters.size(), again.parameters.size());
  EXPECT_NE(first.decode_s, draw_step_time_model(7, 4).decode_s);
  EXPECT_NE(first.decode_s, draw_step_time_model(8, 3).decode_s);
}

TEST(StepTimeModel, HasParametersAndNoiseInItsRanges) {
  std::set<std::size_t> sizes;
  for (std::uint64_t number = 0; number < k_members; ++number) {
    const auto model = draw_step_time_model(0, number);
    sizes.insert(model.parameters.size());
    EXPECT_GE(model.noise, 0.01);
    EXPECT_LE(model.noise, 0.05);
  }
  EXPECT_THAT(sizes, ElementsAre(5, 6, 7));
}

TEST(StepTimeModel, LoadsBesideTheComputeOnlyWithPrefetch) {
  auto model = draw_step_time_model(0, 0);
  model.unevenness = 0.0;
  model.hand_over_s = 0.0;
  const auto problem = step_time_problem(0, 0);
  const Configuration waiting = modest(*problem.space);
  const auto without = model.parts_of(waiting);
  const auto with_prefetch = model.parts_of(with(waiting, "prefetch", std::int64_t{2}));
  ASSERT_TRUE(without && with_prefetch);
  EXPECT_EQ(without->data_wait_s, without->loading_s);
  EXPECT_DOUBLE_EQ(with_prefetch->data_wait_s + with_prefetch->compute_s,
                   std::max(with_prefetch->loading_s, with_prefetch->compute_s));
}

TEST(StepTimeModel, CommunicatesAsARing) {
  auto model = draw_step_time_model(0, 0);
  model.latency_s = 0.0;
  model.devices_per_node = 8;
  const auto problem = step_time_problem(0, 0);
  const Configuration one = modest(*problem.space);
  EXPECT_EQ(model.parts_of(one)->communication_s, 0.0);
  const auto two = model.parts_of(with(one, "devices", std::int64_t{2}));
  const auto four = model.parts_of(with(one, "devices", std::int64_t{4}));
  // Per step 2 (n - 1) / n: 1 and 3/2; per sample a half and a quarter of that.
  EXPECT_NEAR(four->communication_s / two->communication_s, 0.75, 1e-12);
}

TEST(StepTimeModel, MoreWorkersThanTheMachineHoldsSlowTheLoading) {
  auto model = draw_step_time_model(0, 0);
  model.cpus = 4;
  const auto problem = step_time_problem(0, 0);
  const Configuration one = modest(*problem.space);
  const double loading_1_s = model.parts_of(one)->loading_s;
  const double loading_3_s = model.parts_of(with(one, "workers", std::int64_t{3}))->loading_s;
  const double loading_8_s = model.parts_of(with(one, "workers", std::int64_t{8}))->loading_s;
  EXPECT_LT(loading_3_s, loading_1_s / 2.0);
  EXPECT_GT(loading_8_s, loading_3_s);
}

TEST(StepTimeProblem, NoConfigurationBeatsItsOptimum) {
  for (std::uint64_t number = 0; number < 4; ++number) {
    const auto problem = step_time_problem(0, number);
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0.0;
    const auto configurations = problem.space->enumerate(1'000'000);
    ASSERT_TRUE(configurations);
    for (const Configuration& configuration : *configurations) {
      const auto values = problem.evaluate(configuration, 0);
      if (!values) continue;
      smallest = std::min(smallest, (*values)[0]);
      largest = std::max(largest, (*values)[0]);
    }
    EXPECT_EQ(smallest, problem.optimum);
    EXPECT_GT(largest, 3.0 * problem.optimum) << "nothing to be gained in " << problem.name;
  }
}

TEST(StepTimeProblem, SomeConfigurationsRunOutOfMemoryInEveryMember) {
  for (std::uint64_t number = 0; number < k_members; ++number) {
    const auto problem = step_time_problem(0, number);
    const Configuration small = modest(*problem.space);
    const Parameter& batch = *problem.space->find("batch_size");
    const auto large = with(small, "batch_size", batch.level(*batch.level_count() - 1));
    ASSERT_TRUE(problem.evaluate(small, 0)) << problem.name;
    EXPECT_FALSE(problem.evaluate(large, 0)) << problem.name;
    const Observation failed = observe(problem, large, 1, 0);
    EXPECT_EQ(failed.kind, ObservationKind::out_of_memory);
    EXPECT_THAT(failed.values, IsEmpty());
  }
}

TEST(StepTimeProblem, HasNoiseOfTheSizeThatTheProblemDeclares) {
  constexpr int k_trials = 4000;
  const auto problem = step_time_problem(0, 5);
  const double noise = draw_step_time_model(0, 5).noise;
  const Configuration configuration = modest(*problem.space);
  const double value = (*problem.evaluate(configuration, 0))[0];
  double sum = 0.0;
  double squares = 0.0;
  for (int trial = 0; trial < k_trials; ++trial) {
    const Observation observation = observe(problem, configuration, 1, trial);
    const double deviation = std::log(observation.values[0] / value);
    sum += deviation;
    squares += deviation * deviation;
    EXPECT_DOUBLE_EQ(observation.standard_errors[0], noise * observation.values[0]);
  }
  // Standard errors: noise / 63 for the mean, 1.1 % for the deviation.
  EXPECT_NEAR(sum / k_trials, 0.0, 5.0 * noise / std::sqrt(k_trials));
  EXPECT_NEAR(std::sqrt(squares / k_trials), noise, 0.06 * noise);
}

TEST(StepTimeProblem, NoiseDiffersByRunAndTrial) {
  const auto problem = step_time_problem(0, 2);
  const auto configuration = modest(*problem.space);
  const auto values = observe(problem, configuration, 9, 4).values;
  EXPECT_EQ(observe(problem, configuration, 9, 4).values, values);
  EXPECT_NE(observe(problem, configuration, 10, 4).values, values);
  EXPECT_NE(observe(problem, configuration, 9, 5).values, values);
}

TEST(StepTimeFamily, CountsEvaluationsWithoutNoiseToThreePercent) {
  Problem problem;
  problem.optimum = 1.0;
  const auto campaign_of = [](const std::vector<std::vector<double>>& runs) {
    Campaign campaign;
    for (const auto& values : runs) {
      Trajectory trajectory;
      for (const double value : values) {
        Evaluation evaluation;
        if (value > 0.0) evaluation.values = {value};
        trajectory.evaluations.push_back(evaluation);
      }
      campaign.trajectories.push_back(trajectory);
    }
    return campaign;
  };
  const FamilySummary summary = summarise_family(
      {problem, problem, problem},
      {campaign_of({{2.0, 0.0, 1.029}, {1.031, 1.0}, {1.0}}), campaign_of({{2.0}, {1.5}, {1.01}}),
       campaign_of({{2.0, 1.0}, {1.0}, {1.0, 1.0}})});
  EXPECT_THAT(summary.by_member, ElementsAre(2.0, std::numeric_limits<double>::infinity(), 1.0));
  EXPECT_EQ(summary.median, 2.0);
  EXPECT_NEAR(summary.solved, 7.0 / 9.0, 1e-12);
}

TEST(StepTimeFamily, PlaysEverySearcherOnEveryMember) {
  const VirtualClock clock;
  const FamilyOptions options{2, 0, {"sobol", "random"}};
  const auto json =
      run_step_time_family(options, [&](const Problem& problem, const std::string& searcher) {
        Campaign campaign{searcher, {}};
        auto proposer = own_proposer(searcher, problem, 1);
        campaign.trajectories.push_back(*play(problem, **proposer, 1, 30, clock));
        return Result<Campaign>(std::move(campaign));
      });
  ASSERT_TRUE(json);
  ASSERT_EQ(json->at("arms").size(), 2u);
  EXPECT_EQ(json->at("arms")[0].at("searcher"), "sobol");
  EXPECT_EQ(json->at("arms")[1].at("searcher"), "random");
  EXPECT_EQ(json->at("arms")[0].at("members").size(), 2u);
  EXPECT_NE(json->at("arms")[0].at("members")[1].at("seeds"),
            json->at("arms")[1].at("members")[1].at("seeds"));
}

}  // namespace
}  // namespace steptune::search_quality
