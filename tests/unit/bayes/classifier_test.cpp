// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/classifier.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/searchers/bayes/normal.hpp"
#include "search/searchers/bayes/outcome_learner.hpp"

namespace steptune::bayes {
namespace {

const FeatureGroups k_groups{{0, 1}, 2};
const Hyperparameters k_hyperparameters{{-0.9, -0.9}, 0.0, -6.0, -3.0};

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

Classifier learnt(Rng& rng, std::size_t count) {
  const Matrix rows = draw(rng, count);
  std::vector<bool> outcomes;
  for (std::size_t i = 0; i < count; ++i)
    outcomes.push_back(rng.uniform() < truth(rows.row(i)));
  return {rows, outcomes, k_groups, k_hyperparameters};
}

TEST(Classifier, ProbabilitiesAreCalibrated) {
  Rng rng(1, "classifier");
  const Classifier classifier = learnt(rng, 300);
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

TEST(Classifier, FarFromAllDataTheShareOfSuccessesCounts) {
  Rng rng(2, "share");
  const Matrix rows = draw(rng, 40);
  for (const std::size_t successes : {4U, 36U}) {
    std::vector<bool> outcomes(40);
    for (std::size_t i = 0; i < successes; ++i)
      outcomes[i] = true;
    const Classifier classifier(rows, outcomes, k_groups, k_hyperparameters);
    Matrix far(2);
    for (double& feature : far.append_row())
      feature = 50.0;
    const double probability = std::exp(classifier.log_probabilities(far, 0, 1)[0]);
    EXPECT_EQ(probability < 0.5, successes < 20) << probability;
  }
}

TEST(Classifier, OutcomesThatFollowTheFeaturesAreMoreEvident) {
  Rng rng(3, "evidence");
  const Matrix rows = draw(rng, 60);
  std::vector<bool> by_features;
  std::vector<bool> at_random;
  for (std::size_t i = 0; i < 60; ++i) {
    by_features.push_back(rows(i, 0) > 0.5);
    at_random.push_back(rng.below(2) == 0);
  }
  EXPECT_GT(Classifier(rows, by_features, k_groups, k_hyperparameters).log_evidence(),
            Classifier(rows, at_random, k_groups, k_hyperparameters).log_evidence() + 10.0);
}

TEST(Classifier, OutcomesThatFollowAreLearnt) {
  double before = 0.0;
  double after = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Rng rng(seed, "append");
    const Matrix probes = draw(rng, 200);
    const auto error_of = [&](const Classifier& classifier) {
      const auto logs = classifier.log_probabilities(probes, 0, probes.rows());
      double total = 0.0;
      for (std::size_t i = 0; i < probes.rows(); ++i)
        total += std::abs(std::exp(logs[i]) - truth(probes.row(i)));
      return total / static_cast<double>(probes.rows());
    };
    const Classifier first = learnt(rng, 40);
    Classifier grown(first);
    const Matrix further = draw(rng, 120);
    for (std::size_t i = 0; i < further.rows(); ++i)
      grown.append(further.row(i), rng.uniform() < truth(further.row(i)));
    before += error_of(first);
    after += error_of(grown);
  }
  EXPECT_LT(after, 0.7 * before);
}

TEST(OutcomeLearner, BelievesTheSameHoweverOftenItIsAsked) {
  Rng rng(5, "outcomes");
  OutcomeLearner asked(k_groups, 2);
  OutcomeLearner silent(k_groups, 2);
  const Matrix probes = draw(rng, 50);
  for (int i = 0; i < 57; ++i) {
    const Matrix row = draw(rng, 1);
    const bool outcome = rng.uniform() < truth(row.row(0));
    asked.add(row.row(0), outcome);
    silent.add(row.row(0), outcome);
    EXPECT_EQ(asked.classifier().log_probabilities(probes, 0, 50).size(), 50U);
  }
  EXPECT_EQ(asked.classifier().log_probabilities(probes, 0, 50),
            silent.classifier().log_probabilities(probes, 0, 50));
}

TEST(Classifier, OneClassAndTwinsThatContradictEachOtherAreNoTrouble) {
  Matrix rows(2);
  for (int i = 0; i < 20; ++i)
    rows.append_row()[0] = 0.5;
  std::vector<bool> outcomes(20);
  const Classifier all_failed(rows, outcomes, k_groups, k_hyperparameters);
  EXPECT_LT(std::exp(all_failed.log_probabilities(rows, 0, 1)[0]), 0.1);
  for (std::size_t i = 0; i < 20; i += 2)
    outcomes[i] = true;
  const Classifier torn(rows, outcomes, k_groups, k_hyperparameters);
  EXPECT_NEAR(std::exp(torn.log_probabilities(rows, 0, 1)[0]), 0.5, 0.01);
}

}  // namespace
}  // namespace steptune::bayes
