// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/ablation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/analysis/spaces.hpp"

namespace steptune {
namespace {

Configuration configuration_of(std::int64_t workers, const char* precision, std::int64_t threads) {
  return Configuration({{"workers", Value{workers}},
                        {"precision", Value{std::string(precision)}},
                        {"threads", Value{threads}}});
}

SearchSpace ablated_space() {
  return space_of(
      {whole_parameter("workers", 0.0, 4.0),
       text_parameter("precision", {Value{std::string("fp32")}, Value{std::string("bf16")}}),
       whole_parameter("threads", 1.0, 4.0)});
}

/// Returns the log time: workers give a factor of 1.9, precision 1.4, threads nothing.
double log_time(const Configuration& c) {
  return (number_in(c, "workers") > 0.0 ? 0.0 : std::log(1.9)) +
         (is_text(c, "precision", "bf16") ? 0.0 : std::log(1.4));
}

TrialSamples samples_at(const SearchSpace& space, const std::vector<Configuration>& measured,
                        double error = 0.01) {
  TrialSamples samples;
  for (const Configuration& configuration : measured)
    samples.samples.push_back({space.encode(configuration), log_time(configuration), error});
  return samples;
}

const Configuration k_from = configuration_of(0, "fp32", 1);
const Configuration k_to = configuration_of(4, "bf16", 2);

TEST(Ablation, MeasuredConfigurationsKeepTheirMeasuredValue) {
  const SearchSpace space = ablated_space();
  std::vector<Configuration> all;
  for (const std::int64_t workers : {0, 4}) {
    for (const char* precision : {"fp32", "bf16"}) {
      for (const std::int64_t threads : {1, 2})
        all.push_back(configuration_of(workers, precision, threads));
    }
  }
  const AblationPath path =
      ablation_path(space, samples_at(space, all), nullptr, true, k_from, k_to);
  EXPECT_EQ(path.why_unknown, "");
  ASSERT_EQ(path.steps.size(), 3U);
  EXPECT_EQ(path.steps[0].changes.front().parameter, "workers") << "the largest gain comes first";
  EXPECT_EQ(path.steps[1].changes.front().parameter, "precision");
  EXPECT_NEAR(path.steps[0].gain.mean, 1.9, 0.02);
  EXPECT_NEAR(path.steps[1].gain.mean, 1.4, 0.02);
  EXPECT_NEAR(path.steps[2].gain.mean, 1.0, 0.02);
  EXPECT_LT(path.steps[2].gain.low, 1.0);
  EXPECT_GT(path.steps[2].gain.high, 1.0);
  EXPECT_NEAR(path.gain.mean, 1.9 * 1.4, 0.05);
  for (const AblationStep& step : path.steps)
    EXPECT_TRUE(step.measured);
  EXPECT_EQ(path.steps.back().configuration, k_to);
}

TEST(Ablation, TheModelPredictsUnmeasuredStepsAndSaysSo) {
  const SearchSpace space = ablated_space();
  TrialSamples samples;
  samples.samples = drawn_samples(space, 40, log_time, 0.01);
  for (const Configuration& end : {k_from, k_to})
    samples.samples.push_back({space.encode(end), log_time(end), 0.01});
  // Remove the configurations on the path from the measured ones.
  std::erase_if(samples.samples, [&](const EffectSample& sample) {
    const Configuration c = space.decode(sample.point);
    return c != k_from && c != k_to && number_in(c, "workers") != 2.0 &&
           number_in(c, "threads") <= 2.0;
  });
  const auto model = EffectsModel::fit(space, samples.samples);
  ASSERT_TRUE(model);
  const AblationPath path = ablation_path(space, samples, &*model, true, k_from, k_to);
  ASSERT_EQ(path.steps.size(), 3U);
  EXPECT_FALSE(path.steps[0].measured);
  EXPECT_TRUE(path.steps[2].measured) << "the best one itself was measured";
  EXPECT_EQ(path.steps[0].changes.front().parameter, "workers");
  EXPECT_LT(path.steps[0].gain.low, 1.9);
  EXPECT_GT(path.steps[0].gain.high, 1.9);
  EXPECT_GT(path.steps[0].gain.high / path.steps[0].gain.low, 1.02) << "the interval is wider";
}

TEST(Ablation, AParameterThatBecomesActiveComesWithItsCondition) {
  Parameter prefetch = whole_parameter("prefetch", 1.0, 8.0);
  prefetch.when = "workers > 0";
  const SearchSpace space = space_of({whole_parameter("workers", 0.0, 4.0), prefetch});
  const Configuration from({{"workers", Value{std::int64_t{0}}}});
  const Configuration to(
      {{"workers", Value{std::int64_t{4}}}, {"prefetch", Value{std::int64_t{6}}}});
  const AblationPath path =
      ablation_path(space, samples_at(space, {from, to}), nullptr, true, from, to);
  ASSERT_EQ(path.steps.size(), 1U);
  ASSERT_EQ(path.steps[0].changes.size(), 2U);
  EXPECT_EQ(path.steps[0].changes[0].parameter, "workers");
  EXPECT_EQ(path.steps[0].changes[1].parameter, "prefetch");
  EXPECT_FALSE(path.steps[0].changes[1].from);
  EXPECT_EQ(path.steps[0].changes[1].to, Value{std::int64_t{6}});
}

TEST(Ablation, ConstraintsMaySetSeveralParametersAtOnce) {
  const SearchSpace space =
      space_of({whole_parameter("a", 0.0, 1.0), whole_parameter("b", 0.0, 1.0)}, {"a == b"});
  const Configuration from({{"a", Value{std::int64_t{0}}}, {"b", Value{std::int64_t{0}}}});
  const Configuration to({{"a", Value{std::int64_t{1}}}, {"b", Value{std::int64_t{1}}}});
  TrialSamples samples;
  samples.samples = {{space.encode(from), 1.0, 0.01}, {space.encode(to), 0.5, 0.01}};
  const AblationPath path = ablation_path(space, samples, nullptr, true, from, to);
  ASSERT_EQ(path.steps.size(), 1U);
  EXPECT_EQ(path.steps[0].changes.size(), 2U);
  EXPECT_NEAR(path.steps[0].gain.mean, std::exp(0.5), 0.05);
}

TEST(Ablation, GainsOfAMaximisedMetricAreItsRises) {
  const SearchSpace space = ablated_space();
  const AblationPath path =
      ablation_path(space, samples_at(space, {k_from, k_to}), nullptr, false, k_to, k_from);
  EXPECT_NEAR(path.gain.mean, 1.9 * 1.4, 0.05);
}

TEST(Ablation, WithoutMeasuredEndsThereIsNoPath) {
  const SearchSpace space = ablated_space();
  const AblationPath path =
      ablation_path(space, samples_at(space, {k_from}), nullptr, true, k_from, k_to);
  EXPECT_NE(path.why_unknown, "");
  EXPECT_TRUE(path.steps.empty());
}

}  // namespace
}  // namespace steptune
