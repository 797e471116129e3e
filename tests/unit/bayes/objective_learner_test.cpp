// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/objective_learner.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::bayes {
namespace {

const FeatureGroups k_groups{{0, 1, 2, 3, 4}, 5};

using Parts = std::map<std::string, double>;

std::vector<double> draw(Rng& rng) {
  std::vector<double> row(5);
  for (std::size_t f = 0; f < 4; ++f)
    row[f] = rng.uniform();
  return row;
}

/// Each part of the step depends on one or two parameters.
Parts parts_at(const std::vector<double>& row) {
  return {{"data", 3.0 / (0.3 + row[0])},
          {"compute", 1.0 + 4.0 * row[1] * row[1] + row[2]},
          {"communication", 2.0 * std::exp(-2.0 * row[3])}};
}

double total(Composition composition, const Parts& parts) {
  std::vector<double> seconds;
  for (const auto& [name, value] : parts)
    seconds.push_back(value);
  return compose(composition, seconds);
}

struct Fitted {
  ObjectiveModel model;
  double log_error = 0.0;  ///< root mean square, on new points
};

Fitted fit(std::size_t trials, bool report, Composition composition) {
  ObjectiveLearner learner(k_groups, 4, true);
  Rng rng(11, "composite", trials);
  for (std::size_t i = 0; i < trials; ++i) {
    const auto row = draw(rng);
    const Parts parts = parts_at(row);
    learner.add(row, 50.0 * total(composition, parts), 0.0, report ? parts : Parts{});
  }
  ObjectiveModel model = std::move(learner.models(Matrix(5), 1)[0]);
  Matrix probes(5);
  std::vector<double> truth;
  for (int i = 0; i < 200; ++i) {
    const auto row = draw(rng);
    probes.append_row(row);
    truth.push_back(50.0 * total(composition, parts_at(row)));
  }
  const Posterior posterior = model.predict(probes, 0, probes.rows());
  double squares = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    squares += std::pow(std::log(model.transform().backward(posterior.means[i]) / truth[i]), 2);
  }
  return {std::move(model), std::sqrt(squares / 200.0)};
}

TEST(Composition, MomentsAgreeWithSampling) {
  const std::vector<Normal> parts{{0.2, 0.09}, {0.0, 0.2}, {-1.0, 0.3}};
  for (const Composition composition : {Composition::sum, Composition::maximum}) {
    Rng rng(1, "moments");
    double sum = 0.0;
    double squares = 0.0;
    constexpr int k_draws = 200'000;
    for (int i = 0; i < k_draws; ++i) {
      std::vector<double> values;
      for (const Normal& part : parts) {
        values.push_back(std::exp(part.mean + std::sqrt(part.variance) * rng.normal()));
      }
      const double value = std::log(compose(composition, values));
      sum += value;
      squares += value * value;
    }
    const double mean = sum / k_draws;
    const Normal approximate = compose_logarithms(composition, parts);
    EXPECT_NEAR(approximate.mean, mean, 0.02);
    EXPECT_NEAR(approximate.variance, squares / k_draws - mean * mean, 0.02);
  }
}

TEST(Composition, IsExactForPartsThatAreKnown) {
  const std::vector<Normal> parts{{std::log(2.0), 1e-12}, {std::log(3.0), 1e-12}};
  EXPECT_NEAR(compose_logarithms(Composition::sum, parts).mean, std::log(5.0), 1e-9);
  EXPECT_NEAR(compose_logarithms(Composition::maximum, parts).mean, std::log(3.0), 1e-9);
}

TEST(ObjectiveLearner, PartsTeachMoreThanTheirSum) {
  const Fitted with = fit(14, true, Composition::sum);
  const Fitted without = fit(14, false, Composition::sum);
  EXPECT_EQ(with.model.composition(), Composition::sum);
  EXPECT_EQ(without.model.composition(), std::nullopt);
  EXPECT_LT(with.log_error, 0.7 * without.log_error);
}

TEST(ObjectiveLearner, RecognisesPartsThatOverlap) {
  const Fitted with = fit(20, true, Composition::maximum);
  EXPECT_EQ(with.model.composition(), Composition::maximum);
  EXPECT_LT(with.log_error, fit(20, false, Composition::maximum).log_error);
}

TEST(ObjectiveLearner, PartsThatExplainNothingAreLeftAlone) {
  ObjectiveLearner learner(k_groups, 4, true);
  Rng rng(12, "noise");
  for (int i = 0; i < 30; ++i) {
    const auto row = draw(rng);
    learner.add(row, 1.0 + row[0], 0.0,
                {{"a", std::exp(2.0 * rng.normal())}, {"b", std::exp(2.0 * rng.normal())}});
  }
  EXPECT_EQ(learner.models(Matrix(5), 1)[0].composition(), std::nullopt);
}

TEST(ObjectiveLearner, OneTrialWithoutPartsEndsTheirUse) {
  ObjectiveLearner learner(k_groups, 4, true);
  Rng rng(13, "missing");
  for (int i = 0; i < 20; ++i) {
    const auto row = draw(rng);
    const Parts parts = parts_at(row);
    learner.add(row, total(Composition::sum, parts), 0.0, i == 12 ? Parts{} : parts);
  }
  EXPECT_EQ(learner.models(Matrix(5), 1)[0].composition(), std::nullopt);
}

TEST(ObjectiveLearner, EarlyStoppedTrialsAreCorrectedForTheirBias) {
  // Dimension 4 is the distance from a full trial; there values are a third too high.
  ObjectiveLearner learner(k_groups, 4, true);
  Rng rng(14, "fidelity");
  const auto truth = [](const std::vector<double>& row) { return std::exp(2.0 * row[0]); };
  for (int i = 0; i < 60; ++i) {
    auto row = draw(rng);
    const bool partial = i % 3 != 0;
    row[4] = partial ? 0.5 : 0.0;
    learner.add(row, truth(row) * (partial ? 4.0 / 3.0 : 1.0), 0.0, {});
  }
  const ObjectiveModel model = std::move(learner.models(Matrix(5), 1)[0]);
  Matrix probes(5);
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back(draw(rng));
    probes.append_row(rows.back());
  }
  const Posterior posterior = model.predict(probes, 0, probes.rows());
  double bias = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bias += std::log(model.transform().backward(posterior.means[i]) / truth(rows[i])) / 50.0;
  }
  EXPECT_NEAR(bias, 0.0, 0.05);
}

}  // namespace
}  // namespace steptune::bayes
