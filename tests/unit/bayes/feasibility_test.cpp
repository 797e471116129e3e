// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/searchers/bayes/feasibility_classifier.hpp"
#include "search/searchers/bayes/feasibility_kernel.hpp"
#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

const FeatureGroups k_pair{{0, 1}, 2};
const FeasibilityKernel k_kernel{{0.5, 0.5}, 9.0};

double truth(std::span<const double> row) {
  return normal_cdf(6.0 * (row[0] - row[1] * row[1]));
}

Matrix draw(Rng& rng, std::size_t count) {
  Matrix rows(2);
  for (std::size_t i = 0; i < count; ++i) {
    for (double& feature : rows.append_row())
      feature = rng.uniform();
  }
  return rows;
}

FeasibilityClassifier learnt(Rng& rng, std::size_t count) {
  const Matrix rows = draw(rng, count);
  std::vector<bool> outcomes;
  for (std::size_t i = 0; i < count; ++i)
    outcomes.push_back(rng.uniform() < truth(rows.row(i)));
  return {rows, outcomes, k_pair, k_kernel};
}

/// Returns the log probability of an outcome from the log probability of `true`.
double log_probability_of(bool outcome, double log_true) {
  return outcome ? log_true : std::log1p(-std::exp(log_true));
}

/// Returns the log probability of the outcomes from the 21st on, each given the previous ones.
double foresight(const Matrix& rows, const std::vector<bool>& outcomes, const FeatureGroups& groups,
                 const FeasibilityKernel& kernel) {
  constexpr std::size_t k_known = 20;
  Matrix known(rows.cols());
  for (std::size_t i = 0; i < k_known; ++i)
    known.append_row(rows.row(i));
  FeasibilityClassifier classifier(known, {outcomes.begin(), outcomes.begin() + k_known}, groups,
                                   kernel);
  double total = 0.0;
  for (std::size_t i = k_known; i < rows.rows(); ++i) {
    total += log_probability_of(outcomes[i], classifier.log_probabilities(rows, i, i + 1)[0]);
    classifier.append(rows.row(i), outcomes[i]);
  }
  return total;
}

TEST(FeasibilityClassifier, ProbabilitiesAreCalibrated) {
  Rng rng(1, "classifier");
  const FeasibilityClassifier classifier = learnt(rng, 300);
  const Matrix probes = draw(rng, 2000);
  const auto logs = classifier.log_probabilities(probes, 0, probes.rows());
  std::array<double, 4> predicted{};
  std::array<double, 4> actual{};
  std::array<int, 4> counts{};
  for (std::size_t i = 0; i < probes.rows(); ++i) {
    const double probability = std::exp(logs[i]);
    ASSERT_LE(probability, 1.0);
    const auto bin = static_cast<std::size_t>(std::min(3.0, 4.0 * probability));
    predicted[bin] += probability;
    actual[bin] += truth(probes.row(i));
    ++counts[bin];
  }
  for (std::size_t bin = 0; bin < 4; ++bin) {
    ASSERT_GT(counts[bin], 50) << bin;
    EXPECT_NEAR(predicted[bin] / counts[bin], actual[bin] / counts[bin], 0.12) << bin;
  }
}

TEST(FeasibilityClassifier, FarFromAllDataTheShareOfSuccessesCounts) {
  Rng rng(2, "share");
  const Matrix rows = draw(rng, 40);
  for (const std::size_t successes : {4U, 36U}) {
    std::vector<bool> outcomes(40);
    for (std::size_t i = 0; i < successes; ++i)
      outcomes[i] = true;
    const FeasibilityClassifier classifier(rows, outcomes, k_pair, k_kernel);
    Matrix far(2);
    for (double& feature : far.append_row())
      feature = 50.0;
    const double probability = std::exp(classifier.log_probabilities(far, 0, 1)[0]);
    EXPECT_EQ(probability < 0.5, successes < 20) << probability;
  }
}

TEST(FeasibilityClassifier, OutcomesThatDependOnTheFeaturesAreForeseen) {
  Rng rng(3, "evidence");
  const Matrix rows = draw(rng, 60);
  std::vector<bool> by_features;
  std::vector<bool> at_random;
  for (std::size_t i = 0; i < 60; ++i) {
    by_features.push_back(rows(i, 0) > 0.5);
    at_random.push_back(rng.below(2) == 0);
  }
  EXPECT_GT(foresight(rows, by_features, k_pair, k_kernel),
            foresight(rows, at_random, k_pair, k_kernel) + 10.0);
}

TEST(FeasibilityClassifier, AppendedOutcomesAreLearnt) {
  double before = 0.0;
  double after = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Rng rng(seed, "append");
    const Matrix probes = draw(rng, 200);
    const auto error_of = [&](const FeasibilityClassifier& classifier) {
      const auto logs = classifier.log_probabilities(probes, 0, probes.rows());
      double total = 0.0;
      for (std::size_t i = 0; i < probes.rows(); ++i)
        total += std::abs(std::exp(logs[i]) - truth(probes.row(i)));
      return total / static_cast<double>(probes.rows());
    };
    const FeasibilityClassifier first = learnt(rng, 40);
    FeasibilityClassifier grown(first);
    const Matrix further = draw(rng, 120);
    for (std::size_t i = 0; i < further.rows(); ++i)
      grown.append(further.row(i), rng.uniform() < truth(further.row(i)));
    before += error_of(first);
    after += error_of(grown);
  }
  EXPECT_LT(after, 0.7 * before);
}

TEST(FeasibilityLearner, ResultDoesNotDependOnTheNumberOfCalls) {
  Rng rng(5, "outcomes");
  FeasibilityLearner queried(k_pair, 2);
  FeasibilityLearner silent(k_pair, 2);
  const Matrix probes = draw(rng, 50);
  for (int i = 0; i < 57; ++i) {
    const Matrix row = draw(rng, 1);
    const bool outcome = rng.uniform() < truth(row.row(0));
    queried.add(row.row(0), outcome);
    silent.add(row.row(0), outcome);
    EXPECT_EQ(queried.classifier().log_probabilities(probes, 0, 50).size(), 50U);
  }
  EXPECT_EQ(queried.classifier().log_probabilities(probes, 0, 50),
            silent.classifier().log_probabilities(probes, 0, 50));
}

TEST(FeasibilityClassifier, HandlesOneClassAndEqualRowsWithOppositeOutcomes) {
  Matrix rows(2);
  for (int i = 0; i < 20; ++i)
    rows.append_row()[0] = 0.5;
  std::vector<bool> outcomes(20);
  const FeasibilityClassifier all_failed(rows, outcomes, k_pair, k_kernel);
  EXPECT_LT(std::exp(all_failed.log_probabilities(rows, 0, 1)[0]), 0.1);
  for (std::size_t i = 0; i < 20; i += 2)
    outcomes[i] = true;
  const FeasibilityClassifier torn(rows, outcomes, k_pair, k_kernel);
  EXPECT_NEAR(std::exp(torn.log_probabilities(rows, 0, 1)[0]), 0.5, 0.01);
}

TEST(FeasibilityKernel, IsTheMeanOfAllDimensionsTogetherAndOfPairs) {
  const FeatureGroups groups{{0, 1, 1, 2}, 3};
  const FeasibilityKernel kernel{{0.5, 1.0, 2.0}, 4.0};
  Rng rng(6, "kernel");
  Matrix rows(4);
  for (int i = 0; i < 5; ++i) {
    for (double& feature : rows.append_row())
      feature = static_cast<double>(rng.below(3)) / 2.0;
  }
  const auto in_dimension = [&](std::size_t i, std::size_t k, std::size_t first, std::size_t last,
                                double lengthscale) {
    double square = 0.0;
    for (std::size_t f = first; f < last; ++f)
      square += 5.0 * std::pow((rows(i, f) - rows(k, f)) / lengthscale, 2.0);
    return (1.0 + std::sqrt(square) + square / 3.0) * std::exp(-std::sqrt(square));
  };
  Matrix covariances;
  kernel.between(rows, 1, 5, FeatureColumns(rows), groups, covariances);
  for (std::size_t i = 1; i < 5; ++i) {
    for (std::size_t k = 0; k < 5; ++k) {
      const double a = in_dimension(i, k, 0, 1, 0.5);
      const double b = in_dimension(i, k, 1, 3, 1.0);
      const double c = in_dimension(i, k, 3, 4, 2.0);
      EXPECT_NEAR(covariances(i - 1, k), 2.0 * (a * b * c + (a * b + a * c + b * c) / 3.0), 1e-12);
    }
  }
}

TEST(FeasibilityKernel, AKernelOfOneDimensionEqualsTheDimensionsKernel) {
  Matrix rows(1);
  for (const double feature : {0.0, 1.0})
    rows.append_row()[0] = feature;
  Matrix covariances;
  FeasibilityKernel{{1e6}, 3.0}.between(rows, 0, 1, FeatureColumns(rows), {{0}, 1}, covariances);
  EXPECT_NEAR(covariances(0, 1), 3.0, 1e-9);
}

TEST(OutcomeFit, FindsWhichDimensionsMatterAndHowMuchIsChance) {
  Rng rng(7, "fit");
  const FeatureGroups groups{{0, 1, 2}, 3};
  Matrix rows(3);
  std::vector<bool> by_rule;
  std::vector<bool> by_chance;
  for (int i = 0; i < 90; ++i) {
    const auto row = rows.append_row();
    for (double& feature : row)
      feature = rng.uniform();
    by_rule.push_back(row[0] + row[1] < 1.1);
    by_chance.push_back(rng.uniform() < 0.7);
  }
  const FeasibilityKernel start = prior_kernel(groups);
  const FeasibilityKernel rule = fit_kernel(rows, by_rule, groups, start);
  EXPECT_GT(rule.lengthscales[2], std::max(rule.lengthscales[0], rule.lengthscales[1]));
  EXPECT_GT(rule.amplitude, fit_kernel(rows, by_chance, groups, start).amplitude);
  EXPECT_GT(foresight(rows, by_rule, groups, rule), foresight(rows, by_rule, groups, start));
}

TEST(FeasibilityLearner, LearnsALimitOfAProductFromFewOutcomes) {
  const FeatureGroups groups{{0, 1, 2, 3, 4, 5, 6}, 7};
  const auto runs = [](std::span<const double> row) { return row[0] + row[1] + row[2] < 1.6; };
  double loss = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Rng rng(seed, "product");
    Matrix rows(7);
    const auto draw_row = [&] {
      const auto row = rows.append_row();
      for (std::size_t f = 0; f < 6; ++f)
        row[f] = static_cast<double>(rng.below(6)) / 5.0;
      return row;
    };
    FeasibilityLearner learner(groups, 6);
    for (int i = 0; i < 60; ++i) {
      const auto row = draw_row();
      learner.add(row, runs(row));
    }
    rows = Matrix(7);
    for (int i = 0; i < 200; ++i)
      draw_row();
    const auto logs = learner.classifier().log_probabilities(rows, 0, rows.rows());
    for (std::size_t i = 0; i < rows.rows(); ++i)
      loss -= log_probability_of(runs(rows.row(i)), logs[i]) / 800.0;
  }
  EXPECT_LT(loss, 0.3);
}

}  // namespace
}  // namespace steptune::bayes
