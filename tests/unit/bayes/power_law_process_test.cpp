// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/power_law_process.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::bayes {
namespace {

const FeatureGroups k_groups{{0, 1, 2}, 3};

/// A power law of the first feature alone.
TrainingSet draw(std::size_t count) {
  TrainingSet training;
  training.features = Matrix(3);
  Rng rng(3, "power law", count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = training.features.append_row();
    for (double& feature : row)
      feature = 4.0 * rng.uniform() - 2.0;
    training.targets.push_back(-row[0] + 0.01 * rng.normal());
    training.noise_variances.push_back(1e-4);
  }
  return training;
}

TEST(PowerLawProcess, GradientAgreesWithDifferences) {
  const TrainingSet training = draw(9);
  std::vector<double> at{-1.0, -3.0, -2.0, 0.4, 1.3, 0.8, -1.5, -6.0};
  std::vector<double> gradient(at.size());
  std::vector<double> unused(at.size());
  ASSERT_TRUE(std::isfinite(negative_log_posterior(training, k_groups, at, gradient)));
  for (std::size_t i = 0; i < at.size(); ++i) {
    constexpr double k_step = 1e-5;
    const double middle = at[i];
    at[i] = middle + k_step;
    const double above = negative_log_posterior(training, k_groups, at, unused);
    at[i] = middle - k_step;
    const double below = negative_log_posterior(training, k_groups, at, unused);
    at[i] = middle;
    EXPECT_NEAR(gradient[i], (above - below) / (2.0 * k_step), 1e-4) << i;
  }
}

TEST(PowerLawProcess, ContinuesAPowerLawBeyondItsTrials) {
  const TrainingSet training = draw(8);
  const PowerLawProcess process(training, k_groups, PowerLawProcess::fit(training, k_groups, 30));
  Matrix probe(3);
  probe.append_row(std::vector{4.0, 1.0, -1.0});
  const Posterior posterior = process.predict(probe, 0, 1);
  EXPECT_NEAR(posterior.means[0], -4.0, 0.4);
  EXPECT_LT(std::abs(posterior.means[0] + 4.0), 3.0 * std::sqrt(posterior.variances[0]));
}

TEST(PowerLawProcess, LeavesOneOutAsIfItHadNeverSeenIt) {
  const TrainingSet training = draw(10);
  const auto hyperparameters = PowerLawProcess::fit(training, k_groups, 30);
  const Posterior loo = PowerLawProcess(training, k_groups, hyperparameters).leave_one_out();
  TrainingSet others;
  others.features = Matrix(3);
  for (std::size_t i = 0; i < 9; ++i) {
    others.features.append_row(training.features.row(i));
    others.targets.push_back(training.targets[i]);
    others.noise_variances.push_back(training.noise_variances[i]);
  }
  const PowerLawProcess without(others, k_groups, hyperparameters);
  const Posterior posterior = without.predict(training.features, 9, 10);
  EXPECT_NEAR(loo.means[9], posterior.means[0], 1e-6);
  EXPECT_NEAR(loo.variances[9], posterior.variances[0] + training.noise_variances[9], 1e-6);
}

}  // namespace
}  // namespace steptune::bayes
