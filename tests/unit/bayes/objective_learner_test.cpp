// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/objective_learner.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::bayes {
namespace {

const FeatureGroups k_five_features{{0, 1, 2, 3, 4}, 5};

std::vector<double> draw(Rng& rng) {
  std::vector<double> row(5);
  for (std::size_t f = 0; f < 4; ++f)
    row[f] = rng.uniform();
  return row;
}

TEST(ObjectiveLearner, WeightsAddUpToOneWithTheLikeliestFirst) {
  ObjectiveLearner learner(k_five_features, 4, true);
  Rng rng(17, "weights");
  for (int i = 0; i < 12; ++i) {
    const auto row = draw(rng);
    learner.add(row, 3.0 / (0.3 + row[0]) + 4.0 * row[1] * row[1] + row[2], 0.0);
    double sum = 0.0;
    double last = 1.0;
    for (const ObjectiveModel& model : learner.models(Matrix(5), 3)) {
      EXPECT_LE(model.weight(), last);
      last = model.weight();
      sum += last;
    }
    EXPECT_NEAR(sum, 1.0, 1e-9);
  }
}

TEST(ObjectiveLearner, EarlyStoppedTrialsAreCorrectedForTheirBias) {
  // Dimension 4 is the distance from a full trial; at a distance, values are a third too high.
  ObjectiveLearner learner(k_five_features, 4, true);
  Rng rng(14, "fidelity");
  const auto truth = [](const std::vector<double>& row) { return std::exp(2.0 * row[0]); };
  for (int i = 0; i < 60; ++i) {
    auto row = draw(rng);
    const bool partial = i % 3 != 0;
    row[4] = partial ? 0.5 : 0.0;
    learner.add(row, truth(row) * (partial ? 4.0 / 3.0 : 1.0), 0.0);
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
