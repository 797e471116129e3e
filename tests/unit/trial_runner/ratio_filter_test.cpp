// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/ratio_filter.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune::live {
namespace {

constexpr double k_step_s = 0.1;
constexpr double k_target = 0.05;

/// A machine with noisy steps, and further effects over time.
struct Machine {
  double noise = 0.07;
  std::function<double(double)> slower = [](double) { return 1.0; };  ///< factor at that second
  /// Steps of the trial between two that take `own_stall_s` longer.
  double own_stall_every_steps = 0.0;
  double own_stall_s = 0.0;
};

/// Trials in turns with the baseline, each until its ratio is known to +-5 %, as the loop ends
/// them.
class Turns {
 public:
  Turns(const Machine& machine, std::uint64_t seed) : machine_(machine), rng_(seed, "turns") {
    for (int i = 0; i < 8; ++i)
      block(1.0, 4, false);
  }

  struct Found {
    TurnRatio ratio;
    double steps = 0.0;  ///< of both arms, with warm-up after switches
  };
  [[nodiscard]] Found trial(double ratio) {
    filter_.begin_trial();
    steps_ = 0.0;
    since_stall_ = rng_.uniform() * machine_.own_stall_every_steps;
    for (int i = 0; i < 60; ++i) {
      block(ratio, 8, true);
      block(1.0, 4, false);
      const auto found = filter_.ratio();
      if (found && found->half_width <= k_target && i > 0) break;
    }
    return {filter_.ratio().value(), steps_};
  }

 private:
  void block(double ratio, int steps, bool of_trial) {
    for (int i = 0; i < 2; ++i)
      now_s_ += step_s(ratio, of_trial);
    const double begin_s = now_s_;
    for (int i = 0; i < steps; ++i)
      now_s_ += step_s(ratio, of_trial);
    steps_ += steps + 2;
    const double rate = (now_s_ - begin_s) / steps;
    const double middle_s = 0.5 * (begin_s + now_s_);
    if (of_trial) {
      filter_.add_trial(rate, steps, middle_s);
    } else {
      filter_.add_baseline(rate, steps, middle_s);
    }
  }
  double step_s(double ratio, bool of_trial) {
    double seconds = ratio * k_step_s * std::exp(machine_.noise * rng_.normal());
    seconds *= machine_.slower(now_s_);
    since_stall_ += of_trial ? 1.0 : 0.0;
    if (of_trial && machine_.own_stall_every_steps > 0.0 &&
        since_stall_ >= machine_.own_stall_every_steps) {
      since_stall_ -= machine_.own_stall_every_steps;
      seconds += machine_.own_stall_s;
    }
    return seconds;
  }

  Machine machine_;
  Rng rng_;
  RatioFilter filter_;
  double now_s_ = 0.0;
  double steps_ = 0.0;
  double since_stall_ = 0.0;
};

struct Outcome {
  double held = 0.0;   ///< share of intervals that contain the truth
  double steps = 0.0;  ///< mean of a trial
};

Outcome outcome_of(const Machine& machine, double ratio, double truth) {
  constexpr int k_studies = 10, k_trials = 6;
  Outcome outcome;
  for (int study = 0; study < k_studies; ++study) {
    Turns turns(machine, static_cast<std::uint64_t>(study));
    for (int i = 0; i < k_trials; ++i) {
      const auto found = turns.trial(ratio);
      const double off = std::abs(truth / found.ratio.value - 1.0);
      outcome.held += (off <= found.ratio.half_width ? 1.0 : 0.0) / (k_studies * k_trials);
      outcome.steps += found.steps / (k_studies * k_trials);
    }
  }
  return outcome;
}

TEST(RatioFilter, IntervalsCoverTheTruthForScatteredSteps) {
  const Outcome outcome = outcome_of({}, 0.8, 0.8);
  EXPECT_GE(outcome.held, 0.93);
  EXPECT_LE(outcome.steps, 60.0);
}

TEST(RatioFilter, FollowsAMachineThatGetsSlowerAndFasterAgain) {
  Machine machine;
  machine.slower = [](double at_s) { return 1.0 + 0.3 * std::sin(at_s / 10.0); };
  const Outcome outcome = outcome_of(machine, 1.2, 1.2);
  EXPECT_GE(outcome.held, 0.93);
  EXPECT_LE(outcome.steps, 150.0);
}

TEST(RatioFilter, DisturbancesOfSecondsAreFilteredOut) {
  Machine machine;
  machine.slower = [](double at_s) { return std::fmod(at_s, 9.7) < 2.0 ? 1.8 : 1.0; };
  const Outcome outcome = outcome_of(machine, 0.9, 0.9);
  EXPECT_GE(outcome.held, 0.93);
  EXPECT_LE(outcome.steps, 200.0);
}

TEST(RatioFilter, StallsThatOnlyTheTrialHasAreItsOwn) {
  Machine machine;
  machine.own_stall_every_steps = 16.0;
  machine.own_stall_s = 4.0 * k_step_s;
  // Half of the trial's blocks have a stall; the first blocks of some trials have none.
  EXPECT_GE(outcome_of(machine, 1.0, 1.25).held, 0.8);
}

TEST(RatioFilter, AScatteredTrialHasAWiderInterval) {
  RatioFilter filter;
  for (int i = 0; i < 20; ++i)
    filter.add_baseline(0.1 * (i % 2 == 0 ? 1.01 : 0.99), 4.0, 0.5 * i);
  filter.begin_trial();
  for (int i = 0; i < 6; ++i) {
    filter.add_trial(0.1 * (i % 2 == 0 ? 1.3 : 0.7), 8.0, 10.0 + 2.0 * i);
    filter.add_baseline(0.1, 4.0, 11.0 + 2.0 * i);
  }
  ASSERT_TRUE(filter.ratio());
  EXPECT_GT(filter.ratio()->half_width, 0.15);
}

/// Returns the half-width after one block of a trial with this deviation of steps, beside a
/// baseline with a deviation of 5 %.
double half_width_after_a_block(double deviation) {
  const double of_baseline = 0.05;
  RatioFilter filter;
  for (int i = 0; i < 20; ++i) {
    const double off = of_baseline / 2.0;
    filter.add_baseline(0.1 * (i % 2 == 0 ? 1.0 + off : 1.0 - off), 4.0, 0.5 * i,
                        {3.0 * of_baseline * of_baseline, 3.0});
  }
  filter.begin_trial();
  filter.add_trial(0.08, 8.0, 11.0, {7.0 * deviation * deviation, 7.0});
  filter.add_baseline(0.1, 4.0, 12.0, {3.0 * of_baseline * of_baseline, 3.0});
  return filter.ratio().value().half_width;
}

TEST(RatioFilter, TheFirstBlockGivesTheTrialsScatter) {
  EXPECT_LT(half_width_after_a_block(0.05), 0.1);
  EXPECT_GT(half_width_after_a_block(0.35), 0.25);
}

/// A slow first block of a trial may be a disturbance if the baseline has some.
TEST(RatioFilter, AFirstBlockMayBeADisturbance) {
  // Every eighth block of the baseline takes twice as long, and so does a trial's first one.
  RatioFilter filter;
  double at_s = 0.0;
  const auto add_baseline = [&](bool disturbed) {
    filter.add_baseline(disturbed ? 0.2 : 0.1, 4.0, at_s += 1.0);
  };
  for (int i = 1; i <= 32; ++i)
    add_baseline(i % 8 == 0);
  add_baseline(false);
  filter.begin_trial();
  filter.add_trial(0.18, 8.0, at_s += 1.0);
  add_baseline(false);
  EXPECT_LT(filter.ratio()->value * std::exp(-filter.ratio()->half_width), 0.9)
      << "the trial may be faster";
  filter.begin_trial();
  for (int i = 0; i < 3; ++i) {
    filter.add_trial(0.18, 8.0, at_s += 1.0);
    add_baseline(false);
  }
  EXPECT_NEAR(filter.ratio()->value, 1.8, 0.1);
  EXPECT_LT(filter.ratio()->half_width, 0.2) << "blocks that agree are no disturbances";
}

TEST(RatioFilter, UsesMeanRatesOfUnequalBlocks) {
  const double scatter = 0.25;
  RatioFilter filter;
  double now_s = 0.0;
  const auto add_baseline = [&](bool is_above) {
    filter.add_baseline(0.1 * std::exp(is_above ? scatter : -scatter), 4.0, now_s += 0.5);
  };
  for (int i = 0; i < 24; ++i)
    add_baseline(i % 2 == 1);
  filter.begin_trial();
  const double of_trial = scatter / std::sqrt(2.0);  // a block has twice as many steps
  for (int i = 0; i < 24; ++i) {
    filter.add_trial(0.1 * std::exp(i % 2 == 1 ? of_trial : -of_trial), 8.0, now_s += 0.5);
    add_baseline(i / 2 % 2 == 1);
  }
  const double truth = std::cosh(of_trial) / std::cosh(scatter);  // 0.985
  EXPECT_NEAR(filter.ratio().value().value, truth, 0.005);
}

TEST(RatioFilter, NeedsBaselineBlocksOnBothSidesOfTheTrial) {
  RatioFilter filter;
  EXPECT_FALSE(filter.level());
  filter.add_baseline(0.1, 4.0, 1.0);
  EXPECT_FALSE(filter.ratio());
  filter.begin_trial();
  EXPECT_FALSE(filter.ratio());
  filter.add_trial(0.2, 8.0, 2.0);
  EXPECT_FALSE(filter.ratio());
  filter.add_baseline(0.1, 4.0, 3.0);
  ASSERT_TRUE(filter.ratio());
  EXPECT_NEAR(filter.ratio()->value, 2.0, 1e-3);
  EXPECT_NEAR(filter.level().value(), 0.1, 1e-4);
  filter.begin_trial();
  EXPECT_FALSE(filter.ratio()) << "the ratio was that of another trial";
}

TEST(RatioFilter, WorksLateInALongStudy) {
  RatioFilter filter;
  double at_s = 0.0;
  filter.add_baseline(0.1, 4.0, at_s);
  for (int trial = 0; trial < 150; ++trial) {
    filter.begin_trial();
    for (int block = 0; block < 2; ++block) {
      filter.add_trial(trial % 2 == 0 ? 0.05 : 0.2, 8.0, at_s += 1.0);
      filter.add_baseline(0.1, 4.0, at_s += 1.0);
    }
    if (trial < 120) continue;  // more blocks than are kept
    EXPECT_NEAR(filter.ratio().value().value, trial % 2 == 0 ? 0.5 : 2.0, 1e-3) << trial;
    EXPECT_NEAR(filter.level().value(), 0.1, 1e-4) << trial;
  }
}

}  // namespace
}  // namespace steptune::live
