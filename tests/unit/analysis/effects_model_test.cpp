// SPDX-License-Identifier: Apache-2.0
#include "tuner/analysis/effects_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include <gtest/gtest.h>

#include "tests/unit/analysis/spaces.hpp"

namespace steptune {
namespace {

/// Returns the shares by the parameters' indices: "0", "0x2".
std::map<std::string, Estimate> shares_of(const EffectsModel& model) {
  std::map<std::string, Estimate> shares;
  for (std::size_t group = 0; group < model.groups().size(); ++group) {
    std::string name = std::to_string(model.groups()[group].first);
    if (const auto second = model.groups()[group].second) name += "x" + std::to_string(*second);
    shares[name] = estimate_of(model.shares()[group]);
  }
  return shares;
}

SearchSpace unit_cube(int dimensions) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < dimensions; ++i)
    parameters.push_back(real_parameter("x" + std::to_string(i), 0.0, 1.0));
  return space_of(std::move(parameters));
}

void expect_nothing(const Estimate& share) {
  EXPECT_LT(share.mean, 0.01);
  EXPECT_EQ(share.low, 0.0) << "the interval holds zero";
  EXPECT_LT(share.high, 0.05);
}

TEST(EffectsModel, SharesOfAnAdditiveFunctionAreItsVariances) {
  const SearchSpace space = unit_cube(4);
  // Variances of 3 x0 and of 2 x1 are 9/12 and 4/12.
  const auto samples = drawn_samples(
      space, 60,
      [](const Configuration& c) { return 3.0 * number_in(c, "x0") + 2.0 * number_in(c, "x1"); },
      0.02);
  const auto model = EffectsModel::fit(space, samples);
  ASSERT_TRUE(model);
  auto shares = shares_of(*model);
  EXPECT_NEAR(shares["0"].mean, 9.0 / 13.0, 0.02);
  EXPECT_NEAR(shares["1"].mean, 4.0 / 13.0, 0.02);
  expect_nothing(shares["2"]);
  expect_nothing(shares["3"]);
  for (const char* pair : {"0x1", "0x2", "1x3", "2x3"})
    expect_nothing(shares[pair]);
  EXPECT_GT(model->explained().mean, 0.99);
}

TEST(EffectsModel, APureInteractionBelongsToThePair) {
  const SearchSpace space = unit_cube(3);
  const auto samples = drawn_samples(
      space, 80,
      [](const Configuration& c) {
        return (number_in(c, "x0") - 0.5) * (number_in(c, "x1") - 0.5);
      },
      0.003);
  auto shares = shares_of(*EffectsModel::fit(space, samples));
  EXPECT_GT(shares["0x1"].mean, 0.95);
  expect_nothing(shares["2"]);
  EXPECT_LT(shares["0"].mean, 0.03);
  EXPECT_LT(shares["1"].mean, 0.03);
}

/// Ishigami and Homma 1990 with a = 7, b = 0.1. The Sobol indices are known in closed form, and one
/// parameter acts only through its partner.
TEST(EffectsModel, FindsTheSobolIndicesOfIshigamisFunction) {
  constexpr double k_pi = std::numbers::pi;
  const SearchSpace space =
      space_of({real_parameter("x0", -k_pi, k_pi), real_parameter("x1", -k_pi, k_pi),
                real_parameter("x2", -k_pi, k_pi), real_parameter("x3", -k_pi, k_pi)});
  const auto samples = drawn_samples(space, 400, [](const Configuration& c) {
    const double s1 = std::sin(number_in(c, "x1"));
    return std::sin(number_in(c, "x0")) * (1.0 + 0.1 * std::pow(number_in(c, "x2"), 4.0)) +
           7.0 * s1 * s1;
  });
  auto shares = shares_of(*EffectsModel::fit(space, samples));
  const double v0 = 0.5 * std::pow(1.0 + 0.1 * std::pow(k_pi, 4.0) / 5.0, 2.0);
  const double v1 = 49.0 / 8.0;
  const double v02 = 8.0 * 0.01 * std::pow(k_pi, 8.0) / 225.0;
  const double all = v0 + v1 + v02;
  EXPECT_NEAR(shares["0"].mean, v0 / all, 0.04);
  EXPECT_NEAR(shares["1"].mean, v1 / all, 0.04);
  EXPECT_NEAR(shares["0x2"].mean, v02 / all, 0.04);
  expect_nothing(shares["2"]);
  expect_nothing(shares["3"]);
}

TEST(EffectsModel, NoiseAloneIsNoEffect) {
  const SearchSpace space = unit_cube(3);
  const auto samples = drawn_samples(
      space, 60, [](const Configuration&) { return 0.0; }, 1.0);
  const auto model = EffectsModel::fit(space, samples);
  ASSERT_TRUE(model);
  for (const auto& [name, share] : shares_of(*model))
    EXPECT_EQ(share.low, 0.0) << name;
  EXPECT_LT(model->explained().mean, 0.5);
}

/// Measures the share of intervals that contain the truth, over many small studies.
TEST(EffectsModel, IntervalsCoverTheTruthAtTheirRate) {
  const SearchSpace space = unit_cube(3);
  const auto function = [](const Configuration& c) {
    return number_in(c, "x0") + 0.5 * number_in(c, "x1");
  };
  int held = 0;
  constexpr int k_studies = 60;
  for (int study = 0; study < k_studies; ++study) {
    const auto samples = drawn_samples(space, 24, function, 0.1, static_cast<std::uint64_t>(study));
    const Estimate share = shares_of(*EffectsModel::fit(space, samples))["0"];
    held += share.low <= 0.8 && 0.8 <= share.high ? 1 : 0;
  }
  EXPECT_GE(held, 51) << "95 % of 60 are 57; fewer than 51 come once in a hundred times";
}

TEST(EffectsModel, AStepFromZeroIsOneEffect) {
  const SearchSpace space = space_of(
      {whole_parameter("workers", 0.0, 8.0),
       text_parameter("precision", {Value{std::string("fp32")}, Value{std::string("bf16")}})});
  const auto samples = drawn_samples(
      space, 40,
      [](const Configuration& c) {
        return (number_in(c, "workers") > 0.0 ? 0.0 : 1.0) +
               (is_text(c, "precision", "bf16") ? 0.0 : 0.25);
      },
      0.01);
  const auto model = EffectsModel::fit(space, samples);
  auto shares = shares_of(*model);
  const double of_workers = 8.0 / 81.0;
  const double of_precision = 0.0625 * 0.25;
  EXPECT_NEAR(shares["0"].mean, of_workers / (of_workers + of_precision), 0.03);
  const auto at_one =
      estimate_of(model->main_effect(0, space.parameters()[0].position_of(Value{std::int64_t{1}})));
  const auto at_eight = estimate_of(model->main_effect(0, 1.0));
  EXPECT_NEAR(at_one.mean, at_eight.mean, 0.05) << "only 0 and more than 0 differ";
}

/// `prefetch` matters only with workers; without them it has no value and no effect.
TEST(EffectsModel, AnInactiveParameterHasNoEffectThere) {
  Parameter prefetch = whole_parameter("prefetch", 1.0, 8.0);
  prefetch.when = "workers > 0";
  const SearchSpace space = space_of({whole_parameter("workers", 0.0, 1.0), prefetch});
  const auto samples = drawn_samples(
      space, 80,
      [](const Configuration& c) {
        if (number_in(c, "workers") == 0.0) return 1.0;
        return 0.1 * number_in(c, "prefetch");
      },
      0.01);
  const auto model = EffectsModel::fit(space, samples);
  ASSERT_TRUE(model);
  const Point none = space.encode(Configuration({{"workers", Value{std::int64_t{0}}}}));
  const auto at_none = estimate_of(model->values_at(none));
  EXPECT_NEAR(at_none.mean + model->mean_value(), 1.0, 0.03);
  Configuration some({{"workers", Value{std::int64_t{1}}}, {"prefetch", Value{std::int64_t{8}}}});
  EXPECT_NEAR(estimate_of(model->values_at(space.encode(some))).mean + model->mean_value(), 0.8,
              0.03);
}

TEST(EffectsModel, ImpreciseSamplesWeighLess) {
  const SearchSpace space = unit_cube(1);
  auto samples =
      drawn_samples(space, 30, [](const Configuration& c) { return number_in(c, "x0"); });
  for (std::size_t i = 0; i < samples.size(); i += 3) {
    samples[i].value += 2.0;
    samples[i].standard_error = 5.0;
  }
  const auto model = EffectsModel::fit(space, samples);
  const double rise =
      estimate_of(model->main_effect(0, 1.0)).mean - estimate_of(model->main_effect(0, 0.0)).mean;
  EXPECT_NEAR(rise, 1.0, 0.1);
}

TEST(EffectsModel, TooFewTrialsGiveNoModel) {
  const SearchSpace space = unit_cube(2);
  const auto sum = [](const Configuration& c) { return number_in(c, "x0") + number_in(c, "x1"); };
  EXPECT_FALSE(EffectsModel::fit(space, drawn_samples(space, 7, sum)));
  EXPECT_FALSE(
      EffectsModel::fit(space, drawn_samples(space, 20, [](const Configuration&) { return 1.0; })));
  auto same = drawn_samples(space, 20, sum);
  for (EffectSample& sample : same)
    sample.point = same.front().point;
  EXPECT_FALSE(EffectsModel::fit(space, same));
}

/// Returns the share of the last of three parameters, which alone matters, and of the others
/// together.
std::pair<double, double> last_and_others(const SearchSpace& space,
                                          const std::vector<Configuration>& configurations) {
  std::vector<EffectSample> samples;
  for (const Configuration& c : configurations)
    samples.push_back({space.encode(c), is_text(c, "c", "y") ? 1.0 : 0.0, 0.01});
  const auto model = EffectsModel::fit(space, samples).value();
  auto shares = shares_of(model);
  return {shares["2"].mean, shares["0"].mean + shares["1"].mean};
}

TEST(EffectsModel, ConstraintsThatLeaveFewPointsLeaveTheirShares) {
  const Parameter last = text_parameter("c", {Value{std::string("x")}, Value{std::string("y")}});
  Rng rng(4, "last");
  const auto with = [&](Value a, Value b) {
    Configuration c;
    c.set("a", std::move(a));
    c.set("b", std::move(b));
    c.set("c", std::string(rng.below(2) == 0 ? "x" : "y"));
    return c;
  };
  std::vector<Configuration> divisors;
  std::vector<Configuration> line;
  for (int i = 0; i < 40; ++i) {
    const std::int64_t a = std::int64_t{1} << i % 9;
    divisors.push_back(with(Value{a}, Value{256 / a}));
    const double x = static_cast<double>(i) / 39.0;
    line.push_back(with(Value{x}, Value{1.0 - x}));
  }
  const SearchSpace listed = space_of(
      {whole_parameter("a", 1.0, 256.0), whole_parameter("b", 1.0, 256.0), last}, {"a * b == 256"});
  const SearchSpace not_listed =
      space_of({real_parameter("a", 0.0, 1.0), real_parameter("b", 0.0, 1.0), last},
               {"abs(a + b - 1) < 0.0005"});
  for (const auto& [of_last, of_others] :
       {last_and_others(listed, divisors), last_and_others(not_listed, line)}) {
    EXPECT_GT(of_last, 0.9);
    EXPECT_LT(of_others, 0.05);
  }
}

TEST(EffectsModel, ManyParametersAreStillDistinguished) {
  const SearchSpace space = unit_cube(20);
  const auto samples = drawn_samples(
      space, 200,
      [](const Configuration& c) {
        return number_in(c, "x18") +
               4.0 * (number_in(c, "x17") - 0.5) * (number_in(c, "x19") - 0.5);
      },
      0.01);
  auto shares = shares_of(*EffectsModel::fit(space, samples));
  // Variances are 1/12 for x18 and 16/144 for the pair, so x18 has 3/7 of the sum.
  EXPECT_NEAR(shares["18"].mean, 3.0 / 7.0, 0.06);
  expect_nothing(shares["3"]);
}

TEST(EffectsModel, TheSameSamplesGiveTheSameDraws) {
  const SearchSpace space = unit_cube(2);
  const auto samples = drawn_samples(
      space, 20, [](const Configuration& c) { return number_in(c, "x0"); }, 0.1);
  EXPECT_EQ(EffectsModel::fit(space, samples)->shares(),
            EffectsModel::fit(space, samples)->shares());
}

}  // namespace
}  // namespace steptune
