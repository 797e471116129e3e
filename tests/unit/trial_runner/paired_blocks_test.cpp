// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/paired_blocks.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace steptune::live {
namespace {

/// A program whose machine drifts: the time of a step at each moment, by arm.
class DriftingProgram {
 public:
  DriftingProgram(double baseline_s, double trial_s) : baseline_s_(baseline_s), trial_s_(trial_s) {}

  /// Makes one step of the current arm. The machine slows down by a tenth every 100 steps.
  void step(PairedBlocks& blocks, bool warm_up = false) {
    const bool of_trial = blocks.arm() == Arm::trial;
    now_.step += 1.0;
    const double drift = std::pow(1.1, now_.step / 100.0);
    now_.seconds += (of_trial ? trial_s_ : baseline_s_) * drift;
    now_.samples = 32.0 * now_.step;
    now_.warm_up = warm_up || warm_up_left_-- > 0;
    // Loading takes a fifth of the baseline's steps, but a third of the trial's. Every third step
    // reports it.
    data_s_ += (of_trial ? trial_s_ / 3.0 : baseline_s_ / 5.0) * drift;
    now_.parts = {};
    if (static_cast<int>(now_.step) % 3 == 0) now_.parts = {{"data", data_s_}};
    if (blocks.add(now_)) warm_up_left_ = 2;
    for (Report& report : blocks.take())
      reports_.push_back(std::move(report));
  }
  [[nodiscard]] const std::vector<Report>& reports() const { return reports_; }
  /// Returns the seconds per sample by the reports' counters.
  [[nodiscard]] double seconds_per_sample() const {
    return *reports_.back().clock_s / *reports_.back().samples;
  }
  /// Returns the rate by the blocks' comparison.
  [[nodiscard]] ComparedRate compared() const {
    for (auto report = reports_.rbegin(); report != reports_.rend(); ++report) {
      if (report->compared) return *report->compared;
    }
    return {};
  }

 private:
  double baseline_s_;
  double trial_s_;
  int warm_up_left_ = 0;
  double data_s_ = 0.0;
  LiveStep now_;
  std::vector<Report> reports_;
};

/// Steps of `step_s` on average in both arms, alternately 0.5 and 1.5 times as long.
class UnevenProgram {
 public:
  explicit UnevenProgram(double step_s) : step_s_(step_s) {}
  /// Makes steps until the turn changes; returns their number.
  int finish_turn(PairedBlocks& blocks) {
    const Arm arm = blocks.arm();
    int steps = 0;
    for (; blocks.arm() == arm; ++steps) {
      now_.step += 1.0;
      now_.seconds += step_s_ * (steps % 2 == 0 ? 0.5 : 1.5);
      static_cast<void>(blocks.add(now_));
    }
    return steps;
  }

 private:
  double step_s_;
  LiveStep now_;
};

/// Measures the baseline without turns.
void measure_baseline(DriftingProgram& program, PairedBlocks& blocks) {
  blocks.begin_alone(Alone::baseline);
  for (int i = 0; i < 40; ++i)
    program.step(blocks);
  blocks.end_trial();
}

/// Makes steps until the turn changes; returns their number.
int finish_turn(DriftingProgram& program, PairedBlocks& blocks) {
  const Arm arm = blocks.arm();
  int steps = 0;
  for (; blocks.arm() == arm; ++steps)
    program.step(blocks);
  return steps;
}

TEST(PairedBlocks, TheBaselineIsMeasuredUnchanged) {
  PairedBlocks blocks;
  blocks.begin_alone(Alone::baseline);
  DriftingProgram program(0.05, 0.05);
  for (int i = 0; i < 30; ++i)
    program.step(blocks);
  ASSERT_FALSE(program.reports().empty());
  // The machine becomes 3 % slower in these steps.
  EXPECT_NEAR(program.seconds_per_sample(), 1.015 * 0.05 / 32.0, 0.015 * 0.05 / 32.0);
  EXPECT_FALSE(program.reports().back().compared) << "there is nothing to compare it with";
}

TEST(PairedBlocks, DriftCancelsBetweenNeighbours) {
  PairedBlocks blocks;
  blocks.begin_trial(0.05 / 32.0);
  DriftingProgram program(0.05, 0.03);
  for (int i = 0; i < 2000; ++i)
    program.step(blocks);
  // Meanwhile the machine has become seven times slower.
  EXPECT_NEAR(program.seconds_per_sample(), 0.03 / 32.0, 0.01 * 0.03 / 32.0);
  const ComparedRate compared = program.compared();
  EXPECT_NEAR(compared.seconds_per_sample, 0.03 / 32.0, 0.005 * 0.03 / 32.0);
  EXPECT_LT(compared.half_width_s, 0.01 * compared.seconds_per_sample);
}

TEST(PairedBlocks, TheTrialsPartsAreItsOwn) {
  PairedBlocks blocks;
  blocks.begin_trial(0.05 / 32.0);
  DriftingProgram program(0.05, 0.03);
  for (int i = 0; i < 200; ++i)
    program.step(blocks);
  ASSERT_FALSE(program.reports().empty());
  const Report& last = program.reports().back();
  ASSERT_TRUE(last.parts.contains("data"));
  EXPECT_NEAR(last.parts.at("data"), *last.clock_s / 3.0, 0.001 * *last.clock_s);
}

TEST(PairedBlocks, TurnsAlternateAndTheNextTrialBeginsAtOnce) {
  PairedBlocks blocks;
  blocks.begin_trial(0.05 / 32.0);
  EXPECT_EQ(blocks.arm(), Arm::baseline);
  DriftingProgram program(0.05, 0.05);
  finish_turn(program, blocks);
  finish_turn(program, blocks);
  EXPECT_TRUE(program.reports().empty()) << "the block after it is still to come";
  finish_turn(program, blocks);
  EXPECT_FALSE(program.reports().empty());
  blocks.end_trial();
  EXPECT_EQ(blocks.arm(), Arm::baseline);
  blocks.begin_trial(0.05 / 32.0);
  EXPECT_EQ(blocks.arm(), Arm::trial);
}

TEST(PairedBlocks, WarmUpIsLeftOut) {
  PairedBlocks blocks;
  blocks.begin_alone(Alone::baseline);
  DriftingProgram program(0.05, 0.05);
  for (int i = 0; i < 100; ++i)
    program.step(blocks, /*warm_up=*/true);
  EXPECT_TRUE(program.reports().empty());
}

TEST(PairedBlocks, AMuchSlowerTrialIsKnownAfterAFewSteps) {
  PairedBlocks blocks;
  blocks.begin_trial(0.05 / 32.0);
  DriftingProgram program(0.05, 1.5);
  finish_turn(program, blocks);
  EXPECT_LE(finish_turn(program, blocks), 5);
}

TEST(PairedBlocks, AMuchSlowerFirstTrialIsSeenAgainstTheBaseline) {
  PairedBlocks blocks;
  DriftingProgram program(0.05, 0.05);
  measure_baseline(program, blocks);
  blocks.begin_trial(0.05 / 32.0);
  ASSERT_EQ(blocks.arm(), Arm::trial);
  DriftingProgram slow(0.05, 1.5);
  EXPECT_LE(finish_turn(slow, blocks), 5);
}

TEST(PairedBlocks, AFarSlowerTrialIsKnownAfterOneBlock) {
  PairedBlocks blocks;
  DriftingProgram program(0.05, 0.05);
  measure_baseline(program, blocks);
  DriftingProgram slow(0.05, 1.5);
  blocks.begin_trial(0.05 / 32.0);
  for (int i = 0; i < 20 && slow.reports().empty(); ++i)
    slow.step(blocks);
  EXPECT_NEAR(slow.compared().seconds_per_sample, 1.5 / 32.0, 0.1 * 1.5 / 32.0);
  EXPECT_LT(slow.compared().half_width_s, 0.5 * slow.compared().seconds_per_sample);
}

TEST(PairedBlocks, OtherSettingsMeasuredAloneAreNotTheBaseline) {
  PairedBlocks blocks;
  blocks.begin_alone(Alone::other);
  DriftingProgram program(0.05, 0.01);
  for (int i = 0; i < 60; ++i)
    program.step(blocks);
  blocks.end_trial();
  blocks.begin_trial(0.05 / 32.0);
  EXPECT_EQ(blocks.arm(), Arm::baseline) << "the baseline has not been measured yet";
}

TEST(PairedBlocks, ASwitchThatWarmsUpForLongIsWorthALongerBlock) {
  PairedBlocks blocks;
  DriftingProgram program(0.05, 0.05);
  measure_baseline(program, blocks);
  blocks.begin_trial(0.05 / 32.0);
  for (int i = 0; i < 40; ++i)
    program.step(blocks, /*warm_up=*/true);
  EXPECT_GE(finish_turn(program, blocks), 40);
}

TEST(PairedBlocks, BlocksGrowUntilTheTrialIsKnown) {
  PairedBlocks blocks;
  UnevenProgram program(0.05);
  blocks.begin_trial(0.05);
  program.finish_turn(blocks);
  EXPECT_LE(program.finish_turn(blocks), 10);
  for (int turn = 0; turn < 12; ++turn)
    program.finish_turn(blocks);
  EXPECT_LE(program.finish_turn(blocks), 25) << "a turn of the baseline";
  const int steps = program.finish_turn(blocks);
  EXPECT_GE(steps, 20);
  EXPECT_LE(steps, 50) << "drift is to be the same in neighbours";
}

TEST(PairedBlocks, AProgramWithoutSamplesIsMeasuredByItsSteps) {
  PairedBlocks blocks;
  blocks.begin_trial(0.05);
  LiveStep now;
  std::vector<Report> reports;
  for (int i = 0; i < 200; ++i) {
    now.step += 1.0;
    now.seconds += blocks.arm() == Arm::trial ? 0.03 : 0.05;
    static_cast<void>(blocks.add(now));
    for (Report& report : blocks.take())
      reports.push_back(std::move(report));
  }
  ASSERT_FALSE(reports.empty());
  EXPECT_FALSE(reports.back().samples);
  EXPECT_NEAR(*reports.back().clock_s / *reports.back().step, 0.03, 1e-6);
  ASSERT_TRUE(reports.back().compared);
  EXPECT_NEAR(reports.back().compared->seconds_per_sample, 0.03, 1e-3) << "seconds per step";
}

}  // namespace
}  // namespace steptune::live
