// SPDX-License-Identifier: Apache-2.0
// Properties of the path from baseline to best for random programs, over fixed seeds.
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "tests/unit/analysis/spaces.hpp"
#include "tuner/analysis/ablation.hpp"

namespace steptune {
namespace {

SearchSpace three_switches() {
  return space_of({text_parameter("a", {std::string("off"), std::string("on")}),
                   text_parameter("b", {std::string("off"), std::string("on")}),
                   text_parameter("c", {std::string("off"), std::string("on")})});
}

Configuration switched(unsigned bits) {
  Configuration configuration;
  for (unsigned i = 0; i < 3; ++i)
    configuration.set(std::string(1, static_cast<char>('a' + i)),
                      std::string(((bits >> i) & 1U) != 0 ? "on" : "off"));
  return configuration;
}

/// Returns all eight configurations, each with a different time.
TrialSamples all_measured(const SearchSpace& space, std::uint64_t seed,
                          std::vector<double>& log_times) {
  Rng rng(seed, "times");
  for (unsigned bits = 0; bits < 8; ++bits) {
    log_times.push_back(0.1 * bits);
    std::swap(log_times.back(), log_times[rng.below(bits + 1)]);
  }
  TrialSamples samples;
  for (unsigned bits = 0; bits < 8; ++bits)
    samples.samples.push_back({space.encode(switched(bits)), log_times[bits], 0.001});
  return samples;
}

TEST(AblationOfAny, ProgramHasStepsWhoseGainsMultiplyToTheWhole) {
  const SearchSpace space = three_switches();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<double> log_times;
    const TrialSamples samples = all_measured(space, seed, log_times);
    const AblationPath path =
        ablation_path(space, samples, nullptr, true, switched(0), switched(7));
    ASSERT_EQ(path.why_unknown, "") << seed;
    ASSERT_EQ(path.steps.size(), 3U) << seed;
    double product = 1.0;
    for (const AblationStep& step : path.steps) {
      EXPECT_TRUE(step.measured);
      EXPECT_EQ(step.changes.size(), 1U);
      EXPECT_LE(step.gain.low, step.gain.mean);
      EXPECT_GE(step.gain.high, step.gain.mean);
      product *= step.gain.mean;
    }
    EXPECT_NEAR(product, path.gain.mean, 1e-3 * path.gain.mean) << seed;
    EXPECT_NEAR(path.gain.mean, std::exp(log_times[0] - log_times[7]), 1e-3 * path.gain.mean);
    EXPECT_EQ(path.steps.back().configuration, switched(7)) << seed;
  }
}

TEST(AblationOfAny, ProgramTakesTheLargestGainAtEachStep) {
  const SearchSpace space = three_switches();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<double> log_times;
    const TrialSamples samples = all_measured(space, seed, log_times);
    const AblationPath path =
        ablation_path(space, samples, nullptr, true, switched(0), switched(7));
    unsigned at = 0;
    for (const AblationStep& step : path.steps) {
      unsigned best = 8;
      for (unsigned i = 0; i < 3; ++i) {
        const unsigned next = at | (1U << i);
        if (next != at && (best == 8 || log_times[next] < log_times[best])) best = next;
      }
      EXPECT_EQ(step.configuration, switched(best)) << seed;
      at = best;
    }
  }
}

TEST(AblationOfAny, ProgramThatHasNotChangedHasNoSteps) {
  const SearchSpace space = three_switches();
  std::vector<double> log_times;
  const TrialSamples samples = all_measured(space, 1, log_times);
  EXPECT_TRUE(ablation_path(space, samples, nullptr, true, switched(5), switched(5)).steps.empty());
}

}  // namespace
}  // namespace steptune
