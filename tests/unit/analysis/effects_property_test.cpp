// SPDX-License-Identifier: Apache-2.0
// Properties of effects for random programs, over fixed seeds.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/analysis/spaces.hpp"
#include "tuner/analysis/effect_basis.hpp"
#include "tuner/analysis/effects_model.hpp"

namespace steptune {
namespace {

SearchSpace four_knobs() {
  return space_of({whole_parameter("workers", 0, 8), real_parameter("rate", 0.0, 1.0),
                   text_parameter("kind", {std::string("a"), std::string("b"), std::string("c")}),
                   whole_parameter("threads", 1, 4)});
}

/// Returns a function with effects of random sizes, one of them of a pair.
Function random_function(std::uint64_t seed) {
  Rng rng(seed, "function");
  const double workers = rng.normal();
  const double rate = rng.normal();
  const double kind = rng.normal();
  const double pair = rng.normal();
  return [=](const Configuration& configuration) {
    const double x = number_in(configuration, "rate") - 0.5;
    return workers / (1.0 + number_in(configuration, "workers")) + rate * x +
           (is_text(configuration, "kind", "b") ? kind : 0.0) +
           (is_text(configuration, "kind", "c") ? pair * x : 0.0);
  };
}

double sum_of(const std::vector<std::vector<double>>& shares, std::size_t draw) {
  return std::accumulate(shares.begin(), shares.end(), 0.0,
                         [&](double sum, const auto& group) { return sum + group[draw]; });
}

double mean_share(const EffectsModel& model, std::size_t group) {
  const auto& draws = model.shares()[group];
  return std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
}

TEST(EffectsProperty, SharesOfAFunctionAddUpToItsVariance) {
  const SearchSpace space = four_knobs();
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto model =
        EffectsModel::fit(space, drawn_samples(space, 60, random_function(seed), 0.05, seed));
    ASSERT_TRUE(model);
    ASSERT_EQ(model->shares().size(), model->groups().size());
    for (std::size_t draw = 0; draw < model->draw_count(); draw += 20) {
      EXPECT_NEAR(sum_of(model->shares(), draw), 1.0, 1e-6) << seed;
      for (const auto& group : model->shares())
        EXPECT_GE(group[draw], 0.0) << seed;
    }
    EXPECT_GT(model->explained().mean, 0.8) << seed;
    EXPECT_LE(model->explained().high, 1.0) << seed;
  }
}

TEST(EffectsProperty, AFunctionHasTheSameEffectsInAnyUnit) {
  const SearchSpace space = four_knobs();
  auto samples = drawn_samples(space, 50, random_function(9), 0.1, 9);
  const auto model = EffectsModel::fit(space, samples);
  for (EffectSample& sample : samples) {
    sample.value = 1024.0 * sample.value + 4096.0;
    sample.standard_error *= 1024.0;
  }
  const auto other = EffectsModel::fit(space, samples);
  ASSERT_TRUE(model && other);
  for (std::size_t group = 0; group < model->groups().size(); ++group)
    EXPECT_NEAR(mean_share(*model, group), mean_share(*other, group), 0.02) << group;
  EXPECT_NEAR(other->mean_value(), 1024.0 * model->mean_value() + 4096.0, 1e-6);
}

TEST(EffectsProperty, EffectsOfAParameterAreDifferencesOfItsValues) {
  const SearchSpace space = four_knobs();
  const Function function = random_function(3);
  const auto model = EffectsModel::fit(space, drawn_samples(space, 120, function, 0.01, 3));
  ASSERT_TRUE(model);
  const auto samples = drawn_samples(space, 30, function, 0.0, 77);
  for (const EffectSample& sample : samples) {
    const auto draws = model->values_at(sample.point);
    const double mean =
        std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
    EXPECT_NEAR(model->mean_value() + mean, sample.value, 0.15);
  }
}

TEST(EffectBasisProperty, IsOrthonormalOverTheLevelsOfAParameter) {
  std::vector<Parameter> parameters;
  for (int levels = 2; levels <= 9; ++levels) {
    parameters.push_back(whole_parameter("n", 1, levels));
    parameters.push_back(whole_parameter("from_zero", 0, levels - 1));
    std::vector<Value> choices;
    for (int i = 0; i < levels; ++i)
      choices.emplace_back(std::string(1, static_cast<char>('a' + i)));
    parameters.push_back(text_parameter("kind", choices));
  }
  for (const Parameter& parameter : parameters) {
    const EffectBasis basis(parameter, 4);
    const auto levels = static_cast<std::size_t>(*parameter.level_count());
    EXPECT_GE(basis.size(), 1U);
    const std::size_t most = parameter.unordered() ? 8 : 4;
    EXPECT_EQ(basis.size(), std::min(most, levels - 1)) << parameter.name << levels;
    std::vector<std::vector<double>> values;
    for (std::size_t level = 0; level < levels; ++level) {
      auto& row = values.emplace_back(basis.size());
      basis.evaluate(parameter.position_of(parameter.level(level)), row);
    }
    for (std::size_t i = 0; i < basis.size(); ++i) {
      double mean = 0.0;
      for (const auto& row : values)
        mean += row[i] / static_cast<double>(levels);
      EXPECT_NEAR(mean, 0.0, 1e-9) << parameter.name << ' ' << levels;
      for (std::size_t j = 0; j < basis.size(); ++j) {
        double product = 0.0;
        for (const auto& row : values)
          product += row[i] * row[j] / static_cast<double>(levels);
        EXPECT_NEAR(product, i == j ? 1.0 : 0.0, 1e-9) << parameter.name << ' ' << levels;
      }
    }
  }
}

TEST(EffectBasisProperty, IsZeroForAnInactiveParameterOrASingleValue) {
  const EffectBasis basis(whole_parameter("n", 0, 8), 3);
  std::vector<double> row(basis.size(), 7.0);
  basis.evaluate(k_inactive, row);
  for (const double value : row)
    EXPECT_EQ(value, 0.0);
  EXPECT_EQ(EffectBasis(text_parameter("one", {std::string("a")}), 3).size(), 0U);
}

TEST(EstimateOfDraws, IsTheirMeanWithinTheMiddle95Percent) {
  std::vector<double> draws(1001);
  std::iota(draws.begin(), draws.end(), 0.0);
  std::ranges::reverse(draws);
  const Estimate estimate = estimate_of(draws);
  EXPECT_NEAR(estimate.mean, 500.0, 1e-9);
  EXPECT_NEAR(estimate.low, 25.0, 2.0);
  EXPECT_NEAR(estimate.high, 975.0, 2.0);
}

}  // namespace
}  // namespace steptune
