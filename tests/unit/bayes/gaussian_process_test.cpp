// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::bayes {
namespace {

struct Problem {
  TrainingSet training;
  FeatureGroups groups;
};

/// Makes a problem that is smooth in dimension 0, with a choice of three in dimension 1, and
/// without effect of dimension 2.
Problem example(std::size_t size, double noise = 0.0) {
  Problem problem;
  problem.groups = {{0, 1, 1, 1, 2}, 3};
  problem.training.features = Matrix(5);
  Rng rng(7, "example", size);
  for (std::size_t i = 0; i < size; ++i) {
    const double x = rng.uniform();
    const std::uint64_t choice = rng.below(3);
    const auto row = problem.training.features.append_row();
    row[0] = x;
    row[1 + choice] = std::sqrt(0.5);
    row[4] = rng.uniform();
    problem.training.targets.push_back(std::sin(5.0 * x) + static_cast<double>(choice) - 1.0 +
                                       noise * rng.normal());
    problem.training.noise_variances.push_back(0.0);
  }
  return problem;
}

TEST(Likelihood, GradientAgreesWithDifferences) {
  Problem problem = example(25);
  for (std::size_t i = 0; i < 25; ++i) {
    problem.training.noise_variances[i] = 1e-3 * static_cast<double>(i);
  }
  const Prior prior = Prior::dimension_scaled(3);
  const std::vector<double> at{-0.7, 0.2, 0.6, 0.3, -4.0, 0.4};
  std::vector<double> gradient(6);
  std::vector<double> unused(6);
  ASSERT_TRUE(
      std::isfinite(negative_log_posterior(problem.training, problem.groups, prior, at, gradient)));
  for (std::size_t k = 0; k < at.size(); ++k) {
    auto above = at;
    auto below = at;
    above[k] += 1e-5;
    below[k] -= 1e-5;
    const double difference =
        (negative_log_posterior(problem.training, problem.groups, prior, above, unused) -
         negative_log_posterior(problem.training, problem.groups, prior, below, unused)) /
        2e-5;
    EXPECT_NEAR(gradient[k], difference, 1e-5 * std::max(1.0, std::abs(difference))) << k;
  }
}

TEST(Likelihood, FitFindsTheDimensionThatMatters) {
  const Problem problem = example(60);
  const Prior prior = Prior::dimension_scaled(3);
  const Hyperparameters fitted =
      fit_hyperparameters(problem.training, problem.groups, prior, prior.start(3), 60)
          .hyperparameters;
  EXPECT_LT(fitted.log_lengthscales[0] + 1.0, fitted.log_lengthscales[2]);
  EXPECT_LT(fitted.log_noise, std::log(1e-2));
}

TEST(Likelihood, FitFindsTheLevelOfNoise) {
  const Problem problem = example(200, 0.3);
  const Prior prior = Prior::dimension_scaled(3);
  const Hyperparameters fitted =
      fit_hyperparameters(problem.training, problem.groups, prior, prior.start(3), 60)
          .hyperparameters;
  EXPECT_NEAR(std::exp(0.5 * fitted.log_noise), 0.3, 0.06);
}

TEST(GaussianProcess, PassesThroughItsDataAndIsUnsureAwayFromThem) {
  const Problem problem = example(40);
  const Prior prior = Prior::dimension_scaled(3);
  const Hyperparameters fitted =
      fit_hyperparameters(problem.training, problem.groups, prior, prior.start(3), 60)
          .hyperparameters;
  const GaussianProcess process(problem.training, problem.groups, fitted);
  const Posterior at_data = process.predict(problem.training.features);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(at_data.means[i], problem.training.targets[i], 0.1);
    EXPECT_LT(at_data.variances[i], 0.02);
  }
  Matrix far(5);
  for (double& feature : far.append_row())
    feature = 100.0;
  EXPECT_GT(process.predict(far).variances[0], 0.5 * std::exp(fitted.log_amplitude));
}

TEST(GaussianProcess, LeaveOneOutAgreesWithLeavingOneOut) {
  const Problem problem = example(15);
  const Hyperparameters hyperparameters{{-0.5, 0.0, 1.0}, 0.2, -5.0};
  const auto loo =
      GaussianProcess(problem.training, problem.groups, hyperparameters).leave_one_out();
  for (std::size_t left = 0; left < 15; ++left) {
    TrainingSet rest;
    rest.features = Matrix(5);
    for (std::size_t i = 0; i < 15; ++i) {
      if (i == left) continue;
      rest.features.append_row(problem.training.features.row(i));
      rest.targets.push_back(problem.training.targets[i]);
      rest.noise_variances.push_back(0.0);
    }
    const Posterior expected = GaussianProcess(rest, problem.groups, hyperparameters)
                                   .predict(problem.training.features, left, left + 1);
    EXPECT_NEAR(loo.posterior.means[left], expected.means[0], 1e-8);
    EXPECT_NEAR(loo.posterior.variances[left], expected.variances[0], 1e-8);
  }
}

TEST(GaussianProcess, PredictionsDoNotDependOnTheBatch) {
  const Problem problem = example(30);
  const GaussianProcess process(problem.training, problem.groups, {{-0.5, 0.0, 1.0}, 0.0, -6.0});
  const Problem others = example(100);
  const Posterior all = process.predict(others.training.features);
  const Posterior part = process.predict(others.training.features, 40, 60);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(part.means[i], all.means[40 + i], 1e-12);
    EXPECT_NEAR(part.variances[i], all.variances[40 + i], 1e-12);
  }
}

TrainingSet rows_of(const TrainingSet& all, std::size_t first, std::size_t last) {
  TrainingSet part;
  part.features = Matrix(all.features.cols());
  for (std::size_t i = first; i < last; ++i) {
    part.features.append_row(all.features.row(i));
    part.targets.push_back(all.targets[i]);
    part.noise_variances.push_back(all.noise_variances[i]);
  }
  return part;
}

void expect_same(const GaussianProcess& a, const GaussianProcess& b, const Matrix& probes) {
  const Posterior x = a.predict(probes);
  const Posterior y = b.predict(probes);
  for (std::size_t i = 0; i < probes.rows(); ++i) {
    EXPECT_NEAR(x.means[i], y.means[i], 1e-8);
    EXPECT_NEAR(x.variances[i], y.variances[i], 1e-8);
  }
}

TEST(GaussianProcess, AppendingRowsEqualsBuildingFromAll) {
  // The factor is stored in blocks of 64 rows: test a part of a block, a block's end, and two block
  // ends.
  Problem problem = example(150);
  for (std::size_t i = 0; i < 150; i += 3)
    problem.training.noise_variances[i] = 0.01;
  const Hyperparameters hyperparameters{{-0.5, 0.0, 1.0}, 0.3, -6.0, 0.4};
  const GaussianProcess built(problem.training, problem.groups, hyperparameters);
  const Matrix probes = example(40).training.features;
  for (const std::size_t start : {1U, 50U, 64U}) {
    GaussianProcess process(rows_of(problem.training, 0, start), problem.groups, hyperparameters);
    process.append(rows_of(problem.training, start, 100));
    process.append(rows_of(problem.training, 100, 150));
    EXPECT_EQ(process.size(), 150U);
    expect_same(process, built, probes);
    const auto expected = built.leave_one_out().log_densities;
    const auto densities = process.leave_one_out().log_densities;
    for (std::size_t i = 0; i < 150; ++i)
      EXPECT_NEAR(densities[i], expected[i], 1e-6);
  }
}

TEST(GaussianProcess, CopiesLearnIndependently) {
  const Problem problem = example(90);
  const Hyperparameters hyperparameters{{-0.5, 0.0, 1.0}, 0.3, -6.0, 0.4};
  const GaussianProcess original(rows_of(problem.training, 0, 70), problem.groups, hyperparameters);
  const GaussianProcess untouched(rows_of(problem.training, 0, 70), problem.groups,
                                  hyperparameters);
  GaussianProcess copy(original);
  copy.append(rows_of(problem.training, 70, 90));
  const Matrix probes = example(40).training.features;
  expect_same(original, untouched, probes);
  expect_same(copy, GaussianProcess(problem.training, problem.groups, hyperparameters), probes);
}

TEST(GaussianProcess, SurvivesTheSameRowAgain) {
  const Problem problem = example(30);
  GaussianProcess process(problem.training, problem.groups, {{3.0, 3.0, 3.0}, 0.0, -17.9});
  for (int i = 0; i < 5; ++i)
    process.append(rows_of(problem.training, 4, 5));
  const Posterior posterior = process.predict(problem.training.features);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_TRUE(std::isfinite(posterior.means[i]));
    EXPECT_GT(posterior.variances[i], 0.0);
  }
  EXPECT_LT(posterior.variances[4], 1e-6);
}

TEST(GaussianProcess, KnownNoiseIsAveragedOut) {
  const FeatureGroups groups{{0}, 1};
  TrainingSet training;
  training.features = Matrix(1);
  const auto add = [&](double x, double target, double noise_variance) {
    training.features.append_row(std::vector<double>{x});
    training.targets.push_back(target);
    training.noise_variances.push_back(noise_variance);
  };
  add(0.0, 1.0, 0.0);
  for (int i = 0; i < 8; ++i)
    add(1.0, 0.0, 0.5);
  add(1.0, -2.0, 0.5);  // a lucky measurement
  const GaussianProcess process(training, groups, {{-2.0}, 0.0, -12.0, 0.0});
  const auto targets = process.noise_free_targets();
  EXPECT_DOUBLE_EQ(targets[0], 1.0) << "nothing known of its noise";
  // Nine measurements of one place are shrunk to about their mean, each to the same value.
  EXPECT_NEAR(targets[9], -2.0 / 9.5, 0.02);
  EXPECT_NEAR(targets[9], targets[1], 0.01);
}

TEST(GaussianProcess, FollowsOtherTargets) {
  const Problem problem = example(30);
  const Hyperparameters hyperparameters{{-0.5, 0.0, 1.0}, 0.3, -6.0, 0.4};
  TrainingSet doubled = problem.training;
  for (double& target : doubled.targets)
    target *= 2.0;
  GaussianProcess process(problem.training, problem.groups, hyperparameters);
  process.set_targets(doubled.targets);
  expect_same(process, GaussianProcess(doubled, problem.groups, hyperparameters),
              example(40).training.features);
}

TEST(Kernel, PairsAndRowsAgree) {
  const Problem problem = example(12);
  const Kernel kernel({{-0.5, 0.3, 1.0}, 0.0, -6.0, 0.7});
  const PairDistances distances(problem.training.features, problem.groups);
  PairCovariances pairs(distances);
  pairs.compute(kernel);
  const FeatureColumns columns(problem.training.features);
  Matrix rows;
  kernel.between(problem.training.features, 3, 9, columns, 12, problem.groups, rows);
  for (std::size_t i = 3; i < 9; ++i) {
    EXPECT_NEAR(rows(i - 3, i), 1.0, 1e-12);
    for (std::size_t k = 0; k < i; ++k)
      EXPECT_NEAR(rows(i - 3, k), pairs.values()[i * (i - 1) / 2 + k], 1e-12);
  }
}

/// Returns the fitted `additive_odds` for a target in four dimensions, whose effects are added or
/// multiplied.
double additive_odds_of(bool additive) {
  TrainingSet training;
  training.features = Matrix(4);
  Rng rng(3, "additive");
  for (int i = 0; i < 60; ++i) {
    const auto row = training.features.append_row();
    for (double& feature : row)
      feature = rng.uniform();
    double sum = 0.0;
    double product = 1.0;
    for (const double feature : row) {
      sum += std::sin(9.0 * feature);
      product *= std::sin(4.0 * feature);
    }
    training.targets.push_back(additive ? sum / 1.5 : 3.0 * product);
    training.noise_variances.push_back(0.0);
  }
  const FeatureGroups groups{{0, 1, 2, 3}, 4};
  const Prior prior = Prior::flat();
  return fit_hyperparameters(training, groups, prior, prior.start(4), 60)
      .hyperparameters.additive_odds;
}

TEST(Kernel, LearnsWhetherEffectsAddUp) {
  EXPECT_GT(additive_odds_of(true), 3.0);
  EXPECT_LT(additive_odds_of(false), 0.0);
}

TEST(GaussianProcess, SurvivesTwinsThatContradictEachOther) {
  TrainingSet training;
  training.features = Matrix(1);
  for (int i = 0; i < 30; ++i) {
    training.features.append_row()[0] = 0.5;
    training.targets.push_back(i % 2 == 0 ? 1.0 : -1.0);
    training.noise_variances.push_back(0.0);
  }
  const FeatureGroups groups{{0}, 1};
  const Prior prior = Prior::flat();
  const Hyperparameters fitted =
      fit_hyperparameters(training, groups, prior, prior.start(1), 60).hyperparameters;
  const Posterior posterior = GaussianProcess(training, groups, fitted).predict(training.features);
  EXPECT_NEAR(posterior.means[0], 0.0, 0.1);
  EXPECT_GT(fitted.log_noise, std::log(0.3));
}

TEST(GaussianProcess, ACovarianceThatCannotBeFactorisedIsNotFatal) {
  Problem problem = example(20);
  problem.training.features.row(3)[0] = 1e300;
  const GaussianProcess process(problem.training, problem.groups, {{0.0, 0.0, 0.0}, 0.0, -18.0});
  Matrix point(5);
  point.append_row();
  EXPECT_FALSE(process.predict(point).variances.empty());
}

}  // namespace
}  // namespace steptune::bayes
