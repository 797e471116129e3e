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
  EXPECT_LT(fits(*forecast, 0.78), 0.3) << "fits the same as one that ran out of memory";
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

TEST(MemoryModel, AFigureThatDoesNotExplainWhoRanOutIsNotBelieved) {
  MemoryModel model(k_memory_knob, 1);
  // The host's memory, say, which falls where the device's memory is exhausted.
  for (const double knob : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5})
    model.add_peak(std::vector<double>{knob}, 9e9 - 6e9 * knob);
  for (const double knob : {0.7, 0.8, 0.9})
    model.add_out_of_memory(std::vector<double>{knob});
  EXPECT_FALSE(model.forecast());
}

}  // namespace
}  // namespace steptune::bayes
