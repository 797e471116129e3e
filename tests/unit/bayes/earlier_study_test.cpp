// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/earlier_study.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "search/searchers/bayes/objective_learner.hpp"

namespace steptune::bayes {
namespace {

const FeatureGroups k_one_knob{{0}, 1};

std::vector<double> knob(double value) {
  return {value};
}

/// Seconds on the machine of the earlier study, with a minimum at 0.7.
double seconds_then(double x) {
  return 2.0 * std::exp(3.0 * std::abs(x - 0.7));
}

/// Seconds on the same machine, five times as fast.
double seconds_now(double x) {
  return 0.2 * seconds_then(x);
}

EarlierStudy study_of(const std::function<double(double)>& value) {
  EarlierStudy study(k_one_knob, 1, true);
  for (int i = 0; i <= 20; ++i)
    study.add(knob(i / 20.0), value(i / 20.0), 0.0);
  return study;
}

Learner own_trials(std::initializer_list<double> points) {
  Learner own(k_one_knob, 1, true);
  for (const double x : points)
    own.add(knob(x), seconds_now(x), 0.0);
  return own;
}

TEST(EarlierStudy, ShapeIsUsedOnAnotherMachine) {
  EarlierStudy study = study_of(seconds_then);
  Learner own = own_trials({0.0, 0.2, 1.0});
  const auto shifted = study.shifted(own, Matrix(1));
  ASSERT_TRUE(shifted);
  Matrix valley(1);
  valley.append_row(knob(0.7));
  const double expected = shifted->earlier->expectations(valley, 0, 1)[0];
  const OutputTransform& transform = shifted->remainder.transform;
  const Posterior rest = shifted->remainder.process.predict(valley);
  const double predicted = std::exp(expected + transform.backward(rest.means[0]));
  EXPECT_NEAR(predicted, seconds_now(0.7), 0.1 * seconds_now(0.7)) << "never measured here";
}

TEST(EarlierStudy, SaysNothingWithTooFewTrials) {
  EarlierStudy study(k_one_knob, 1, true);
  study.add(knob(0.1), 1.0, 0.0);
  Learner own = own_trials({0.0, 0.5});
  EXPECT_FALSE(study.shifted(own, Matrix(1)));
}

TEST(EarlierStudy, IsIgnoredIfOnlyItUsesLogarithms) {
  EarlierStudy study = study_of(seconds_then);
  Learner own(k_one_knob, 1, true);
  own.add(knob(0.5), -1.0, 0.0);  // a negative value has no logarithm
  EXPECT_FALSE(study.shifted(own, Matrix(1)));
}

/// Returns the weight that a learner with `own_trials` gives to models based on an earlier study.
double belief_in(const std::function<double(double)>& then, int own_trials) {
  ObjectiveLearner learner(k_one_knob, 1, true);
  for (int i = 0; i <= 20; ++i)
    learner.add_earlier(0, knob(i / 20.0), then(i / 20.0), 0.0);
  for (int i = 0; i < own_trials; ++i) {
    const double x = std::fmod(0.381966 * i, 1.0);
    learner.add(knob(x), seconds_now(x), 0.0);
  }
  double weight = 0.0;
  double sum = 0.0;
  for (const ObjectiveModel& model : learner.models(Matrix(1), 3)) {
    sum += model.weight();
    if (model.plain() == nullptr) weight += model.weight();
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
  return weight;
}

TEST(EarlierStudy, IsBelievedAsFarAsItPredicts) {
  EXPECT_GT(belief_in(seconds_then, 8), 0.9);
  // A machine with the opposite behaviour.
  EXPECT_LT(belief_in([](double x) { return seconds_then(std::fmod(x + 0.5, 1.0)); }, 10), 0.2);
}

}  // namespace
}  // namespace steptune::bayes
