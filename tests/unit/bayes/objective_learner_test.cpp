// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/objective_learner.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::bayes {
namespace {

const FeatureGroups k_groups{{0, 1, 2, 3, 4}, 5};
// Features over a factor of fifty each.
const std::vector<FeatureScale> k_scales(5, {1.0, 4.0, std::nullopt});

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

double total(Structure composition, const Parts& parts) {
  std::vector<double> seconds;
  for (const auto& [name, value] : parts)
    seconds.push_back(value);
  return compose({composition, 0, 0, {}}, seconds, false);
}

/// A trial of `unit_s` times the parts' composition.
void learn_one(ObjectiveLearner& learner, Rng& rng, double unit_s, Structure composition,
               bool report) {
  const auto row = draw(rng);
  const Parts parts = parts_at(row);
  learner.add(row, unit_s * total(composition, parts), 0.0, report ? parts : Parts{});
}

/// Root mean square over rows of `probes`.
double log_error_of(const ObjectiveModel& model, const Matrix& probes,
                    const std::vector<double>& truth) {
  const Posterior posterior = model.predict(probes, 0, probes.rows());
  double squares = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    squares += std::pow(std::log(model.transform().backward(posterior.means[i]) / truth[i]), 2);
  return std::sqrt(squares / static_cast<double>(truth.size()));
}

struct Fitted {
  ObjectiveModel model;
  double log_error = 0.0;  ///< root mean square, on new points
};

Fitted fit(std::size_t trials, bool report, Structure composition) {
  ObjectiveLearner learner(k_groups, k_scales, 4, true);
  Rng rng(11, "composite", trials);
  for (std::size_t i = 0; i < trials; ++i)
    learn_one(learner, rng, 50.0, composition, report);
  ObjectiveModel model = std::move(learner.models(Matrix(5), 1)[0]);
  Matrix probes(5);
  std::vector<double> truth;
  for (int i = 0; i < 200; ++i) {
    const auto row = draw(rng);
    probes.append_row(row);
    truth.push_back(50.0 * total(composition, parts_at(row)));
  }
  const double log_error = log_error_of(model, probes, truth);
  return {std::move(model), log_error};
}

std::optional<Structure> structure_of(const ObjectiveModel& model) {
  const auto composition = model.composition();
  return composition ? std::optional(composition->structure) : std::nullopt;
}

TEST(NormalDraws, HaveTheMomentsOfTheNormal) {
  const NormalDraws draws(16, 5);
  for (std::size_t j = 0; j < 5; ++j) {
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t k = 0; k < draws.draws(); ++k) {
      mean += draws.draw(k)[j] / 16.0;
      square += draws.draw(k)[j] * draws.draw(k)[j] / 16.0;
    }
    EXPECT_NEAR(mean, 0.0, 1e-9);
    EXPECT_NEAR(square, 1.0, 1e-9);
  }
}

TEST(Composition, WhatIsHiddenCountsOnlyWhereItTakesLonger) {
  const Composition composition{Structure::hidden, 0, 1, {{2, 0.0}}};
  EXPECT_DOUBLE_EQ(compose(composition, std::vector{2.0, 3.0, 0.5}, true), 3.5);
  EXPECT_DOUBLE_EQ(compose(composition, std::vector{4.0, 3.0, 0.5}, true), 4.5);
  EXPECT_DOUBLE_EQ(compose(composition, std::vector{4.0, 3.0, 0.5}, false), 7.5);
  EXPECT_FALSE(composition.hides(std::vector{1.0, 1.0, 0.0}));
  EXPECT_TRUE(composition.hides(std::vector{1.0, 1.0, 0.5}));
}

TEST(ObjectiveLearner, PartsTeachMoreThanTheirSum) {
  const Fitted with = fit(14, true, Structure::sum);
  const Fitted without = fit(14, false, Structure::sum);
  EXPECT_EQ(structure_of(with.model), Structure::sum);
  EXPECT_EQ(without.model.composition(), std::nullopt);
  EXPECT_LT(with.log_error, 0.7 * without.log_error);
}

TEST(ObjectiveLearner, RecognisesPartsThatOverlap) {
  const Fitted with = fit(20, true, Structure::maximum);
  EXPECT_EQ(structure_of(with.model), Structure::maximum);
  EXPECT_LT(with.log_error, fit(20, false, Structure::maximum).log_error);
}

TEST(ObjectiveLearner, PartsThatExplainNothingAreLeftAlone) {
  ObjectiveLearner learner(k_groups, k_scales, 4, true);
  Rng rng(12, "noise");
  for (int i = 0; i < 30; ++i) {
    const auto row = draw(rng);
    learner.add(row, 1.0 + row[0], 0.0,
                {{"a", std::exp(2.0 * rng.normal())}, {"b", std::exp(2.0 * rng.normal())}});
  }
  EXPECT_EQ(learner.models(Matrix(5), 1)[0].composition(), std::nullopt);
}

TEST(ObjectiveLearner, RecognisesAWaitThatHidesBehindCompute) {
  ObjectiveLearner learner(k_groups, k_scales, 4, true);
  Rng rng(15, "hidden");
  const auto loading = [](const std::vector<double>& row) { return 8.0 * std::exp(-3.0 * row[0]); };
  const auto compute = [](const std::vector<double>& row) { return std::exp(1.5 * row[1]); };
  const auto whole = [&](const std::vector<double>& row) {
    return std::max(loading(row), compute(row)) + 0.2 * std::exp(row[2]);
  };
  for (int i = 0; i < 24; ++i) {
    const auto row = draw(rng);
    learner.add(row, whole(row), 0.0,
                {{"data", std::max(0.0, loading(row) - compute(row))},
                 {"compute", compute(row)},
                 {"communication", 0.2 * std::exp(row[2])}});
  }
  const ObjectiveModel model = std::move(learner.models(Matrix(5), 1)[0]);
  EXPECT_EQ(structure_of(model), Structure::hidden);
  Matrix probes(5);
  std::vector<double> truth;
  for (int i = 0; i < 100; ++i) {
    const auto row = draw(rng);
    probes.append_row(row);
    truth.push_back(whole(row));
  }
  EXPECT_LT(log_error_of(model, probes, truth), 0.05);
}

TEST(ObjectiveLearner, APartThatIsNothingOnOneDeviceIsAPowerLawElsewhere) {
  ObjectiveLearner learner(k_groups, k_scales, 4, true);
  Rng rng(16, "nothing");
  const auto communication = [](const std::vector<double>& row) {
    return row[3] == 0.0 ? 0.0 : 4.0 * std::exp(-3.0 * row[1]);
  };
  for (int i = 0; i < 16; ++i) {
    auto row = draw(rng);
    row[3] = i % 2 == 0 ? 0.0 : 1.0;
    learner.add(row, 1.0 + communication(row), 0.0,
                {{"compute", 1.0}, {"communication", communication(row)}});
  }
  const ObjectiveModel model = std::move(learner.models(Matrix(5), 1)[0]);
  Matrix probes(5);
  probes.append_row(std::vector{0.5, 0.2, 0.5, 0.0, 0.0});
  probes.append_row(std::vector{0.5, 0.2, 0.5, 1.0, 0.0});
  const Posterior posterior = model.predict(probes, 0, 2);
  EXPECT_NEAR(model.transform().backward(posterior.means[0]), 1.0, 0.02);
  EXPECT_NEAR(model.transform().backward(posterior.means[1]), 1.0 + 4.0 * std::exp(-0.6), 0.1);
}

TEST(ObjectiveLearner, WeightsAddUpToOneWithTheLikeliestFirst) {
  ObjectiveLearner learner(k_groups, k_scales, 4, true);
  Rng rng(17, "weights");
  for (int i = 0; i < 12; ++i) {
    learn_one(learner, rng, 1.0, Structure::sum, true);
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

TEST(ObjectiveLearner, OneTrialWithoutPartsEndsTheirUse) {
  ObjectiveLearner learner(k_groups, k_scales, 4, true);
  Rng rng(13, "missing");
  for (int i = 0; i < 20; ++i)
    learn_one(learner, rng, 1.0, Structure::sum, i != 12);
  EXPECT_EQ(learner.models(Matrix(5), 1)[0].composition(), std::nullopt);
}

TEST(ObjectiveLearner, EarlyStoppedTrialsAreCorrectedForTheirBias) {
  // Dimension 4 is the distance from a full trial; there values are a third too high.
  ObjectiveLearner learner(k_groups, k_scales, 4, true);
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
