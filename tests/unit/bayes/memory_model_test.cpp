// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/memory_model.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace steptune::bayes {
namespace {

// Trials of one knob in [0, 1] that need 2 GB to 32 GB on a device of 12 GB.
constexpr double k_limit_bytes = 12e9;

double needed_bytes(double knob) {
  return 2e9 * std::pow(16.0, knob);
}

const FeatureGroups k_memory_knob{{0}, 1};

Matrix row_of(double knob) {
  Matrix row(1);
  row.append_row(std::vector<double>{knob});
  return row;
}

double fits(const MemoryForecast& forecast, double knob) {
  return std::exp(forecast.log_probabilities(row_of(knob), 0, 1)[0]);
}

void try_out(MemoryModel& model, std::initializer_list<double> knobs) {
  for (const double knob : knobs) {
    const std::vector<double> features{knob};
    if (needed_bytes(knob) > k_limit_bytes) {
      model.add_out_of_memory(features);
    } else {
      model.add_peak(features, needed_bytes(knob));
    }
  }
}

TEST(MemoryModel, PeaksPredictWhatDoesNotFit) {
  MemoryModel model(k_memory_knob, 1);
  try_out(model, {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8});
  const auto forecast = model.forecast();
  ASSERT_TRUE(forecast);
  EXPECT_GT(fits(*forecast, 0.25), 0.95);
  EXPECT_GT(fits(*forecast, 0.55), 0.6) << "hardly larger than the largest that was seen to fit";
  EXPECT_LT(fits(*forecast, 0.78), 0.3) << "nearly as large as one that ran out of memory";
  EXPECT_LT(fits(*forecast, 1.0), 0.05);
}

TEST(MemoryModel, SaysNothingWithoutALimit) {
  MemoryModel model(k_memory_knob, 1);
  try_out(model, {0.0, 0.1, 0.2, 0.3, 0.4, 0.5});
  EXPECT_FALSE(model.forecast()) << "nothing ran out: the limit may be anywhere";
}

TEST(MemoryModel, SaysNothingWithTooFewPeaks) {
  MemoryModel model(k_memory_knob, 1);
  try_out(model, {0.0, 0.3, 0.9, 1.0});
  EXPECT_FALSE(model.forecast());
}

TEST(MemoryModel, PeaksThatDoNotExplainFailuresAreNotUsed) {
  MemoryModel model(k_memory_knob, 1);
  // For example the host's memory, which falls where the device runs out of memory.
  for (const double knob : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5})
    model.add_peak(std::vector<double>{knob}, 9e9 - 6e9 * knob);
  for (const double knob : {0.7, 0.8, 0.9})
    model.add_out_of_memory(std::vector<double>{knob});
  EXPECT_FALSE(model.forecast());
}

/// Terms of a law of two knobs in [0, 1]: a constant, and one term that grows with each knob.
std::vector<double> terms_of(std::span<const double> features) {
  return {1.0, 1.0 + 15.0 * features[0], 1.0 + 3.0 * features[1]};
}

double needed_by_law(std::span<const double> features) {
  const auto terms = terms_of(features);
  return 1e9 + 0.5e9 * terms[1] + 1e9 * terms[2];
}

const FeatureGroups k_two_knobs{{0, 1}, 2};

double fits(const MemoryForecast& forecast, double one, double two) {
  Matrix row(2);
  row.append_row(std::vector<double>{one, two});
  return std::exp(forecast.log_probabilities(row, 0, 1)[0]);
}

void try_out_law(MemoryModel& model, const std::vector<std::vector<double>>& trials) {
  for (const std::vector<double>& each : trials) {
    if (needed_by_law(each) > 8e9) {
      model.add_out_of_memory(each);
    } else {
      model.add_peak(each, needed_by_law(each));
    }
  }
}

TEST(MemoryModel, TermsPredictFarFromTheTrials) {
  const std::vector<std::vector<double>> trials = {
      {0.0, 0.0}, {0.1, 0.5}, {0.3, 0.1}, {0.2, 0.3}, {1.0, 1.0}};
  MemoryModel with_terms(k_two_knobs, 2, terms_of);
  try_out_law(with_terms, trials);
  const auto forecast = with_terms.forecast();
  ASSERT_TRUE(forecast);
  EXPECT_GT(fits(*forecast, 0.0, 0.2), 0.95);
  EXPECT_LT(fits(*forecast, 1.0, 0.9), 0.2) << "needs almost as much as one that ran out";
  MemoryModel without(k_two_knobs, 2);
  try_out_law(without, trials);
  EXPECT_FALSE(without.forecast()) << "five peaks are needed without terms";
}

TEST(MemoryModel, TheDevicesSizeReplacesAFailure) {
  MemoryModel model(k_two_knobs, 2, terms_of);
  try_out_law(model, {{0.0, 0.0}, {0.1, 0.5}, {0.3, 0.1}, {0.2, 0.3}});
  EXPECT_FALSE(model.forecast()) << "neither a failure nor the device's size shows a limit";
  model.set_limit(8e9);
  const auto forecast = model.forecast();
  ASSERT_TRUE(forecast);
  EXPECT_GT(fits(*forecast, 0.3, 0.3), 0.8) << "5.7 GB";
  EXPECT_LT(fits(*forecast, 1.0, 0.5), 0.2) << "11.5 GB";
}

}  // namespace
}  // namespace steptune::bayes
