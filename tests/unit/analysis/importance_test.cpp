// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/importance.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "common/numbers.hpp"
#include "tests/unit/analysis/spaces.hpp"

namespace steptune {
namespace {

SearchSpace training_space() {
  return space_of(
      {whole_parameter("workers", 0.0, 8.0),
       text_parameter("precision", {Value{std::string("fp32")}, Value{std::string("bf16")}}),
       whole_parameter("threads", 1.0, 8.0)});
}

double training_time(const Configuration& c) {
  const double load = 1.0 / (1.0 + number_in(c, "workers"));
  const double compute = is_text(c, "precision", "bf16") ? 0.5 : 1.0;
  return load * compute;
}

TrialRecord trial_with(const Configuration& configuration, TrialStatus status, double time_s) {
  TrialRecord trial;
  trial.configuration = configuration;
  trial.status = status;
  if (time_s > 0.0) {
    trial.objectives = {time_s};
    trial.standard_errors = {0.02 * time_s};
  }
  return trial;
}

std::vector<TrialRecord> trials_of(const SearchSpace& space, int count) {
  Rng rng(3, "trials");
  std::vector<TrialRecord> trials;
  for (int i = 0; i < count; ++i) {
    const Configuration configuration = *space.sample(rng);
    const bool failed = number_in(configuration, "threads") > 6.0;
    const double time_s = training_time(configuration) * std::exp(0.02 * rng.normal());
    trials.push_back(failed ? trial_with(configuration, TrialStatus::failed, 0.0)
                            : trial_with(configuration, TrialStatus::completed, 1000.0 * time_s));
  }
  return trials;
}

Importance time_importance(const SearchSpace& space, const std::vector<TrialRecord>& trials) {
  const TrialSamples samples = objective_samples(space, trials, 0);
  const auto model = EffectsModel::fit(space, samples.samples);
  return importance_of(space, samples, model ? &*model : nullptr);
}

TEST(Importance, OrdersParametersByExplainedVariance) {
  const SearchSpace space = training_space();
  const Importance importance = time_importance(space, trials_of(space, 60));
  ASSERT_EQ(importance.parameters.size(), 3U);
  EXPECT_EQ(importance.parameters[0].parameter, "workers");
  EXPECT_EQ(importance.parameters[1].parameter, "precision");
  ASSERT_TRUE(importance.parameters[0].effect);
  EXPECT_EQ(importance.parameters[0].effect->least, Value{std::int64_t{8}});
  EXPECT_EQ(importance.parameters[0].effect->most, Value{std::int64_t{0}});
  // Eight workers divide the loading time by 9, and bf16 divides the computing time by 2.
  EXPECT_NEAR(importance.parameters[0].effect->size.mean, 9.0, 0.5);
  EXPECT_NEAR(importance.parameters[1].effect->size.mean, 2.0, 0.1);
  EXPECT_EQ(importance.parameters[1].effect->least, Value{std::string("bf16")});
  EXPECT_EQ(importance.parameters[2].alone.low, 0.0) << "threads have no effect";
  EXPECT_TRUE(importance.pairs.empty()) << "times multiply: their logarithms add";
}

TEST(TrialSamples, ThinnedSamplesContainBaselineAndBest) {
  const SearchSpace space = training_space();
  for (const std::size_t place : {1U, 4444U, 9999U}) {
    std::vector<TrialRecord> trials;
    for (std::size_t i = 0; i < 10'000; ++i) {
      Configuration configuration;
      configuration.set("workers", static_cast<std::int64_t>(i % 9));
      configuration.set("precision", std::string("fp32"));
      configuration.set("threads", std::int64_t{1});
      trials.push_back(trial_with(configuration, TrialStatus::completed,
                                  1000.0 + 0.01 * static_cast<double>(i % 100)));
    }
    trials[place].objectives = {1.0};
    trials[10'000 - place].objectives = {77.0};
    trials[10'000 - place].purpose = TrialPurpose::baseline;
    const TrialSamples samples = objective_samples(space, trials, 0);
    EXPECT_LE(samples.samples.size(), 2000U);
    EXPECT_GT(samples.samples.size(), 1990U);
    const auto has = [&](double time_s) {
      return std::ranges::any_of(samples.samples, [&](const EffectSample& sample) {
        return std::abs(sample.value - std::log(time_s)) < 1e-9;
      });
    };
    EXPECT_TRUE(has(1.0)) << place;
    EXPECT_TRUE(has(77.0)) << place;
  }
}

TEST(Importance, NamesParametersThatFailuresDependOn) {
  const SearchSpace space = training_space();
  const TrialSamples samples = failure_samples(space, trials_of(space, 80));
  const auto model = EffectsModel::fit(space, samples.samples);
  const Importance importance = importance_of(space, samples, &*model);
  EXPECT_EQ(importance.parameters[0].parameter, "threads");
  EXPECT_GT(importance.parameters[0].alone.mean, 0.9);
  EXPECT_FALSE(importance.logarithmic);
}

TEST(Importance, AParameterThatHadOneValueIsNotJudged) {
  const SearchSpace space = training_space();
  std::vector<TrialRecord> trials = trials_of(space, 40);
  for (TrialRecord& trial : trials)
    trial.configuration.set("precision", std::string("bf16"));
  const Importance importance = time_importance(space, trials);
  EXPECT_EQ(importance.parameters.back().parameter, "precision");
  EXPECT_FALSE(importance.parameters.back().varied);
  EXPECT_FALSE(importance.parameters.back().effect);
}

TEST(Importance, FewTrialsShowNothing) {
  const SearchSpace space = training_space();
  const Importance importance = time_importance(space, trials_of(space, 5));
  EXPECT_NE(importance.why_unknown.find("8 are needed"), std::string::npos)
      << importance.why_unknown;
  EXPECT_TRUE(importance.parameters.empty());
}

TEST(TrialSamples, StoppedAndInfeasibleTrialsAreMeasuredToo) {
  const SearchSpace space = training_space();
  const Configuration configuration({{"workers", Value{std::int64_t{2}}},
                                     {"precision", Value{std::string("bf16")}},
                                     {"threads", Value{std::int64_t{1}}}});
  const std::vector<TrialRecord> trials{
      trial_with(configuration, TrialStatus::completed, 100.0),
      trial_with(configuration, TrialStatus::stopped_early, 110.0),
      trial_with(configuration, TrialStatus::infeasible, 120.0),
      trial_with(configuration, TrialStatus::failed, 0.0),
      trial_with(configuration, TrialStatus::running, 0.0)};
  const TrialSamples times = objective_samples(space, trials, 0);
  ASSERT_EQ(times.samples.size(), 3U);
  EXPECT_TRUE(times.logarithmic);
  EXPECT_NEAR(times.samples[1].value, std::log(110.0), 1e-12);
  EXPECT_NEAR(times.samples[1].standard_error, 0.02, 1e-12);
  const TrialSamples failures = failure_samples(space, trials);
  const TrialSamples from_points = failure_samples(space, trials, encoded(space, trials));
  ASSERT_EQ(from_points.samples.size(), failures.samples.size());
  for (std::size_t i = 0; i < failures.samples.size(); ++i)
    EXPECT_EQ(from_points.samples[i].point, failures.samples[i].point);
  ASSERT_EQ(failures.samples.size(), 4U) << "running trials have not failed";
  EXPECT_EQ(failures.samples[2].value, 1.0);
}

TEST(TrialSamples, ValuesWithAnInfiniteErrorAreLeftOut) {
  const SearchSpace space = training_space();
  const Configuration configuration({{"workers", Value{std::int64_t{2}}},
                                     {"precision", Value{std::string("bf16")}},
                                     {"threads", Value{std::int64_t{1}}}});
  std::vector<TrialRecord> trials(3, trial_with(configuration, TrialStatus::completed, 100.0));
  trials[1].standard_errors = {k_infinity};
  trials[2].standard_errors = {k_nan};
  const TrialSamples times = objective_samples(space, trials, 0);
  ASSERT_EQ(times.samples.size(), 2U);
  EXPECT_EQ(times.samples[1].standard_error, 0.0) << "a metric without an error";
}

TEST(TrialSamples, StepTimesAreThoseOfTheMachineBeforeItsDrift) {
  const SearchSpace space = training_space();
  std::vector<TrialRecord> trials = trials_of(space, 2);
  for (TrialRecord& trial : trials) {
    trial.status = TrialStatus::completed;
    trial.measurement.emplace();
    trial.measurement->seconds_per_sample = 0.2;
    trial.measurement->half_width_s = 0.0;
  }
  trials[1].level = {std::log(2.0), 0.03};
  const TrialSamples times = step_time_samples(space, trials);
  ASSERT_EQ(times.samples.size(), 2U);
  EXPECT_NEAR(times.samples[0].value, std::log(0.2), 1e-12);
  EXPECT_NEAR(times.samples[1].value, std::log(0.1), 1e-12);
  EXPECT_NEAR(times.samples[1].standard_error, 0.03, 1e-12);
}

TEST(TrialSamples, ValuesThatAreNotPositiveStayUnchanged) {
  const SearchSpace space = training_space();
  std::vector<TrialRecord> trials = trials_of(space, 10);
  trials.front().status = TrialStatus::completed;
  trials.front().objectives = {-1.0};
  const TrialSamples samples = objective_samples(space, trials, 0);
  EXPECT_FALSE(samples.logarithmic);
  EXPECT_EQ(samples.samples.front().value, -1.0);
}

}  // namespace
}  // namespace steptune
